//! The short form of cursors, for clients. It consists of the number of the [skeleton](skeletons),
//! the hash of the query, the variable parts of the keys, and the note. A cursor whose keys are not
//! those of the schema is packed in full.
//!
//! A packed cursor can be read only with the same [`PackingScope`].

use std::ops::Range;
use std::sync::atomic::AtomicUsize;

use data_encoding::BASE64URL_NOPAD;

use super::Cursor;
use super::packed_parts::{read_parts, write_parts};
use super::skeletons::SKELETONS;
use crate::UserId;

/// The first byte of a cursor that is packed in full.
const IN_FULL: u8 = 0xFF;
/// Skeletons from this one on have a second byte.
const SHORT_NUMBERS: usize = 0xF0;
const NUMBERS: usize = 0xF00;
/// The kinds of notes.
const TEXT_NOTE: u8 = 0;
const BASE64_NOTE: u8 = 1;

/// Room for most packed cursors and for the tag of an encryption.
const CAPACITY: usize = 64;

/// The list and the viewer that cursors are packed for. Ids in the list's name and that of the
/// viewer need not be repeated in a cursor.
#[derive(Debug)]
pub struct PackingScope {
    identity: String,
    /// The viewer, and the words of the list's name.
    seeds: Vec<Range<usize>>,
    /// The skeleton of the latest cursor.
    latest: AtomicUsize,
}

impl PackingScope {
    /// Returns the scope of a list, which is named by its kind and its owner: `posts of USER`.
    pub fn new(list: &str, viewer: Option<&UserId>) -> Self {
        let mut identity = format!("{:016x}\0{list}\0", SKELETONS.version());
        let list = identity.len() - list.len() - 1..identity.len() - 1;
        let mut seeds = Vec::with_capacity(8);
        if let Some(viewer) = viewer {
            let start = identity.len();
            identity.push_str(&viewer.to_string());
            seeds.push(start..identity.len());
        }
        let is_separator = |char: char| !char.is_alphanumeric() && !matches!(char, '-' | '_');
        let mut start = list.start;
        for piece in identity.get(list).unwrap_or_default().split_inclusive(is_separator) {
            let word = piece.trim_end_matches(is_separator);
            seeds.extend((!word.is_empty()).then(|| start..start + word.len()));
            start += piece.len();
        }
        Self { identity, seeds, latest: AtomicUsize::new(0) }
    }

    /// Returns a text that differs for every list, viewer and version of the schema. Encryption
    /// must authenticate it: read with another scope, a packed cursor is another cursor.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    pub(super) fn seed(&self, number: u8) -> Option<&str> {
        self.identity.get(self.seeds.get(usize::from(number))?.clone())
    }

    /// Returns the number of the first seed that equals a part.
    pub(super) fn number_of(&self, part: &str) -> Option<u8> {
        let mut seeds = self.seeds.iter().map(|seed| self.identity.get(seed.clone()));
        let number = seeds.position(|seed| seed == Some(part))?;
        u8::try_from(number).ok()
    }
}

impl Cursor {
    /// Returns the short form. It is the same for the same position, list and viewer.
    pub fn pack(&self, scope: &PackingScope) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(CAPACITY);
        let texts: Vec<&str> = self.texts().collect();
        let found = SKELETONS.find(&texts, &scope.latest);
        if let Some((number, parts)) = found.filter(|(number, _)| *number < NUMBERS) {
            write_number(number, &mut bytes);
            bytes.extend_from_slice(&self.query_hash.to_le_bytes());
            write_parts(scope, &parts, &mut bytes);
            write_note(self.note(), &mut bytes);
        } else {
            bytes.push(IN_FULL);
            bytes.extend_from_slice(&self.query_hash.to_le_bytes());
            self.write_texts(&mut bytes);
        }
        bytes
    }

    /// Reads the bytes that [`Self::pack`] returned in the same scope; `None` for any others.
    pub fn unpack(scope: &PackingScope, bytes: &[u8]) -> Option<Self> {
        // Several forms could mean the same cursor, of which only one is ever issued.
        Self::read_packed(scope, bytes).filter(|cursor| cursor.pack(scope) == bytes)
    }

    fn read_packed(scope: &PackingScope, mut bytes: &[u8]) -> Option<Self> {
        if let [IN_FULL, low, high, texts @ ..] = bytes {
            return Self::read_texts(u16::from_le_bytes([*low, *high]), texts);
        }
        let number = read_number(&mut bytes)?;
        let (query_hash, bytes) = bytes.split_first_chunk()?;
        let query_hash = u16::from_le_bytes(*query_hash);
        let skeleton = SKELETONS.get(number)?;
        let (parts, note) = read_parts(scope, skeleton.variables(), bytes)?;
        let note = if note.is_empty() { None } else { Some(read_note(note)?) };
        Self::of_texts(query_hash, skeleton.texts_with(&parts)?, note)
    }
}

fn write_number(number: usize, bytes: &mut Vec<u8>) {
    let [low, high, ..] = number.to_le_bytes();
    if number < SHORT_NUMBERS {
        bytes.push(low);
    } else {
        bytes.extend([0xF0 | high, low]);
    }
}

fn read_number(bytes: &mut &[u8]) -> Option<usize> {
    let first = *bytes.split_off_first()?;
    if usize::from(first) < SHORT_NUMBERS {
        return Some(first.into());
    }
    let low = *bytes.split_off_first()?;
    Some(u16::from_le_bytes([low, first & 0xF]).into())
}

/// Appends a note, which ends the cursor.
fn write_note(note: Option<&str>, bytes: &mut Vec<u8>) {
    let Some(note) = note else { return };
    if let Ok(decoded) = BASE64URL_NOPAD.decode(note.as_bytes()) {
        bytes.push(BASE64_NOTE);
        bytes.extend_from_slice(&decoded);
    } else {
        bytes.push(TEXT_NOTE);
        bytes.extend_from_slice(note.as_bytes());
    }
}

fn read_note(bytes: &[u8]) -> Option<String> {
    match bytes.split_first()? {
        (&BASE64_NOTE, note) => Some(BASE64URL_NOPAD.encode(note)),
        (&TEXT_NOTE, note) => String::from_utf8(note.to_vec()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_skeletons_read_back() {
        for number in 0..NUMBERS {
            let mut bytes = Vec::new();
            write_number(number, &mut bytes);
            assert_eq!(bytes.len(), if number < SHORT_NUMBERS { 1 } else { 2 });
            assert_eq!(read_number(&mut bytes.as_slice()), Some(number));
        }
    }
}
