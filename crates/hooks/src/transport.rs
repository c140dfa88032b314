//! The HTTP transport: HTTP/1.1, TLS with the binary's own cryptography, no redirects, and no
//! connections outside the allowed targets.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Uri;
use hyper::http::uri::Scheme;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};

use crate::HookConfigError;
use crate::targets::{AllowedTargets, FilteringResolver};

pub(crate) type HttpTransport =
    legacy::Client<HttpsConnector<HttpConnector<FilteringResolver>>, Full<Bytes>>;

/// Parses an address that messages can be sent to.
pub(crate) fn parse_address(text: &str) -> Result<Uri, HookConfigError> {
    let address: Uri = text.parse().map_err(|_| HookConfigError::Address("is not a URL"))?;
    if ![Some(&Scheme::HTTP), Some(&Scheme::HTTPS)].contains(&address.scheme()) {
        return Err(HookConfigError::Address("must begin with http:// or https://"));
    }
    match address.authority() {
        Some(authority) if authority.as_str().contains('@') => Err(HookConfigError::Address(
            "must not contain a user name or password: messages are signed instead",
        )),
        Some(authority) if !authority.host().is_empty() => Ok(address),
        _ => Err(HookConfigError::Address("has no host")),
    }
}

pub(crate) fn open(
    address: &Uri,
    targets: AllowedTargets,
) -> Result<HttpTransport, HookConfigError> {
    // A literal address bypasses the resolver, so it is checked here.
    if !targets.allows_literal(address) {
        return Err(HookConfigError::Address("must not lead to this machine or its network"));
    }
    let tls = HttpsConnectorBuilder::new().with_tls_config(tls_config(address)?);
    let is_https = address.scheme() == Some(&Scheme::HTTPS);
    let protocols = if is_https { tls.https_only() } else { tls.https_or_http() };
    let mut http = HttpConnector::new_with_resolver(FilteringResolver::new(targets));
    http.enforce_http(false);
    http.set_nodelay(true);
    let connector = protocols.enable_http1().wrap_connector(http);
    let mut client = legacy::Client::builder(TokioExecutor::new());
    Ok(client.pool_timer(TokioTimer::new()).build(connector))
}

/// Trusted certificates: none for plain HTTP, so that a machine without any can still call a neighbour.
fn tls_config(address: &Uri) -> Result<ClientConfig, HookConfigError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| HookConfigError::Certificates(error.to_string()))?;
    let config = if address.scheme() == Some(&Scheme::HTTPS) {
        let native = config.with_native_roots();
        native.map_err(|error| HookConfigError::Certificates(error.to_string()))?
    } else {
        config.with_root_certificates(RootCertStore::empty())
    };
    Ok(config.with_no_client_auth())
}
