//! Encrypted cursors: they reveal nothing, cannot be forged, and are valid only for the list and the viewer
//! they were issued for.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use data_encoding::BASE64URL_NOPAD;
use roundtable_model::{Cursor, PackingScope};

use crate::ApiError;

/// The longest cursor. Most have at most 80 characters; only those of popular posts, which name up to a
/// thousand posts, come near this.
const CHARACTERS_MAX: usize = 8 * 1024;

/// Encrypts and decrypts cursors with a key that all processes of an installation share.
pub struct CursorCipher(LessSafeKey);

impl CursorCipher {
    /// Returns `None` if the cipher rejects the key, which it never does for 32 bytes.
    pub fn new(key: &[u8; 32]) -> Option<Self> {
        UnboundKey::new(&AES_256_GCM_SIV, key).ok().map(|key| Self(LessSafeKey::new(key)))
    }

    /// Encrypts a cursor. The same position gives the same text, so clients may compare cursors:
    /// AES-GCM-SIV is safe with a constant nonce.
    pub fn seal(&self, scope: &PackingScope, cursor: &Cursor) -> SealedCursor {
        let mut bytes = cursor.pack(scope);
        let bound = Aad::from(scope.identity());
        match self.0.seal_in_place_append_tag(nonce(), bound, &mut bytes) {
            Ok(()) => SealedCursor(bytes),
            // Only for texts of several gigabytes.
            Err(_) => SealedCursor::default(),
        }
    }

    /// Decrypts a cursor that was issued for this list and this viewer.
    pub fn open(&self, scope: &PackingScope, text: &str) -> Result<Cursor, ApiError> {
        let open = || {
            // Decrypting takes time, and a document can pass one text to many fields.
            let text = Some(text).filter(|text| text.len() <= CHARACTERS_MAX)?;
            let mut bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
            let bound = Aad::from(scope.identity());
            let packed = self.0.open_in_place(nonce(), bound, &mut bytes).ok()?;
            Cursor::unpack(scope, packed)
        };
        open().ok_or_else(|| {
            ApiError::bad_request("the cursor is not valid for this list and this user")
        })
    }
}

impl fmt::Debug for CursorCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CursorCipher(sealed)")
    }
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

/// An encrypted cursor, which is displayed as base64.
#[derive(Debug, Default)]
pub struct SealedCursor(Vec<u8>);

impl fmt::Display for SealedCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        BASE64URL_NOPAD.encode_display(&self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use roundtable_domain::POPULAR_RUN_MAX;
    use roundtable_model::{Entity, UserId, samples};

    use super::*;

    #[test]
    fn a_cursor_is_short_and_valid_only_for_its_list_and_viewer() {
        let cipher = CursorCipher::new(&[7; 32]).unwrap();
        let (ana, bo): (UserId, UserId) = (samples::user().id, samples::follow().followee_id);
        let cursor = Cursor::at("home", samples::feed_item().key());
        let scope = PackingScope::new("home feed", Some(&ana));
        let sealed = cipher.seal(&scope, &cursor).to_string();
        assert!(sealed.len() <= 80, "{sealed}");
        let again = PackingScope::new("home feed", Some(&ana));
        assert_eq!(cipher.seal(&again, &cursor).to_string(), sealed);
        assert_eq!(cipher.open(&scope, &sealed).unwrap(), cursor);
        for (list, viewer) in [("home feed", &bo), ("another list", &ana)] {
            assert!(cipher.open(&PackingScope::new(list, Some(viewer)), &sealed).is_err());
        }
        assert!(cipher.open(&PackingScope::new("home feed", None), &sealed).is_err());
        assert!(CursorCipher::new(&[8; 32]).unwrap().open(&scope, &sealed).is_err());
    }

    #[test]
    fn the_longest_cursor_of_popular_posts_is_read() {
        let cipher = CursorCipher::new(&[7; 32]).unwrap();
        let scope = PackingScope::new("popular posts", None);
        let run = BASE64URL_NOPAD.encode(&vec![9; 5 * POPULAR_RUN_MAX]);
        let cursor = Cursor::at("popular", samples::post().key()).with_note(run);
        let sealed = cipher.seal(&scope, &cursor).to_string();
        assert_eq!(cipher.open(&scope, &sealed).unwrap(), cursor);
        let long = "A".repeat(CHARACTERS_MAX + 4);
        assert!(cipher.open(&scope, &long).is_err());
    }
}
