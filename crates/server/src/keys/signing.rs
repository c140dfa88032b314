//! One key that signs access tokens, and what others check them with.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use data_encoding::BASE64;
use jsonwebtoken::jwk::{Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use roundtable_model::Time;

/// Characters of a line of PEM.
const LINE: usize = 64;

/// A key that signs.
pub(crate) struct SigningKey {
    /// What signatures call it.
    pub(crate) id: String,
    /// Since when it signs.
    pub(crate) since: Time,
    pub(crate) signs: EncodingKey,
    pub(crate) checks: DecodingKey,
    /// For everybody.
    pub(crate) public: Jwk,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A new key, as it is stored: PKCS #8.
pub(super) fn generate() -> Option<Vec<u8>> {
    let pair = KeyPair::generate(KeySize::Rsa2048).ok()?;
    let der: Pkcs8V1Der<'_> = pair.as_der().ok()?;
    Some(der.as_ref().to_vec())
}

impl SigningKey {
    /// A key that was stored.
    pub(super) fn read(id: String, since: Time, bytes: &[u8]) -> Option<Self> {
        let signs = EncodingKey::from_rsa_pem(pem(bytes).as_bytes()).ok()?;
        let mut public = Jwk::from_encoding_key(&signs, Algorithm::RS256).ok()?;
        public.common.key_id = Some(id.clone());
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        public.common.key_operations = Some(vec![KeyOperations::Verify]);
        let checks = DecodingKey::from_jwk(&public).ok()?;
        Some(Self { id, since, signs, checks, public })
    }
}

/// The only form that the library takes with what kind of key it is.
fn pem(bytes: &[u8]) -> String {
    let text = BASE64.encode(bytes);
    let mut pem = String::from("-----BEGIN PRIVATE KEY-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(LINE.min(rest.len()));
        pem.push_str(line);
        pem.push('\n');
        rest = after;
    }
    pem.push_str("-----END PRIVATE KEY-----\n");
    pem
}
