//! The buffer that an answer is written into.

use std::fmt::Display;
use std::io::Write as _;

use serde::Serialize;

/// Writes JSON values one after the other.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
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

    /// Writes a text with quotes, and escapes where needed.
    pub fn text(&mut self, text: &str) {
        self.value(text);
    }

    /// Writes the displayed form of a value as a text, usually without a copy.
    pub fn display(&mut self, value: &(impl Display + ?Sized)) {
        self.bytes.push(b'"');
        let start = self.bytes.len();
        // Writing to memory does not fail.
        let _ = write!(self.bytes, "{value}");
        let needs_escape = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
        if self.bytes.iter().skip(start).any(needs_escape) {
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
}
