//! Encrypted cursors: they reveal nothing, cannot be forged, and are valid only for the list and the viewer
//! they were issued for.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use data_encoding::BASE64URL_NOPAD;
use roundtable_domain::Caller;
use roundtable_model::Cursor;

use crate::ApiError;

/// The longest cursor: more than any key needs.
const BYTES_MAX: usize = 4 * 1024;

/// Encrypts and decrypts cursors with a key that all processes of an installation share.
pub struct CursorCipher(LessSafeKey);

impl CursorCipher {
    /// Returns `None` if the cipher rejects the key, which it never does for 32 bytes.
    pub fn new(key: &[u8; 32]) -> Option<Self> {
        UnboundKey::new(&AES_256_GCM_SIV, key).ok().map(|key| Self(LessSafeKey::new(key)))
    }

    /// Encrypts a cursor. The same position gives the same text, so clients may compare cursors:
    /// AES-GCM-SIV is safe with a constant nonce.
    pub(crate) fn seal(&self, scope: &CursorScope<'_>, cursor: &Cursor) -> String {
        let mut text = cursor.to_string().into_bytes();
        match self.0.seal_in_place_append_tag(
            nonce(),
            Aad::from(scope.associated_data()),
            &mut text,
        ) {
            Ok(()) => BASE64URL_NOPAD.encode(&text),
            // Only for texts of several gigabytes.
            Err(_) => String::new(),
        }
    }

    /// Decrypts a cursor that was issued for this list and this viewer.
    pub(crate) fn open(&self, scope: &CursorScope<'_>, text: &str) -> Result<Cursor, ApiError> {
        let open = || {
            // Decrypting takes time, and a document can pass one text to many fields.
            let text = Some(text).filter(|text| text.len() <= BYTES_MAX)?;
            let mut bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
            let data = Aad::from(scope.associated_data());
            let cursor = self.0.open_in_place(nonce(), data, &mut bytes).ok()?;
            std::str::from_utf8(cursor).ok()?.parse().ok()
        };
        open().ok_or_else(|| {
            ApiError::bad_request("the cursor is not valid for this list and this user")
        })
    }
}

impl fmt::Debug for CursorCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cursors(sealed)")
    }
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

/// The list and the viewer that a cursor is bound to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CursorScope<'a> {
    /// The kind of list and its owner: `posts of USER`.
    pub(crate) name: &'a str,
    pub(crate) viewer: Option<&'a Caller>,
}

impl CursorScope<'_> {
    fn associated_data(&self) -> Vec<u8> {
        let viewer = self.viewer.map(|caller| caller.user_id.to_string()).unwrap_or_default();
        [self.name, "\0", &viewer].concat().into_bytes()
    }
}
