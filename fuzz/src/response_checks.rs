//! Checks of responses: JSON of the contract's shape, without internal details.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use serde_json::Value;

use crate::runner::Coverage;

/// The codes of the contract except INTERNAL, because nothing is broken here, and DOCUMENT_NOT_ALLOWED,
/// because the server has no list.
const CODES: [&str; 12] = [
    "BAD_REQUEST",
    "UNAUTHENTICATED",
    "FORBIDDEN",
    "NOT_FOUND",
    "CONFLICT",
    "IDEMPOTENCY_MISMATCH",
    "READ_ONLY",
    "RATE_LIMITED",
    "QUOTA_EXCEEDED",
    "STORAGE_FULL",
    "TOO_COMPLEX",
    "PERSISTED_QUERY_NOT_FOUND",
];

/// Words that reveal internals, unless the request contains them.
const INTERNAL_WORDS: [&str; 22] = [
    "panicked",
    "src/",
    ".rs:",
    "serde",
    "EOF while",
    "trailing characters",
    "roundtable_",
    "async_graphql",
    "internal:",
    "tokio",
    "hyper",
    "called `",
    "ConditionFailed",
    "ConditionalCheck",
    "TransactionCanceled",
    "GSI1",
    "gsi1",
    "gg_core",
    "gg_ops",
    "RustCrypto",
    "aws-lc",
    "os error",
];

/// Checks a response, and panics with the problem.
pub(crate) fn check(response: &Value, request: &str, coverage: &mut Coverage) {
    let fail = |why: &str| -> ! { panic!("{why}\nrequest: {request}\nresponse: {response}") };
    let Value::Object(fields) = response else { fail("the response is not an object") };
    if !fields.contains_key("data") && !fields.contains_key("errors") {
        fail("neither data nor errors");
    }
    if let Some(name) =
        fields.keys().find(|name| !matches!(&***name, "data" | "errors" | "extensions"))
    {
        fail(&format!("{name} does not belong in a response"));
    }
    if let Some(data) = fields.get("data") {
        if !data.is_null() && !data.is_object() {
            fail("the data is not an object");
        }
        record_shape(data, &mut String::new(), coverage);
    }
    if let Some(errors) = fields.get("errors") {
        match errors.as_array() {
            Some(errors) if !errors.is_empty() => {
                errors.iter().for_each(|error| check_error(error, request, coverage));
            }
            _ => fail("the errors are not a list"),
        }
    }
}

pub(crate) fn check_error(error: &Value, request: &str, coverage: &mut Coverage) {
    let fail = |why: &str| -> ! { panic!("{why}\nrequest: {request}\nerror: {error}") };
    let code = error.pointer("/extensions/code").and_then(Value::as_str).unwrap_or_default();
    if !CODES.contains(&code) {
        fail("unexpected error code");
    }
    if error.get("errorType").and_then(Value::as_str) != Some(code) {
        fail("errorType differs from the code");
    }
    let Some(message) = error.get("message").and_then(Value::as_str) else {
        fail("the error has no message")
    };
    if message.trim().is_empty() {
        fail("the message is empty");
    }
    check_text(message, request);
    coverage.insert(hash(&format!("{code} {}", without_values(message))));
}

/// Checks that a text reveals no internals.
pub(crate) fn check_text(text: &str, request: &str) {
    for word in INTERNAL_WORDS {
        assert!(
            !text.contains(word) || request.contains(word),
            "{word:?} reveals internals\nrequest: {request}\ntext: {text}"
        );
    }
}

/// Returns a message without quoted values and numbers.
fn without_values(message: &str) -> String {
    // Parse errors quote the document first and end with the expected token.
    let message = message.rsplit("= expected").next().unwrap_or_default();
    let outside = message.split(['"', '`']).step_by(2).collect::<Vec<_>>().join("_");
    outside.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Records the paths and kinds of values in a response.
fn record_shape(value: &Value, path: &mut String, coverage: &mut Coverage) {
    let before = path.len();
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                path.push('.');
                path.push_str(name);
                record_shape(value, path, coverage);
                path.truncate(before);
            }
        }
        Value::Array(all) => {
            all.iter().take(3).for_each(|value| record_shape(value, path, coverage));
        }
        // Only the end of a path counts: deep paths repeat shallow ones.
        other => {
            let end = path.rsplitn(4, '.').take(3).collect::<Vec<_>>().join(".");
            let kind = match other {
                Value::Null => "null",
                Value::Bool(true) => "true",
                Value::Bool(false) => "false",
                Value::Number(_) => "number",
                _ => "text",
            };
            coverage.insert(hash(&format!("{end} {kind}")));
        }
    }
}

pub(crate) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
