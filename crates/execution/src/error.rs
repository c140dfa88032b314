//! Errors of fields and requests, as clients read them.

use apollo_compiler::validation::DiagnosticList;
use serde::Serialize;

use crate::writer::Writer;

/// The error of one field. The other fields are answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    pub code: &'static str,
    pub message: String,
}

/// The error of a request that was not executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError {
    pub code: &'static str,
    pub message: String,
    /// Line and column in the document, both from 1.
    pub location: Option<Location>,
}

/// A line and a column of a document, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    pub line: usize,
    pub column: usize,
}

/// A stable code, and a message for clients: what other crates' errors convert to.
type CodedMessage = (&'static str, String);

impl<E: Into<CodedMessage>> From<E> for FieldError {
    fn from(error: E) -> Self {
        let (code, message) = error.into();
        Self { code, message }
    }
}

impl<E: Into<CodedMessage>> From<E> for RequestError {
    fn from(error: E) -> Self {
        let (code, message) = error.into();
        Self { code, message, location: None }
    }
}

impl FieldError {
    /// Logs something that cannot happen, and returns the error that clients read.
    pub fn internal(cause: &str) -> Self {
        tracing::error!(cause, "a request failed");
        let message = "internal error; it was logged, please try again".into();
        Self { code: "INTERNAL", message }
    }
}

impl RequestError {
    pub const BAD_REQUEST: &'static str = "BAD_REQUEST";
    pub const TOO_COMPLEX: &'static str = "TOO_COMPLEX";
    /// The server does not know the hash of a document, or no longer: it needs the text.
    pub const PERSISTED_QUERY_NOT_FOUND: &'static str = "PERSISTED_QUERY_NOT_FOUND";
    /// The server has a list of documents, and this is none of them.
    pub const DOCUMENT_NOT_ALLOWED: &'static str = "DOCUMENT_NOT_ALLOWED";

    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { code: Self::BAD_REQUEST, message: message.into(), location: None }
    }

    /// Returns the first of the errors that a document has. An unknown field leaves an empty selection,
    /// which is an error of its own, and does not help.
    pub(crate) fn of_diagnostics(errors: &DiagnosticList) -> Self {
        let mut errors: Vec<_> = errors.iter().map(|error| error.to_json()).collect();
        errors.sort_by_key(|error| error.message.ends_with("must have a subselection set"));
        let first = errors.into_iter().next();
        let unknown = || Self::new("the document is not valid");
        first.map_or_else(unknown, |error| Self {
            location: error
                .locations
                .first()
                .map(|at| Location { line: at.line, column: at.column }),
            ..Self::new(error.message)
        })
    }
}

/// A step of the path from the root of an answer to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum PathStep<'a> {
    Key(&'a str),
    Index(usize),
}

/// The errors of an answer, as they are written in it.
#[derive(Debug, Default)]
pub(crate) struct ErrorList {
    json: Writer,
    codes: Vec<&'static str>,
}

/// An error in the form in which answers list it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedError<'a> {
    message: &'a str,
    /// AppSync's place for the code.
    error_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    locations: Option<[Location; 1]>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    path: &'a [PathStep<'a>],
    extensions: ErrorExtensions,
}

#[derive(Serialize)]
struct ErrorExtensions {
    code: &'static str,
    /// Present if the request may or may not have taken effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
}

impl ErrorList {
    pub(crate) fn add(
        &mut self,
        error: &FieldError,
        path: &[PathStep<'_>],
        location: Option<Location>,
    ) {
        let extensions = ErrorExtensions { code: error.code, outcome: None };
        let locations = location.map(|at| [at]);
        let (message, error_type) = (error.message.as_str(), error.code);
        self.push(&ListedError { message, error_type, locations, path, extensions });
    }

    pub(crate) fn of_request(error: &RequestError, outcome: Option<&'static str>) -> Self {
        let RequestError { code, message, location } = error;
        let (extensions, locations) = (ErrorExtensions { code, outcome }, location.map(|at| [at]));
        let mut list = Self::default();
        list.push(&ListedError { message, error_type: code, locations, path: &[], extensions });
        list
    }

    fn push(&mut self, error: &ListedError<'_>) {
        if !self.codes.is_empty() {
            self.json.raw(b",");
        }
        self.json.value(error);
        self.codes.push(error.error_type);
    }

    /// Returns the bytes that the errors take in the answer.
    pub(crate) const fn bytes(&self) -> usize {
        self.json.len()
    }

    /// Returns the errors in JSON, without the brackets around them, and their codes.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Vec<&'static str>) {
        (self.json.into_bytes(), self.codes)
    }
}
