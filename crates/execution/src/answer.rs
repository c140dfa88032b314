//! Answers as clients read them.

use std::time::Duration;

use serde::Serialize;

use crate::error::{ErrorList, RequestError};
use crate::writer::Writer;

/// The answer to a request: JSON, and what the server needs to know about it.
#[derive(Clone, Debug)]
pub struct Answer {
    json: Vec<u8>,
    error_codes: Vec<&'static str>,
    is_refused: bool,
    has_extensions: bool,
    times: AnswerTimes,
}

/// From this length on, an answer has no unused room at all.
const LONG_BYTES_MIN: usize = 64 << 10;

/// The time that an answer took: to read what it shows, and to write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerTimes {
    pub reading: Duration,
    pub writing: Duration,
}

impl Answer {
    /// The answer to a request that was not executed: it has no `data`, which differs from null data.
    pub fn refused(error: &RequestError) -> Self {
        let mut out = Writer::default();
        out.raw(b"{");
        Self { is_refused: true, ..Self::with_errors(out, ErrorList::of_request(error, None)) }
    }

    /// The answer to a request that was started and given up: it may have taken effect.
    pub fn abandoned(error: &RequestError) -> Self {
        let mut out = Writer::default();
        out.raw(b"{\"data\":null,");
        Self::with_errors(out, ErrorList::of_request(error, Some("UNKNOWN")))
    }

    /// The answer whose data has been written.
    pub(crate) fn executed(mut out: Writer, errors: ErrorList) -> Self {
        if errors.bytes() > 0 {
            out.raw(b",");
        }
        Self::with_errors(out, errors)
    }

    fn with_errors(mut out: Writer, errors: ErrorList) -> Self {
        let (errors, error_codes) = errors.into_parts();
        if !errors.is_empty() {
            out.raw(b"\"errors\":[");
            out.raw(&errors);
            out.raw(b"]");
        }
        out.raw(b"}");
        let (json, times) = (fitted(out.into_bytes()), AnswerTimes::default());
        Self { json, error_codes, is_refused: false, has_extensions: false, times }
    }

    /// Adds an entry to the answer's extensions.
    #[must_use]
    pub fn with_extension(mut self, name: &str, value: &impl Serialize) -> Self {
        // The answer is an object and not empty, so that it ends with a brace, or with two after extensions.
        self.json.pop();
        if self.has_extensions {
            self.json.pop();
        }
        let mut out = Writer::from_bytes(self.json);
        let opening: &[u8] = if self.has_extensions { b"," } else { b",\"extensions\":{" };
        out.raw(opening);
        out.text(name);
        out.raw(b":");
        out.value(value);
        out.raw(b"}}");
        Self { json: fitted(out.into_bytes()), has_extensions: true, ..self }
    }

    pub(crate) fn with_times(self, times: AnswerTimes) -> Self {
        Self { times, ..self }
    }

    /// Returns how long the answer took; zero if nothing was executed.
    pub const fn times(&self) -> AnswerTimes {
        self.times
    }

    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// Returns the bytes of memory that the JSON takes, which may be more than its length.
    pub const fn buffer_bytes(&self) -> usize {
        self.json.capacity()
    }

    pub fn into_json(self) -> Vec<u8> {
        self.json
    }

    /// Returns the codes of all errors.
    pub fn error_codes(&self) -> &[&'static str] {
        &self.error_codes
    }

    /// Returns whether the request was refused before any of it was executed.
    pub const fn is_refused(&self) -> bool {
        self.is_refused
    }
}

/// Gives most of the unused room back: an answer may wait for its client, and one that became too long has
/// had room for megabytes. A copy, because an allocator may keep a block that it is asked to shrink. A page of
/// ordinary length is not copied.
fn fitted(json: Vec<u8>) -> Vec<u8> {
    let is_roomy = json.capacity() / 2 > json.len();
    let is_long = json.len() >= LONG_BYTES_MIN && json.capacity() > json.len();
    if is_roomy || is_long { json.as_slice().to_vec() } else { json }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_any_number_of_extensions() {
        let mut out = Writer::default();
        out.raw(b"{\"data\":{}");
        let answer = Answer::executed(out, ErrorList::default());
        let answer = answer.with_extension("one", &1).with_extension("two", &"2");
        let json = String::from_utf8_lossy(answer.json());
        assert_eq!(json, r#"{"data":{},"extensions":{"one":1,"two":"2"}}"#);
    }
}
