//! Encryption of stored keys with the installation's secret.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use data_encoding::BASE64URL_NOPAD;
use roundtable_model::Secret;

/// The prefix of sealed texts, so that the format can change.
const VERSION: &str = "v1";
/// Separates this key from others derived from the same secret.
const CONTEXT: &str = "roundtable 2026-11 sealed keys";

pub(crate) struct Seal(LessSafeKey);

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal(…)")
    }
}

impl Seal {
    /// `None` if the cryptography rejects the key, which it does not.
    pub(crate) fn new(secret: &Secret) -> Option<Self> {
        let key = blake3::derive_key(CONTEXT, secret.expose().as_bytes());
        UnboundKey::new(&AES_256_GCM, &key).ok().map(|key| Self(LessSafeKey::new(key)))
    }

    /// Encrypts bytes for one context; they cannot be opened in another.
    pub(crate) fn seal(&self, context: &str, bytes: &[u8]) -> Option<Secret> {
        let mut nonce = [0; NONCE_LEN];
        aws_lc_rs::rand::fill(&mut nonce).ok()?;
        let mut sealed = bytes.to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        self.0.seal_in_place_append_tag(unique, Aad::from(context), &mut sealed).ok()?;
        let (nonce, sealed) = (BASE64URL_NOPAD.encode(&nonce), BASE64URL_NOPAD.encode(&sealed));
        Some(Secret::new(format!("{VERSION}.{nonce}.{sealed}")))
    }

    /// Decrypts bytes sealed for this context with the same secret.
    pub(crate) fn open(&self, context: &str, sealed: &Secret) -> Option<Vec<u8>> {
        let mut parts = sealed.expose().split('.');
        let (version, nonce, text) = (parts.next()?, parts.next()?, parts.next()?);
        if version != VERSION || parts.next().is_some() {
            return None;
        }
        let nonce = BASE64URL_NOPAD.decode(nonce.as_bytes()).ok()?;
        let nonce = Nonce::try_assume_unique_for_key(&nonce).ok()?;
        let mut bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        Some(self.0.open_in_place(nonce, Aad::from(context), &mut bytes).ok()?.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_secret_and_context_open_a_seal() {
        let seal = Seal::new(&Secret::new("one")).unwrap();
        let sealed = seal.seal("here", b"key").unwrap();
        assert_eq!(seal.open("here", &sealed).unwrap(), b"key");
        assert_ne!(seal.seal("here", b"key").unwrap(), sealed);
        assert!(seal.open("there", &sealed).is_none());
        assert!(Seal::new(&Secret::new("two")).unwrap().open("here", &sealed).is_none());
        for broken in ["", "v1", "v1.a.b", "v2.a.b", &sealed.expose()[..40]] {
            assert!(seal.open("here", &Secret::new(broken)).is_none(), "{broken}");
        }
    }
}
