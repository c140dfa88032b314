//! Cursors as clients hold them: sealed, so that they tell nothing, cannot be made up, and continue only
//! the list and the viewer they were given out for.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use data_encoding::BASE64URL_NOPAD;
use roundtable_domain::Caller;
use roundtable_model::Cursor;

use crate::Refused;

/// Seals and opens cursors with a key that all processes of an installation share.
pub struct Cursors(LessSafeKey);

impl Cursors {
    /// With this key; `None` if the cryptography refuses it, which it does not.
    pub fn new(key: &[u8; 32]) -> Option<Self> {
        UnboundKey::new(&AES_256_GCM_SIV, key).ok().map(|key| Self(LessSafeKey::new(key)))
    }

    /// A cursor for clients. The same place gives the same text: this cipher needs no nonce of its own
    /// for each, and clients may compare cursors.
    pub(crate) fn seal(&self, list: &List<'_>, cursor: &Cursor) -> String {
        let mut text = cursor.to_string().into_bytes();
        match self.0.seal_in_place_append_tag(nonce(), Aad::from(list.bound()), &mut text) {
            Ok(()) => BASE64URL_NOPAD.encode(&text),
            // Only for texts of gigabytes.
            Err(_) => String::new(),
        }
    }

    /// The cursor that was given out for this list and this viewer.
    pub(crate) fn open(&self, list: &List<'_>, text: &str) -> Result<Cursor, Refused> {
        let open = || {
            let mut bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
            let bound = Aad::from(list.bound());
            let cursor = self.0.open_in_place(nonce(), bound, &mut bytes).ok()?;
            std::str::from_utf8(cursor).ok()?.parse().ok()
        };
        open().ok_or_else(|| Refused::bad("this cursor was not given out for this list, to you"))
    }
}

impl fmt::Debug for Cursors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cursors(sealed)")
    }
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

/// A list as somebody sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<'a> {
    /// Its name and what it is a list of.
    pub(crate) name: &'a str,
    /// Who looks.
    pub(crate) viewer: Option<&'a Caller>,
}

impl List<'_> {
    fn bound(&self) -> Vec<u8> {
        let viewer = self.viewer.map(|caller| caller.user_id.to_string()).unwrap_or_default();
        [self.name, "\0", &viewer].concat().into_bytes()
    }
}
