//! Where a page ended, as opaque text. It says which question it belongs to; that nobody has forged
//! it, and whose it is, the API's signature says.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;
use roundtable_table::{Key, Position, Scalar};

use crate::part::stable_hash;
use crate::{At, Misfit};

/// The first byte of every cursor, so that a later form can be told apart.
const FORM: u8 = 1;

/// A place in the answer to one question.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The question, hashed.
    pub(crate) question: u64,
    /// The last item of the page.
    pub(crate) position: Position,
    /// What else the next page depends on.
    pub(crate) note: Option<String>,
}

impl Cursor {
    /// A place in the answer to a question that is not of the page: at the item with this key.
    pub fn at<E>(question: &str, item: At<E>) -> Self {
        let position = Position { base: item.into_key(), index: None };
        Self { question: stable_hash(question), position, note: None }
    }

    /// The key of that item; `None` when the cursor was made for another question.
    pub fn key_in(&self, question: &str) -> Option<&Key> {
        let is_its = self.question == stable_hash(question) && self.position.index.is_none();
        is_its.then_some(&self.position.base)
    }

    /// The cursor, with a note of what the next page depends on besides the place.
    pub fn noting(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    /// What was noted, if anything.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The bytes, without the encoding as text.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![FORM];
        bytes.extend_from_slice(&self.question.to_le_bytes());
        let keys = std::iter::once(&self.position.base).chain(&self.position.index);
        let parts = keys.flat_map(|key| std::iter::once(&key.partition).chain(&key.sort));
        let texts = parts.map(|part| part.as_text().unwrap_or_default());
        // Keys have two parts, so an odd text at the end is the note.
        for text in texts.chain(self.note.as_deref()) {
            bytes.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }

    /// Reads what [`Self::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (form, rest) = bytes.split_first()?;
        let (question, mut rest) = rest.split_first_chunk()?;
        if *form != FORM {
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
        let question = u64::from_le_bytes(*question);
        Some(Self { question, position: Position { base, index }, note })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64URL_NOPAD.encode(&self.to_bytes()))
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x} after {}", self.question, self.position.base)
    }
}

impl FromStr for Cursor {
    type Err = Misfit;

    fn from_str(text: &str) -> Result<Self, Misfit> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok();
        bytes
            .and_then(|bytes| Self::from_bytes(&bytes))
            .ok_or_else(|| Misfit::new("a cursor as it was given out", text))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_reads_back_as_it_was_given_out(
            question: u64,
            texts in prop::array::uniform4(".{0,300}"),
            indexed: bool,
            note in prop::option::of(".{0,300}"),
        ) {
            let [a, b, c, d] = texts;
            let index = indexed.then(|| Key::new(c, d));
            let position = Position { base: Key::new(a, b), index };
            let cursor = Cursor { question, position, note };
            prop_assert_eq!(cursor.to_string().parse::<Cursor>(), Ok(cursor));
        }

        #[test]
        fn nonsense_is_refused_without_a_panic(bytes: Vec<u8>, cut in 0..40usize) {
            // Whatever is accepted is what would be given out.
            if let Some(cursor) = Cursor::from_bytes(&bytes) {
                prop_assert_eq!(cursor.to_bytes(), bytes);
            }
            let position = Position { base: Key::new("USER#ana", "PROFILE#ana"), index: None };
            let whole = Cursor { question: 7, position, note: None }.to_bytes();
            let cut = whole.get(..whole.len().saturating_sub(cut + 1)).unwrap_or_default();
            prop_assert_eq!(Cursor::from_bytes(cut), None);
        }
    }
}
