//! The position at which a page ended. It names the query it belongs to. Jobs store it as text;
//! clients get a short [packed](packing) form, which the API encrypts and binds to a list and a
//! user.

mod packed_parts;
mod packing;
mod skeletons;

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;
use roundtable_table::{Key, Position, Scalar};

pub use self::packing::PackingScope;
use crate::part::stable_hash;
use crate::{EntityKey, InvalidValue};

/// The first byte of every stored cursor, so that a later format can be recognized.
const STORED_FORMAT: u8 = 1;

/// A position in the result of one query.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The hash of the query.
    pub(crate) query_hash: u16,
    pub(crate) position: Position,
    /// Additional state of the next page.
    pub(crate) note: Option<String>,
}

impl Cursor {
    /// Returns the position of an item in a query that is not an access pattern of the schema.
    pub fn at<E>(query: &str, item: EntityKey<E>) -> Self {
        let position = Position { base: item.into_key(), index: None };
        Self { query_hash: hash_query(query), position, note: None }
    }

    /// Returns the key of that item; `None` if the cursor was made for another query.
    pub fn key_for(&self, query: &str) -> Option<&Key> {
        let matches = self.query_hash == hash_query(query) && self.position.index.is_none();
        matches.then_some(&self.position.base)
    }

    /// Adds state that the next page depends on besides the position.
    pub fn with_note(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns the texts of the primary key, then those of the index key, if any.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let keys = std::iter::once(&self.position.base).chain(&self.position.index);
        let parts = keys.flat_map(|key| std::iter::once(&key.partition).chain(&key.sort));
        parts.map(|part| part.as_text().unwrap_or_default())
    }

    /// Appends all texts in full.
    fn write_texts(&self, bytes: &mut Vec<u8>) {
        // Keys have two parts, so an odd number of texts means that the last one is the note.
        for text in self.texts().chain(self.note.as_deref()) {
            bytes.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
    }

    /// Reads the bytes that [`Self::write_texts`] wrote.
    fn read_texts(query_hash: u16, mut bytes: &[u8]) -> Option<Self> {
        let mut texts = Vec::new();
        while !bytes.is_empty() {
            let (length, after) = bytes.split_first_chunk()?;
            let (text, after) = after.split_at_checked(u16::from_le_bytes(*length).into())?;
            texts.push(String::from_utf8(text.to_vec()).ok()?);
            bytes = after;
        }
        let note = if texts.len() % 2 == 1 { texts.pop() } else { None };
        Self::of_texts(query_hash, texts, note)
    }

    fn of_texts(query_hash: u16, texts: Vec<String>, note: Option<String>) -> Option<Self> {
        let mut texts = texts.into_iter().map(Scalar::S);
        let mut key = || Some(Key { partition: texts.next()?, sort: Some(texts.next()?) });
        let (base, index) = (key()?, key());
        texts.next().is_none().then_some(Self {
            query_hash,
            position: Position { base, index },
            note,
        })
    }
}

/// Returns the hash that binds cursors to a query. It is short because cursors are: a list that is
/// passed the cursor of another one is an error of the caller, and no attack, as cursors are
/// encrypted for their list.
pub(crate) fn hash_query(query: &str) -> u16 {
    let [low, high, ..] = stable_hash(query).to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// The form that jobs store. It does not depend on the schema, which may change before the job goes
/// on.
impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![STORED_FORMAT];
        // Earlier versions stored a longer hash, whose first two bytes are this one.
        bytes.extend_from_slice(&u64::from(self.query_hash).to_le_bytes());
        self.write_texts(&mut bytes);
        BASE64URL_NOPAD.encode_display(&bytes).fmt(f)
    }
}

impl FromStr for Cursor {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let read = || {
            let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
            let (form, rest) = bytes.split_first()?;
            let ([low, high, ..], texts) = rest.split_first_chunk::<8>()?;
            if *form != STORED_FORMAT {
                return None;
            }
            Self::read_texts(u16::from_le_bytes([*low, *high]), texts)
        };
        read().ok_or_else(|| InvalidValue::new("a stored cursor", text))
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x} after {}", self.query_hash, self.position.base)
    }
}

#[cfg(test)]
mod tests;
