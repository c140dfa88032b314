//! What every answer must be: JSON of the contract's shape, without a word of the inside.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use serde_json::Value;

use crate::driving::Seen;

/// The codes of the contract but INTERNAL: nothing is broken here.
const CODES: [&str; 8] = [
    "BAD_REQUEST",
    "UNAUTHENTICATED",
    "FORBIDDEN",
    "NOT_FOUND",
    "CONFLICT",
    "IDEMPOTENCY_MISMATCH",
    "RATE_LIMITED",
    "TOO_COMPLEX",
];

/// Words of the inside. Whoever sends one may get it back.
const INSIDE: [&str; 22] = [
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

/// Checks the answer to one request; panics with what is wrong with it.
pub(crate) fn check(answer: &Value, asked: &str, seen: &mut Seen) {
    let wrong = |why: &str| -> ! { panic!("{why}\nasked: {asked}\nanswer: {answer}") };
    let Value::Object(fields) = answer else { wrong("the answer is no object") };
    if !fields.contains_key("data") && !fields.contains_key("errors") {
        wrong("neither data nor errors");
    }
    if let Some(name) =
        fields.keys().find(|name| !matches!(&***name, "data" | "errors" | "extensions"))
    {
        wrong(&format!("{name} is not of an answer"));
    }
    if let Some(data) = fields.get("data") {
        if !data.is_null() && !data.is_object() {
            wrong("the data are no object");
        }
        shape(data, &mut String::new(), seen);
    }
    if let Some(errors) = fields.get("errors") {
        match errors.as_array() {
            Some(errors) if !errors.is_empty() => {
                errors.iter().for_each(|error| check_error(error, asked, seen));
            }
            _ => wrong("the errors are no list of errors"),
        }
    }
}

/// Checks one error.
pub(crate) fn check_error(error: &Value, asked: &str, seen: &mut Seen) {
    let wrong = |why: &str| -> ! { panic!("{why}\nasked: {asked}\nerror: {error}") };
    let code = error.pointer("/extensions/code").and_then(Value::as_str).unwrap_or_default();
    if !CODES.contains(&code) {
        wrong("the code is none that is expected");
    }
    if error.get("errorType").and_then(Value::as_str) != Some(code) {
        wrong("the type of the error is not its code");
    }
    let Some(message) = error.get("message").and_then(Value::as_str) else {
        wrong("there is no message")
    };
    if message.trim().is_empty() {
        wrong("the message is empty");
    }
    check_text(message, asked);
    seen.insert(hash(&format!("{code} {}", plain(message))));
}

/// Checks that a text says nothing of the inside.
pub(crate) fn check_text(text: &str, asked: &str) {
    for inside in INSIDE {
        assert!(
            !text.contains(inside) || asked.contains(inside),
            "{inside:?} is of the inside\nasked: {asked}\ntold: {text}"
        );
    }
}

/// A message without what was given, and without numbers.
fn plain(message: &str) -> String {
    // Where a document cannot be read, it is shown, and what was expected comes last.
    let message = message.rsplit("= expected").next().unwrap_or_default();
    let outside = message.split(['"', '`']).step_by(2).collect::<Vec<_>>().join("_");
    outside.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// What there is in an answer, by its path.
fn shape(value: &Value, path: &mut String, seen: &mut Seen) {
    let before = path.len();
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                path.push('.');
                path.push_str(name);
                shape(value, path, seen);
                path.truncate(before);
            }
        }
        Value::Array(all) => all.iter().take(3).for_each(|value| shape(value, path, seen)),
        // Deep paths repeat what is there higher up.
        other => {
            let end = path.rsplitn(4, '.').take(3).collect::<Vec<_>>().join(".");
            let kind = match other {
                Value::Null => "null",
                Value::Bool(true) => "true",
                Value::Bool(false) => "false",
                Value::Number(_) => "number",
                _ => "text",
            };
            seen.insert(hash(&format!("{end} {kind}")));
        }
    }
}

/// The same number for the same text.
pub(crate) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
