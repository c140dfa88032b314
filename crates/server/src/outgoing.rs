//! The client for what this process asks of others: the keys of an issuer, the changes that workers read.
//! HTTP/1.1, with TLS on the cryptography that the whole binary uses, and no redirects.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Empty;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};

use crate::configuration::Misconfigured;

/// A client that sends nothing but questions.
pub(crate) type Client = legacy::Client<HttpsConnector<HttpConnector>, Empty<Bytes>>;

/// A client for these addresses, which `key` configures.
pub(crate) fn client<'a>(
    key: &'static str,
    addresses: impl IntoIterator<Item = &'a str>,
) -> Result<Client, Misconfigured> {
    let wrong = |error: &dyn std::fmt::Display| Misconfigured::together(key, error.to_string());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&error))?;
    // A machine without certificates can still ask a neighbour.
    let tls = if addresses.into_iter().any(|address| address.starts_with("https://")) {
        tls.with_native_roots().map_err(|error| wrong(&error))?
    } else {
        tls.with_root_certificates(RootCertStore::empty())
    };
    let tls = tls.with_no_client_auth();
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    Ok(legacy::Client::builder(TokioExecutor::new()).build(connector.enable_http1().build()))
}
