//! The differences that are meant to be, with the reasons.

use serde_json::Value;

use super::mismatch::{Mismatch, MismatchKind, path_of};

/// A kind of difference that is accepted.
pub(crate) struct AcceptedDifference {
    pub(crate) name: &'static str,
    /// The section of the GraphQL specification (September 2025) or the decision that demands it.
    pub(crate) section: &'static str,
    pub(crate) reason: &'static str,
    applies: fn(&Mismatch<'_>, &Answers<'_>) -> bool,
}

/// Both answers to a document.
pub(crate) struct Answers<'a> {
    pub(crate) query: &'a str,
    pub(crate) expected: &'a Value,
    pub(crate) found: &'a Value,
}

pub(crate) const ACCEPTED: &[AcceptedDifference] = &[
    AcceptedDifference {
        name: "null-propagation",
        section: "6.4.4",
        reason: "A failed field that must not be null nulls the nearest nullable field around it. \
                 The library dropped the field from its object.",
        applies: is_null_propagation,
    },
    AcceptedDifference {
        name: "errors-below-null",
        section: "6.4.4",
        reason: "What lies below a nulled field is not reported after the first error.",
        applies: is_below_null,
    },
];

impl AcceptedDifference {
    /// Returns the kind of a difference, or `None` if it is not accepted.
    pub(crate) fn of(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> Option<&'static Self> {
        ACCEPTED.iter().find(|accepted| (accepted.applies)(mismatch, answers))
    }
}

fn errors(answer: &Value) -> impl Iterator<Item = &Value> {
    answer.get("errors").and_then(Value::as_array).into_iter().flatten()
}

fn is_null_propagation(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    let below = format!("{}/", mismatch.place);
    mismatch.kind == MismatchKind::Data
        && mismatch.found == Some(&Value::Null)
        && matches!(mismatch.expected, Some(Value::Object(_) | Value::Array(_)))
        && errors(answers.found).any(|error| path_of(error).starts_with(&below))
}

fn is_below_null(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    if mismatch.kind != MismatchKind::Error || mismatch.found.is_some() {
        return false;
    }
    let data = answers.found.get("data");
    let places = mismatch.place.match_indices('/').map(|(at, _)| &mismatch.place[..at]);
    data.is_some_and(|data| {
        places.into_iter().any(|place| data.pointer(place) == Some(&Value::Null))
    })
}
