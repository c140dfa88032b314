//! Credentials and client addresses of HTTP requests.

use std::future::pending;
use std::net::{IpAddr, SocketAddr};
use std::sync::Once;
use std::time::Duration;

use axum::http::{Extensions, HeaderMap, header};
use roundtable_interface::ApiError;

use super::AppState;
use crate::authentication::ClientIdentity;
use crate::connections::OpenConnection;
use crate::tokens::invalid_token;

/// An alternative header for API keys, as AppSync clients send them.
const API_KEY: &str = "x-api-key";
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The reason that the credential of an open connection counts no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CredentialEnd {
    Expired,
    Revoked,
}

impl AppState {
    /// Waits until the client's credential expires or is revoked.
    pub(super) async fn credential_end(&self, identity: &ClientIdentity) -> CredentialEnd {
        let services = &self.process.services;
        let now = services.context.clock().now_seconds();
        let expired = async {
            match identity.expires_at {
                Some(at) => tokio::time::sleep(Duration::from_secs(at.saturating_sub(now))).await,
                None => pending().await,
            }
        };
        let revoked = async {
            match &identity.client.caller {
                Some(caller) => services.accounts().credential_revoked(&services.bus, caller).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = expired => CredentialEnd::Expired,
            () = revoked => CredentialEnd::Revoked,
        }
    }

    /// Fails if the client has been signed out, its key revoked, or its token has expired, since it
    /// authenticated.
    pub(super) async fn check_credential(&self, identity: &ClientIdentity) -> Result<(), ApiError> {
        let now = self.process.services.context.clock().now_seconds();
        if identity.expires_at.is_some_and(|at| at <= now) {
            return Err(invalid_token());
        }
        match &identity.client.caller {
            Some(caller) => Ok(self.process.services.accounts().check_credential(caller).await?),
            None => Ok(()),
        }
    }

    /// Authenticates the client of a request. The connection of a valid credential is kept for its account.
    pub(super) async fn authenticate(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<ClientIdentity, ApiError> {
        let credential = credential(headers)?;
        let identity = self
            .process
            .authenticator
            .authenticate(credential, self.client_address(headers, extensions))
            .await?;
        let connection = extensions.get::<OpenConnection>();
        if let (Some(caller), Some(connection)) = (&identity.client.caller, connection) {
            connection.sign_in(&caller.user_id);
        }
        Ok(identity)
    }

    /// The client's address: the connection's peer, or what the installation's own proxies report.
    pub(super) fn client_address(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Option<IpAddr> {
        let connection = extensions.get::<OpenConnection>();
        let peer = connection.map(|connection| connection.peer().ip());
        let proxies = self.process.settings.http.proxies;
        let address = forwarded_address(headers, proxies).unwrap_or_else(|UnusedHeader| {
            warn_unused_header(headers, proxies);
            None
        });
        address.or(peer)
    }
}

/// A proxy sent the header, but the setting finds no address in it.
#[derive(Debug, PartialEq, Eq)]
struct UnusedHeader;

/// Returns the address that the installation's own proxies report, `None` without the header.
fn forwarded_address(headers: &HeaderMap, proxies: usize) -> Result<Option<IpAddr>, UnusedHeader> {
    if !headers.contains_key(FORWARDED_FOR) {
        return Ok(None);
    }
    let entry = proxies.checked_sub(1).and_then(|place| forwarded_entry(headers, place));
    entry.and_then(parse_address).map(Some).ok_or(UnusedHeader)
}

/// Returns an entry of the header, counted from the right, where our own proxies append theirs. Clients
/// may have written anything to the left of those.
fn forwarded_entry(headers: &HeaderMap, place: usize) -> Option<&[u8]> {
    let lines = headers.get_all(FORWARDED_FOR).iter().rev();
    lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b',')).nth(place)
}

/// Parses an address as proxies write it: also with a port, and IPv6 in brackets.
fn parse_address(entry: &[u8]) -> Option<IpAddr> {
    let entry = str::from_utf8(entry).ok()?.trim();
    let bare = entry.strip_prefix('[').and_then(|entry| entry.strip_suffix(']')).unwrap_or(entry);
    bare.parse().ok().or_else(|| entry.parse().ok().map(|with_port: SocketAddr| with_port.ip()))
}

/// Warns once: the proxies write the same with every request.
fn warn_unused_header(headers: &HeaderMap, proxies: usize) {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        let header: Vec<_> = headers.get_all(FORWARDED_FOR).iter().collect();
        tracing::warn!(
            ?header,
            proxies,
            "the header x-forwarded-for has no address where `http.proxies` expects it: if the server is \
             behind proxies of your own, all clients count as one; set the number of these proxies"
        );
    });
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
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn forwarded(lines: &[&[u8]]) -> HeaderMap {
        let value = |line: &&[u8]| HeaderValue::from_bytes(line).unwrap();
        lines.iter().map(|line| (HeaderName::from_static(FORWARDED_FOR), value(line))).collect()
    }

    #[test]
    fn only_our_own_proxies_are_trusted() {
        let headers = forwarded(&[b"203.0.113.9, 198.51.100.2", b"192.0.2.3"]);
        let seen = |place| forwarded_entry(&headers, place).and_then(parse_address);
        assert_eq!(seen(0), Some([192, 0, 2, 3].into()));
        assert_eq!(seen(1), Some([198, 51, 100, 2].into()));
        assert_eq!(seen(3), None);
    }

    #[test]
    fn a_header_that_no_proxy_is_set_for_is_reported() {
        let headers = forwarded(&[b"192.0.2.3"]);
        let expected = [Err(UnusedHeader), Ok(Some([192, 0, 2, 3].into())), Err(UnusedHeader)];
        assert_eq!([0, 1, 2].map(|proxies| forwarded_address(&headers, proxies)), expected);
        assert_eq!(forwarded_address(&HeaderMap::new(), 0), Ok(None));
    }

    /// A client's own entry does not hide what the proxy appends to it.
    #[test]
    fn other_entries_may_be_anything() {
        let headers = forwarded(&[b"\xff\xfe, 192.0.2.3"]);
        assert_eq!(
            forwarded_entry(&headers, 0).and_then(parse_address),
            Some([192, 0, 2, 3].into())
        );
        assert_eq!(forwarded_entry(&headers, 1).and_then(parse_address), None);
    }

    #[test]
    fn an_address_may_have_a_port() {
        for (entry, expected) in [
            ("192.0.2.3", "192.0.2.3"),
            (" 192.0.2.3:8080\t", "192.0.2.3"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:443", "2001:db8::1"),
        ] {
            assert_eq!(parse_address(entry.as_bytes()), expected.parse().ok(), "{entry}");
        }
        for entry in ["", "unknown", "[192.0.2.3", "192.0.2.3:", "192.0.2.3:http"] {
            assert_eq!(parse_address(entry.as_bytes()), None, "{entry}");
        }
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
