//! The HTTP client: HTTP/1.1, with TLS on the cryptography that the whole binary uses, no redirects, and
//! no connection to where it may not go.

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

use crate::Misconfigured;
use crate::reach::{Reach, Resolver};

/// A client that sends whole bodies. It keeps connections open for a while.
pub(crate) type Client = legacy::Client<HttpsConnector<HttpConnector<Resolver>>, Full<Bytes>>;

/// Where messages can be sent to.
pub(crate) fn address(text: &str) -> Result<Uri, Misconfigured> {
    let address: Uri = text.parse().map_err(|_| Misconfigured::Address("is no URL"))?;
    if ![Some(&Scheme::HTTP), Some(&Scheme::HTTPS)].contains(&address.scheme()) {
        return Err(Misconfigured::Address("must begin with http:// or https://"));
    }
    match address.authority() {
        Some(authority) if authority.as_str().contains('@') => {
            Err(Misconfigured::Address("must have no name and password in it: sign instead"))
        }
        Some(authority) if !authority.host().is_empty() => Ok(address),
        _ => Err(Misconfigured::Address("has no host")),
    }
}

/// A client for this address, which connects to nothing out of reach.
pub(crate) fn client(address: &Uri, reach: Reach) -> Result<Client, Misconfigured> {
    // No name is looked up for these, so that nobody else would see them.
    if !reach.allows_literal(address) {
        return Err(Misconfigured::Address("is of this machine or its network"));
    }
    let tls = HttpsConnectorBuilder::new().with_tls_config(trust(address)?);
    let secure = address.scheme() == Some(&Scheme::HTTPS);
    let protocols = if secure { tls.https_only() } else { tls.https_or_http() };
    let mut http = HttpConnector::new_with_resolver(Resolver::new(reach));
    http.enforce_http(false);
    http.set_nodelay(true);
    let connector = protocols.enable_http1().wrap_connector(http);
    let mut client = legacy::Client::builder(TokioExecutor::new());
    Ok(client.pool_timer(TokioTimer::new()).build(connector))
}

/// Whom to believe who they are: nobody, where nobody is asked. A machine without certificates can still
/// call a neighbour.
fn trust(address: &Uri) -> Result<ClientConfig, Misconfigured> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Misconfigured::Certificates(error.to_string()))?;
    let config = if address.scheme() == Some(&Scheme::HTTPS) {
        let native = config.with_native_roots();
        native.map_err(|error| Misconfigured::Certificates(error.to_string()))?
    } else {
        config.with_root_certificates(RootCertStore::empty())
    };
    Ok(config.with_no_client_auth())
}
