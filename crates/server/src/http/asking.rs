//! Who asks, as a request shows it: an access token or a key in its headers, and where it comes from.

use std::net::{IpAddr, SocketAddr};

use axum::http::{Extensions, HeaderMap, header};
use roundtable_graphql::Refused;

use super::App;
use crate::identity::Known;
use crate::tokens::not_valid;

/// Programs may show their keys here, as clients of AppSync do.
const API_KEY: &str = "x-api-key";
/// What proxies write addresses into.
const FORWARDED: &str = "x-forwarded-for";

/// The other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

impl App {
    /// Whoever asks.
    pub(super) async fn known(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<Known, Refused> {
        let proof = proof(headers)?;
        self.process.identity.of(proof, self.address(headers, extensions)).await
    }

    /// Where a request comes from: the other end of the connection, or what the installation's own
    /// proxies say is behind it.
    pub(super) fn address(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<IpAddr> {
        let peer = extensions.get::<Peer>().map(|Peer(peer)| peer.ip());
        let proxies = self.process.settings.http.proxies;
        forwarded(headers, proxies).or(peer)
    }
}

/// The address that the last of so many proxies has seen.
fn forwarded(headers: &HeaderMap, proxies: usize) -> Option<IpAddr> {
    let back = proxies.checked_sub(1)?;
    let all = headers.get_all(FORWARDED).iter().filter_map(|header| header.to_str().ok());
    let addresses: Vec<&str> = all.flat_map(|header| header.split(',')).map(str::trim).collect();
    let wanted = addresses.len().checked_sub(1 + back)?;
    addresses.get(wanted)?.parse().ok()
}

/// What a request shows to prove who asks.
pub(super) fn proof(headers: &HeaderMap) -> Result<Option<&str>, Refused> {
    if let Some(shown) = headers.get(header::AUTHORIZATION) {
        let shown = shown.to_str().map_err(|_| not_valid())?;
        return bearer(shown).map(Some);
    }
    match headers.get(API_KEY) {
        Some(key) => key.to_str().map(Some).map_err(|_| not_valid()),
        None => Ok(None),
    }
}

/// What follows `Bearer`; a key may stand alone.
pub(super) fn bearer(shown: &str) -> Result<&str, Refused> {
    match shown.split_once(' ') {
        Some((scheme, proof)) if scheme.eq_ignore_ascii_case("bearer") => Ok(proof.trim()),
        None if !shown.is_empty() => Ok(shown),
        _ => Err(not_valid()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_proxies_are_believed() {
        let mut headers = HeaderMap::new();
        headers.insert(FORWARDED, "203.0.113.9, 198.51.100.2, 192.0.2.3".parse().unwrap());
        let seen = |proxies| forwarded(&headers, proxies).map(|address| address.to_string());
        assert_eq!(seen(0), None);
        assert_eq!(seen(1).as_deref(), Some("192.0.2.3"));
        assert_eq!(seen(2).as_deref(), Some("198.51.100.2"));
        assert_eq!(seen(4), None);
    }

    #[test]
    fn a_proof_comes_with_or_without_its_scheme() {
        assert_eq!(bearer("Bearer abc").unwrap(), "abc");
        assert_eq!(bearer("bearer  abc ").unwrap(), "abc");
        assert_eq!(bearer("abc").unwrap(), "abc");
        assert!(bearer("Basic abc").is_err());
        assert!(bearer("").is_err());
    }
}
