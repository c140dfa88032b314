//! Finds the differences between two answers. Keys may be in any order, and cursors are compared only by
//! whether they are there. Errors are compared by path, code, message and location, in any order. Where
//! both sides refuse a document, only the codes are compared: the messages are those of two validators.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::places::replace_cursors;
use super::replay::NAME_START;

/// A place where two answers differ.
#[derive(Clone, Debug)]
pub(crate) struct Mismatch<'a> {
    pub(crate) kind: MismatchKind,
    /// A JSON pointer. For errors: the path of the error.
    pub(crate) place: String,
    /// The values; `None` where a side has none.
    pub(crate) expected: Option<&'a Value>,
    pub(crate) found: Option<&'a Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MismatchKind {
    /// One side refuses the request, the other executes it.
    Refusal,
    /// Both refuse the request, with different codes.
    RefusalCode,
    Data,
    /// Only one side has an error here.
    Error,
    ErrorCode,
    ErrorMessage,
    ErrorLocation,
}

/// Returns an answer with all cursors made equal. Cursors in the document itself have different lengths, so
/// that locations behind them differ.
pub(crate) fn normalized(query: &str, answer: &Value) -> Value {
    let mut answer = answer.clone();
    replace_cursors(&mut answer, &|_| "a cursor".into());
    if let Some(Value::Array(errors)) = answer.get_mut("errors")
        && query.contains(NAME_START)
    {
        errors.iter_mut().filter_map(Value::as_object_mut).for_each(|error| {
            error.remove("locations");
        });
    }
    answer
}

pub(crate) fn mismatches<'a>(expected: &'a Value, found: &'a Value) -> Vec<Mismatch<'a>> {
    let mut all = Vec::new();
    let mut add = |kind, place: &str, expected, found| {
        all.push(Mismatch { kind, place: place.to_owned(), expected, found });
    };
    match (expected.get("data"), found.get("data")) {
        (Some(expected_data), Some(found_data)) => {
            compare_values("", Some(expected_data), Some(found_data), &mut add);
            compare_errors(expected, found, &mut add);
        }
        (None, None) => {
            let code = |answer: &'a Value| answer.pointer("/errors/0/extensions/code");
            if code(expected) != code(found) {
                add(MismatchKind::RefusalCode, "", Some(expected), Some(found));
            }
        }
        _ => add(MismatchKind::Refusal, "", Some(expected), Some(found)),
    }
    all
}

type Add<'a, 'b> = dyn FnMut(MismatchKind, &str, Option<&'a Value>, Option<&'a Value>) + 'b;

fn compare_values<'a>(
    place: &str,
    expected: Option<&'a Value>,
    found: Option<&'a Value>,
    add: &mut Add<'a, '_>,
) {
    match (expected, found) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                compare_values(&format!("{place}/{key}"), left.get(key), right.get(key), add);
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) if left.len() == right.len() => {
            for (at, (left, right)) in left.iter().zip(right).enumerate() {
                compare_values(&format!("{place}/{at}"), Some(left), Some(right), add);
            }
        }
        _ if expected != found => add(MismatchKind::Data, place, expected, found),
        _ => {}
    }
}

/// Returns the errors of an answer by their paths.
fn errors_by_path(answer: &Value) -> BTreeMap<String, Vec<&Value>> {
    let mut errors: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for error in answer.get("errors").and_then(Value::as_array).into_iter().flatten() {
        errors.entry(path_of(error)).or_default().push(error);
    }
    errors
}

/// Returns the path of an error as a JSON pointer from the data on.
pub(crate) fn path_of(error: &Value) -> String {
    let steps = error.get("path").and_then(Value::as_array).into_iter().flatten();
    steps
        .map(|step| step.as_str().map_or_else(|| format!("/{step}"), |key| format!("/{key}")))
        .collect()
}

fn compare_errors<'a>(expected: &'a Value, found: &'a Value, add: &mut Add<'a, '_>) {
    let (left, right) = (errors_by_path(expected), errors_by_path(found));
    let paths: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    for path in paths {
        let at = |side: &BTreeMap<String, Vec<&'a Value>>, place: usize| {
            side.get(path).and_then(|errors| errors.get(place)).copied()
        };
        let count = |side: &BTreeMap<String, Vec<&Value>>| side.get(path).map_or(0, Vec::len);
        for place in 0..count(&left).max(count(&right)) {
            match (at(&left, place), at(&right, place)) {
                (Some(expected), Some(found)) => compare_error(path, expected, found, add),
                (expected, found) => add(MismatchKind::Error, path, expected, found),
            }
        }
    }
}

fn compare_error<'a>(path: &str, expected: &'a Value, found: &'a Value, add: &mut Add<'a, '_>) {
    let parts = [
        (MismatchKind::ErrorCode, "/extensions"),
        (MismatchKind::ErrorCode, "/errorType"),
        (MismatchKind::ErrorMessage, "/message"),
        (MismatchKind::ErrorLocation, "/locations"),
    ];
    for (kind, part) in parts {
        let (expected, found) = (expected.pointer(part), found.pointer(part));
        if expected != found {
            add(kind, path, expected, found);
        }
    }
}
