//! Addresses that only we can make: signed over everything they allow, and until when.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use roundtable_model::MediaKey;
use sha2::Sha256;

/// What an address allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) method: &'static str,
    pub(crate) key: MediaKey,
    /// Which copy; none of what is sent.
    pub(crate) copy: String,
    pub(crate) content_type: String,
    /// How long what is sent must be; 0 of what is fetched.
    pub(crate) bytes: u64,
    /// In seconds since 1970.
    pub(crate) expires: u64,
}

/// What addresses are signed with.
#[derive(Clone)]
pub(crate) struct SigningKey(Hmac<Sha256>);

impl SigningKey {
    pub(crate) fn new(secret: &[u8; 32]) -> Option<Self> {
        Hmac::new_from_slice(secret).map(Self).ok()
    }

    /// The query of the address that allows this.
    pub(crate) fn query(&self, grant: &Grant) -> String {
        let Grant { copy, content_type, bytes, expires, .. } = grant;
        let signature = BASE64URL_NOPAD.encode(&self.mac(grant).finalize().into_bytes());
        format!(
            "copy={copy}&type={content_type}&bytes={bytes}&expires={expires}&signature={signature}"
        )
    }

    /// What an address allows, if it is one of ours.
    pub(crate) fn read(&self, method: &'static str, key: &str, query: &str) -> Option<Grant> {
        let mut parts = query.split('&');
        let mut next = |name: &str| parts.next()?.strip_prefix(name)?.strip_prefix('=');
        let grant = Grant {
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
        // In the same time, however much of it is right.
        self.mac(&grant).verify_slice(&signature).ok().map(|()| grant)
    }

    fn mac(&self, grant: &Grant) -> Hmac<Sha256> {
        let Grant { method, key, copy, content_type, bytes, expires } = grant;
        let mut mac = self.0.clone();
        // None of them can hold the end of a line: one text is one grant.
        mac.update(
            format!("v1\n{method}\n{key}\n{copy}\n{content_type}\n{bytes}\n{expires}").as_bytes(),
        );
        mac
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
