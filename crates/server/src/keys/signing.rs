//! One key that encoding_key access tokens, and its public half.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use data_encoding::BASE64;
use jsonwebtoken::jwk::{Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use roundtable_model::Time;

const PEM_LINE_CHARS: usize = 64;

pub(crate) struct TokenSigningKey {
    /// The `kid` of signatures.
    pub(crate) id: String,
    pub(crate) since: Time,
    pub(crate) encoding_key: EncodingKey,
    pub(crate) decoding_key: DecodingKey,
    pub(crate) public: Jwk,
}

impl std::fmt::Debug for TokenSigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenSigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Generates a key in its stored form, PKCS #8.
pub(super) fn generate() -> Option<Vec<u8>> {
    let pair = KeyPair::generate(KeySize::Rsa2048).ok()?;
    let der: Pkcs8V1Der<'_> = pair.as_der().ok()?;
    Some(der.as_ref().to_vec())
}

impl TokenSigningKey {
    pub(super) fn read(id: String, since: Time, bytes: &[u8]) -> Option<Self> {
        let encoding_key = EncodingKey::from_rsa_pem(pem(bytes).as_bytes()).ok()?;
        let mut public = Jwk::from_encoding_key(&encoding_key, Algorithm::RS256).ok()?;
        public.common.key_id = Some(id.clone());
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        public.common.key_operations = Some(vec![KeyOperations::Verify]);
        let decoding_key = DecodingKey::from_jwk(&public).ok()?;
        Some(Self { id, since, encoding_key, decoding_key, public })
    }
}

/// PEM is the only form from which the library derives the key's type.
fn pem(bytes: &[u8]) -> String {
    let text = BASE64.encode(bytes);
    let mut pem = String::from("-----BEGIN PRIVATE KEY-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(PEM_LINE_CHARS.min(rest.len()));
        pem.push_str(line);
        pem.push('\n');
        rest = after;
    }
    pem.push_str("-----END PRIVATE KEY-----\n");
    pem
}
