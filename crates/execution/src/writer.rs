//! The buffer that an answer is written into.

use std::fmt::Display;
use std::io::Write as _;

use serde::Serialize;

/// Writes JSON values one after the other.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

/// Bytes of a text that are compared at once.
const BLOCK: usize = 32;

/// Returns whether a byte cannot be in a JSON text as it is.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "branches keep the compiler from comparing many at once"
)]
const fn needs_escape(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

impl Writer {
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes) }
    }

    pub(crate) const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// Writes bytes that are JSON already.
    pub fn raw(&mut self, json: &[u8]) {
        self.bytes.extend_from_slice(json);
    }

    pub fn null(&mut self) {
        self.raw(b"null");
    }

    /// Writes a value as serde does.
    pub fn value(&mut self, value: &(impl Serialize + ?Sized)) {
        let before = self.bytes.len();
        // Only values that are no JSON fail, such as maps with keys that are no texts.
        if serde_json::to_writer(&mut self.bytes, value).is_err() {
            self.bytes.truncate(before);
            self.null();
        }
    }

    /// Writes a text with quotes, and escapes where needed. Most texts need no escape, or few.
    pub fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        self.bytes.reserve(bytes.len() + 2);
        self.bytes.push(b'"');
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        for block in blocks {
            // Without a branch for each byte, so that the compiler compares all bytes at once.
            let escapes = block.iter().fold(false, |any, byte| any | needs_escape(*byte));
            if escapes {
                self.escaped(block);
            } else {
                self.bytes.extend_from_slice(block);
            }
        }
        self.escaped(rest);
        self.bytes.push(b'"');
    }

    /// Writes a part of a text, byte by byte.
    fn escaped(&mut self, text: &[u8]) {
        for byte in text {
            let short = match byte {
                b'"' | b'\\' => *byte,
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                0x08 => b'b',
                0x0c => b'f',
                0..0x20 => {
                    // Writing to memory does not fail.
                    let _ = write!(self.bytes, "\\u{byte:04x}");
                    continue;
                }
                _ => {
                    self.bytes.push(*byte);
                    continue;
                }
            };
            self.bytes.extend_from_slice(&[b'\\', short]);
        }
    }

    /// Writes the displayed form of a value as a text, usually without a copy.
    pub fn display(&mut self, value: &(impl Display + ?Sized)) {
        self.bytes.push(b'"');
        let start = self.bytes.len();
        // Writing to memory does not fail.
        let _ = write!(self.bytes, "{value}");
        if self.bytes.iter().skip(start).any(|byte| needs_escape(*byte)) {
            let text = String::from_utf8_lossy(self.bytes.get(start..).unwrap_or_default());
            let text = text.into_owned();
            self.bytes.truncate(start - 1);
            self.text(&text);
        } else {
            self.bytes.push(b'"');
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Writer)) -> String {
        let mut out = Writer::default();
        write(&mut out);
        String::from_utf8(out.into_bytes()).unwrap()
    }

    #[test]
    fn displayed_values_are_escaped_like_texts() {
        for text in ["", "plain", "\"quoted\"", "a\\b", "line\nbreak", "\u{1}", "ä€😀"] {
            let expected = serde_json::to_string(text).unwrap();
            assert_eq!(written(|out| out.display(text)), expected);
            assert_eq!(written(|out| out.text(text)), expected);
        }
        assert_eq!(written(|out| out.value(&f64::NAN)), "null");
    }

    #[test]
    fn texts_of_all_lengths_are_escaped_wherever_they_need_it() {
        let special: Vec<char> =
            (0..0x20).map(char::from).chain(['"', '\\', '/', '\u{7f}', 'ä', '😀']).collect();
        for length in 0..100 {
            for char in &special {
                for at in [0, length / 2, length] {
                    let mut text = "x".repeat(length);
                    text.insert(at, *char);
                    let expected = serde_json::to_string(&text).unwrap();
                    assert_eq!(written(|out| out.text(&text)), expected);
                }
            }
        }
    }
}
