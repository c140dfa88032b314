//! The position at which a page ended, as opaque text. It names the query it belongs to; the API
//! signs it against forgery and binds it to a user.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;
use roundtable_table::{Key, Position, Scalar};

use crate::part::stable_hash;
use crate::{EntityKey, InvalidValue};

/// The first byte of every cursor, so that a later format can be recognized.
const FORMAT: u8 = 1;

/// A position in the result of one query.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The hash of the query.
    pub(crate) query_hash: u64,
    pub(crate) position: Position,
    /// Additional state of the next page.
    pub(crate) note: Option<String>,
}

impl Cursor {
    /// Returns the position of an item in a query that is not an access pattern of the schema.
    pub fn at<E>(query: &str, item: EntityKey<E>) -> Self {
        let position = Position { base: item.into_key(), index: None };
        Self { query_hash: stable_hash(query), position, note: None }
    }

    /// Returns the key of that item; `None` if the cursor was made for another query.
    pub fn key_for(&self, query: &str) -> Option<&Key> {
        let matches = self.query_hash == stable_hash(query) && self.position.index.is_none();
        matches.then_some(&self.position.base)
    }

    /// Adds state that the next page depends on besides the position.
    pub fn with_note(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns the bytes, without the encoding as text.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![FORMAT];
        bytes.extend_from_slice(&self.query_hash.to_le_bytes());
        let keys = std::iter::once(&self.position.base).chain(&self.position.index);
        let parts = keys.flat_map(|key| std::iter::once(&key.partition).chain(&key.sort));
        let texts = parts.map(|part| part.as_text().unwrap_or_default());
        // Keys have two parts, so an odd number of texts means that the last one is the note.
        for text in texts.chain(self.note.as_deref()) {
            bytes.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }

    /// Reads the bytes that [`Self::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (form, rest) = bytes.split_first()?;
        let (query_hash, mut rest) = rest.split_first_chunk()?;
        if *form != FORMAT {
            return None;
        }
        let mut texts = Vec::new();
        while !rest.is_empty() {
            let (length, after) = rest.split_first_chunk()?;
            let (text, after) = after.split_at_checked(u16::from_le_bytes(*length).into())?;
            texts.push(String::from_utf8(text.to_vec()).ok()?);
            rest = after;
        }
        let note = if texts.len() % 2 == 1 { texts.pop() } else { None };
        let mut texts = texts.into_iter().map(Scalar::S);
        let mut key = || Some(Key { partition: texts.next()?, sort: Some(texts.next()?) });
        let (base, index) = (key()?, key());
        if texts.next().is_some() {
            return None;
        }
        let query_hash = u64::from_le_bytes(*query_hash);
        Some(Self { query_hash, position: Position { base, index }, note })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64URL_NOPAD.encode(&self.to_bytes()))
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x} after {}", self.query_hash, self.position.base)
    }
}

impl FromStr for Cursor {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok();
        bytes
            .and_then(|bytes| Self::from_bytes(&bytes))
            .ok_or_else(|| InvalidValue::new("a cursor returned by this API", text))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_reads_back(
            query_hash: u64,
            texts in prop::array::uniform4(".{0,300}"),
            indexed: bool,
            note in prop::option::of(".{0,300}"),
        ) {
            let [a, b, c, d] = texts;
            let index = indexed.then(|| Key::new(c, d));
            let position = Position { base: Key::new(a, b), index };
            let cursor = Cursor { query_hash, position, note };
            prop_assert_eq!(cursor.to_string().parse::<Cursor>(), Ok(cursor));
        }

        #[test]
        fn malformed_cursors_are_refused_without_a_panic(bytes: Vec<u8>, cut in 0..40usize) {
                   // An accepted cursor is exactly one that would be issued.
            if let Some(cursor) = Cursor::from_bytes(&bytes) {
                prop_assert_eq!(cursor.to_bytes(), bytes);
            }
            let position = Position { base: Key::new("USER#ana", "PROFILE#ana"), index: None };
            let whole = Cursor { query_hash: 7, position, note: None }.to_bytes();
            let cut = whole.get(..whole.len().saturating_sub(cut + 1)).unwrap_or_default();
            prop_assert_eq!(Cursor::from_bytes(cut), None);
        }
    }
}
