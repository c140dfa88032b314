//! Signed URLs: the signature covers everything a URL permits, and its expiry.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use roundtable_model::MediaKey;
use sha2::Sha256;

/// The permission in a signed URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlGrant {
    pub(crate) method: &'static str,
    pub(crate) key: MediaKey,
    /// Empty for uploads.
    pub(crate) copy: String,
    pub(crate) content_type: String,
    /// The exact length of an upload; 0 for downloads.
    pub(crate) bytes: u64,
    /// Seconds since 1970.
    pub(crate) expires: u64,
}

#[derive(Clone)]
pub(crate) struct UrlSigningKey(Hmac<Sha256>);

impl UrlSigningKey {
    pub(crate) fn new(secret: &[u8; 32]) -> Option<Self> {
        Hmac::new_from_slice(secret).map(Self).ok()
    }

    /// The query string of the URL.
    pub(crate) fn query(&self, grant: &UrlGrant) -> String {
        let UrlGrant { copy, content_type, bytes, expires, .. } = grant;
        let signature = BASE64URL_NOPAD.encode(&self.mac(grant).finalize().into_bytes());
        format!(
            "copy={copy}&type={content_type}&bytes={bytes}&expires={expires}&signature={signature}"
        )
    }

    /// Verifies the query string of a URL.
    pub(crate) fn read(&self, method: &'static str, key: &str, query: &str) -> Option<UrlGrant> {
        let mut parts = query.split('&');
        let mut next = |name: &str| parts.next()?.strip_prefix(name)?.strip_prefix('=');
        let grant = UrlGrant {
            method,
            key: key.parse().ok()?,
            copy: next("copy")?.to_owned(),
            content_type: next("type")?.to_owned(),
            bytes: next("bytes")?.parse().ok()?,
            expires: next("expires")?.parse().ok()?,
        };
        let signature = BASE64URL_NOPAD.decode(next("signature")?.as_bytes()).ok()?;
        if parts.next().is_some() {
            return None;
        }
        // In constant time.
        self.mac(&grant).verify_slice(&signature).ok().map(|()| grant)
    }

    fn mac(&self, grant: &UrlGrant) -> Hmac<Sha256> {
        let UrlGrant { method, key, copy, content_type, bytes, expires } = grant;
        let mut mac = self.0.clone();
        // No field can hold a line end, so the text is unambiguous.
        mac.update(
            format!("v1\n{method}\n{key}\n{copy}\n{content_type}\n{bytes}\n{expires}").as_bytes(),
        );
        mac
    }
}

impl fmt::Debug for UrlSigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
