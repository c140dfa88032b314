//! Documents that a request names by the SHA-256 of their text: Apollo's automatic persisted queries. A
//! client sends the hash alone, and the text only if the server does not know it.

use sha2::{Digest as _, Sha256};

use crate::JsonValue;
use crate::error::RequestError;
use crate::request::Request;

/// The version of the protocol.
const VERSION: i64 = 1;

/// The SHA-256 of a document's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DocumentHash([u8; 32]);

impl DocumentHash {
    pub(crate) fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Reads 64 hexadecimal digits.
    pub(crate) fn parse(hex: &str) -> Option<Self> {
        let digit = |byte: &u8| (*byte as char).to_digit(16).and_then(|it| u8::try_from(it).ok());
        let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
        let bytes = pairs.iter().map(|[high, low]| Some(digit(high)? << 4 | digit(low)?));
        let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
        let bytes = bytes.try_into().ok().filter(|_| rest.is_empty());
        bytes.map(Self)
    }

    pub(crate) fn to_hex(self) -> String {
        use std::fmt::Write as _;
        self.0.iter().fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to memory does not fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

impl Request {
    /// Returns the hash in `extensions.persistedQuery`, as the client wrote it.
    pub(crate) fn persisted_hash(&self) -> Result<Option<&str>, RequestError> {
        let persisted = match self.extensions.get("persistedQuery") {
            None | Some(JsonValue::Null) => return Ok(None),
            Some(persisted) => persisted,
        };
        if persisted.get("version").and_then(JsonValue::as_i64) != Some(VERSION) {
            return Err(RequestError::new(
                "extensions.persistedQuery.version: expected 1, the only version that this server knows",
            ));
        }
        let hash = persisted.get("sha256Hash").and_then(JsonValue::as_str);
        hash.map(Some).ok_or_else(malformed_hash)
    }
}

pub(crate) fn malformed_hash() -> RequestError {
    RequestError::new(
        "extensions.persistedQuery.sha256Hash: expected the SHA-256 of the document, in 64 hexadecimal digits",
    )
}

/// The answer to an unknown hash. Apollo's clients recognize the message, and send the text.
pub(crate) fn not_found() -> RequestError {
    RequestError {
        code: RequestError::PERSISTED_QUERY_NOT_FOUND,
        ..RequestError::new("PersistedQueryNotFound")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_hexadecimal() {
        let hash = DocumentHash::of("{ me { id } }");
        let hex = hash.to_hex();
        assert_eq!(hex.len(), 64);
        assert_eq!(DocumentHash::parse(&hex), Some(hash));
        assert_eq!(DocumentHash::parse(&hex.to_uppercase()), Some(hash));
        // The known digest of the empty text.
        assert!(DocumentHash::of("").to_hex().starts_with("e3b0c44298fc1c149afbf4c8996fb924"));
        let long = format!("{hex}00");
        for wrong in ["", "e3", &hex[1..], &hex[2..], &long, &"zz".repeat(32), &"é".repeat(32)] {
            assert_eq!(DocumentHash::parse(wrong), None, "{wrong}");
        }
    }
}
