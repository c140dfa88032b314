//! Validation of endpoint URLs: `https`, a host, and no credentials.

use std::net::{IpAddr, Ipv6Addr};

use roundtable_model::InvalidValue;

use super::public_address::is_public;
use crate::ServiceError;
use crate::limits::{URL_CHARS_MAX, check_text};

const FIELD: &str = "url";

/// Refuses invalid endpoint URLs. `local` also allows this machine and its network, and plain HTTP
/// to them, for testing.
pub(super) fn check(url: &str, local: bool) -> Result<(), ServiceError> {
    check_text(FIELD, url, URL_CHARS_MAX)?;
    let bad = |found: &'static str| {
        ServiceError::bad_input(
            FIELD,
            InvalidValue::new("a URL such as https://example.com/events", found),
        )
    };
    if !url.chars().all(|char| char.is_ascii_graphic()) {
        return Err(bad("a URL with invalid characters"));
    }
    let (rest, secure) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(rest), _) => (rest, true),
        (_, Some(rest)) => (rest, false),
        _ => return Err(bad("a URL that does not begin with https://")),
    };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if rest.contains('#') {
        return Err(bad("a URL with a fragment"));
    }
    if authority.contains('@') {
        return Err(bad("a URL with credentials"));
    }
    let host = host(authority).ok_or_else(|| bad("a URL without a valid host"))?;
    let near = is_local(host);
    if near && !local {
        return Err(bad("a URL of this machine or its network"));
    }
    if !secure && !near {
        return Err(bad("a URL that does not begin with https://"));
    }
    Ok(())
}

/// The host of an authority; `None` if the host is missing or the port is invalid.
fn host(authority: &str) -> Option<&str> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        host.parse::<Ipv6Addr>().ok()?;
        (host, after.strip_prefix(':').or_else(|| after.is_empty().then_some("443"))?)
    } else {
        authority.split_once(':').unwrap_or((authority, "443"))
    };
    let named = |char: char| char.is_ascii_alphanumeric() || ".-_:".contains(char);
    let fits = !host.is_empty() && host.chars().all(named);
    // `u16::parse` accepts a leading plus; a port must not have one.
    let is_port = port.chars().all(|char| char.is_ascii_digit())
        && port.parse::<u16>().is_ok_and(|port| port > 0);
    (fits && is_port).then_some(host)
}

/// Returns whether a host is written as an address of this machine or its network, or a reserved
/// one. The sender checks the addresses that host names resolve to.
fn is_local(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return true;
    }
    if let Ok(address) = name.parse::<IpAddr>() {
        return !is_public(address);
    }
    // Many resolvers accept numbers that are not standard addresses: 127.1, 2130706433.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_hex = |digits: &str| digits.chars().all(|char| char.is_ascii_hexdigit());
    last.chars().all(|char| char.is_ascii_digit()) || last.strip_prefix("0x").is_some_and(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(url: &str, local: bool) -> bool {
        check(url, local).is_ok()
    }

    #[test]
    fn only_https_urls_of_other_hosts_pass() {
        for url in
            ["https://example.com", "https://example.com:8443/a?b=c", "https://[2606:4700::1]:443/"]
        {
            assert!(passes(url, false) && passes(url, true), "{url}");
        }
        for url in [
            "http://example.com/",
            "ftp://example.com/",
            "example.com",
            "https://",
            "https:///path",
            "https://:443/",
            "https://example.com:0/",
            "https://example.com:99999/",
            "https://example.com:+443/",
            "https://example.com:/",
            "https://[2606:4700::1]:+443/",
            "https://ana:secret@example.com/",
            "https://example.com/#part",
            "https://exa mple.com/",
            "https://example.com/\u{e9}",
            "https://[::1",
            "https://[example.com]/",
        ] {
            assert!(!passes(url, true) && !passes(url, false), "{url}");
        }
        assert!(!passes(&format!("https://example.com/{}", "a".repeat(URL_CHARS_MAX)), false));
    }

    #[test]
    fn local_urls_pass_only_if_allowed() {
        for url in [
            "http://127.0.0.1:8080/",
            "http://localhost/",
            "https://LOCALHOST./",
            "https://10.1.2.3/",
            "https://169.254.169.254/latest",
            "https://[::1]:80/",
            "https://[::ffff:127.0.0.1]/",
            "https://[fe80::1]/",
            "https://0.0.0.0/",
            "https://100.64.0.1/",
            "https://224.0.0.1/",
            "https://[fd00::1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[2001:db8::1]/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f000001/",
        ] {
            assert!(!passes(url, false), "{url}");
            assert!(passes(url, true), "{url}");
        }
    }
}
