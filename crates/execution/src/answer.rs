//! Answers as clients read them.

use std::time::Duration;

use serde::Serialize;

use crate::error::{ListedError, RequestError};
use crate::writer::Writer;

/// The answer to a request: JSON, and what the server needs to know about it.
#[derive(Clone, Debug)]
pub struct Answer {
    json: Vec<u8>,
    error_codes: Vec<&'static str>,
    is_refused: bool,
    times: AnswerTimes,
}

/// How long an answer took: to read what it shows, and to write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerTimes {
    pub reading: Duration,
    pub writing: Duration,
}

impl Answer {
    /// The answer to a request that was not executed: it has no `data`, which differs from null data.
    pub fn refused(error: &RequestError) -> Self {
        let mut out = Writer::default();
        out.raw(b"{\"errors\":");
        out.value(&[ListedError::of_request(error)]);
        out.raw(b"}");
        Self::of_error(out, error, true)
    }

    /// The answer to a request that was started and given up: it may have taken effect.
    pub fn abandoned(error: &RequestError) -> Self {
        let mut out = Writer::default();
        out.raw(b"{\"data\":null,\"errors\":");
        out.value(&[ListedError::of_request(error).with_unknown_outcome()]);
        out.raw(b"}");
        Self::of_error(out, error, false)
    }

    fn of_error(out: Writer, error: &RequestError, is_refused: bool) -> Self {
        let (json, error_codes) = (out.into_bytes(), vec![error.code]);
        Self { json, error_codes, is_refused, times: AnswerTimes::default() }
    }

    pub(crate) fn executed(mut out: Writer, errors: &[ListedError<'_>]) -> Self {
        if !errors.is_empty() {
            out.raw(b",\"errors\":");
            out.value(errors);
        }
        out.raw(b"}");
        let error_codes = errors.iter().map(ListedError::code).collect();
        let (json, times) = (out.into_bytes(), AnswerTimes::default());
        Self { json, error_codes, is_refused: false, times }
    }

    /// Adds an entry to the answer's extensions. It is called at most once.
    #[must_use]
    pub fn with_extension(mut self, name: &str, value: &impl Serialize) -> Self {
        // The answer is an object and not empty, so that it ends with a brace.
        self.json.pop();
        let mut out = Writer::from_bytes(self.json);
        out.raw(b",\"extensions\":{");
        out.text(name);
        out.raw(b":");
        out.value(value);
        out.raw(b"}}");
        Self { json: out.into_bytes(), ..self }
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
