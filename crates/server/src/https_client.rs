//! An HTTPS client for an issuer's keys, the workers' changes and `xray`. HTTP/1.1, TLS with the
//! binary's own cryptography, no redirects.

use std::sync::Arc;

use hyper::body::Body;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};

pub type HttpsClient<B> = legacy::Client<HttpsConnector<HttpConnector>, B>;

pub fn https_client<'a, B: Body<Data: Send> + Send>(
    addresses: impl IntoIterator<Item = &'a str>,
) -> Result<HttpsClient<B>, String> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    // A machine without root certificates can still call plain HTTP addresses.
    let tls = if addresses.into_iter().any(|address| address.starts_with("https://")) {
        tls.with_native_roots().map_err(|error| error.to_string())?
    } else {
        tls.with_root_certificates(RootCertStore::empty())
    };
    let tls = tls.with_no_client_auth();
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    Ok(legacy::Client::builder(TokioExecutor::new()).build(connector.enable_http1().build()))
}
