//! The client for what this process asks of others: the keys of an issuer, the changes that workers read,
//! what a query costs. HTTP/1.1, with TLS on the cryptography that the whole binary uses, and no redirects.

use std::sync::Arc;

use hyper::body::Body;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};

/// A client that sends bodies of this kind.
pub type Client<B> = legacy::Client<HttpsConnector<HttpConnector>, B>;

/// A client for these addresses, or why there is none.
pub fn client<'a, B: Body<Data: Send> + Send>(
    addresses: impl IntoIterator<Item = &'a str>,
) -> Result<Client<B>, String> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    // A machine without certificates can still ask a neighbour.
    let tls = if addresses.into_iter().any(|address| address.starts_with("https://")) {
        tls.with_native_roots().map_err(|error| error.to_string())?
    } else {
        tls.with_root_certificates(RootCertStore::empty())
    };
    let tls = tls.with_no_client_auth();
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    Ok(legacy::Client::builder(TokioExecutor::new()).build(connector.enable_http1().build()))
}
