//! Credentials and client addresses of HTTP requests.

use std::net::{IpAddr, SocketAddr};

use axum::http::{Extensions, HeaderMap, header};
use roundtable_interface::ApiError;

use super::AppState;
use crate::authentication::ClientIdentity;
use crate::tokens::invalid_token;

/// An alternative header for API keys, as AppSync clients send them.
const API_KEY: &str = "x-api-key";
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address of the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerAddress(pub(crate) SocketAddr);

impl AppState {
    pub(super) async fn authenticate(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<ClientIdentity, ApiError> {
        let credential = credential(headers)?;
        self.process
            .authenticator
            .authenticate(credential, self.client_address(headers, extensions))
            .await
    }

    /// The client's address: the connection's peer, or what the installation's own proxies report.
    pub(super) fn client_address(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Option<IpAddr> {
        let peer = extensions.get::<PeerAddress>().map(|PeerAddress(peer)| peer.ip());
        let proxies = self.process.settings.http.proxies;
        forwarded_address(headers, proxies).or(peer)
    }
}

/// The address seen by the outermost of our proxies.
fn forwarded_address(headers: &HeaderMap, proxies: usize) -> Option<IpAddr> {
    let skipped = proxies.checked_sub(1)?;
    let values = headers.get_all(FORWARDED_FOR).iter().filter_map(|header| header.to_str().ok());
    let addresses: Vec<&str> = values.flat_map(|header| header.split(',')).map(str::trim).collect();
    let index = addresses.len().checked_sub(1 + skipped)?;
    addresses.get(index)?.parse().ok()
}

/// The access token or API key of a request.
pub(super) fn credential(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let value = value.to_str().map_err(|_| invalid_token())?;
        return bearer(value).map(Some);
    }
    match headers.get(API_KEY) {
        Some(key) => key.to_str().map(Some).map_err(|_| invalid_token()),
        None => Ok(None),
    }
}

/// Strips `Bearer`; a key may come without a scheme.
pub(super) fn bearer(value: &str) -> Result<&str, ApiError> {
    match value.split_once(' ') {
        Some((scheme, credential)) if scheme.eq_ignore_ascii_case("bearer") => {
            Ok(credential.trim())
        }
        None if !value.is_empty() => Ok(value),
        _ => Err(invalid_token()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_proxies_are_trusted() {
        let mut headers = HeaderMap::new();
        headers.insert(FORWARDED_FOR, "203.0.113.9, 198.51.100.2, 192.0.2.3".parse().unwrap());
        let seen =
            |proxies| forwarded_address(&headers, proxies).map(|address| address.to_string());
        assert_eq!(seen(0), None);
        assert_eq!(seen(1).as_deref(), Some("192.0.2.3"));
        assert_eq!(seen(2).as_deref(), Some("198.51.100.2"));
        assert_eq!(seen(4), None);
    }

    #[test]
    fn a_credential_may_come_without_its_scheme() {
        assert_eq!(bearer("Bearer abc").unwrap(), "abc");
        assert_eq!(bearer("bearer  abc ").unwrap(), "abc");
        assert_eq!(bearer("abc").unwrap(), "abc");
        assert!(bearer("Basic abc").is_err());
        assert!(bearer("").is_err());
    }
}
