//! Recognizes the accepted differences.

use serde_json::Value;

use super::accepted::{Answers, errors_at};
use super::conditions::takes_default;
use super::mismatch::{Mismatch, MismatchKind};

/// Returns the last field in a place, without the digit of a generated alias.
fn field_of(place: &str) -> &str {
    let keys = place.rsplit('/').find(|key| key.parse::<usize>().is_err());
    keys.unwrap_or_default().trim_end_matches(|last: char| last.is_ascii_digit())
}

fn has_error_within(answer: &Value, place: &str) -> bool {
    let below = format!("{place}/");
    errors_at(answer, |path| path == place || path.starts_with(&below)).next().is_some()
}

fn message(answer: &Value) -> &str {
    answer.pointer("/errors/0/message").and_then(Value::as_str).unwrap_or_default()
}

fn code(answer: &Value) -> Option<&str> {
    answer.pointer("/errors/0/extensions/code").and_then(Value::as_str)
}

pub(super) fn found_message<'a>(answers: &Answers<'a>) -> &'a str {
    message(answers.found)
}

pub(super) fn expected_code<'a>(answers: &Answers<'a>) -> Option<&'a str> {
    code(answers.expected)
}

pub(super) fn found_code<'a>(answers: &Answers<'a>) -> Option<&'a str> {
    code(answers.found)
}

/// Returns whether only the oracle executes the document, and the message contains one of these texts. A
/// subscription without an event has no answer.
pub(super) fn is_refused(
    mismatch: &Mismatch<'_>,
    answers: &Answers<'_>,
    messages: &[&str],
) -> bool {
    let is_executed = match mismatch.kind {
        MismatchKind::Refusal => answers.found.get("data").is_none(),
        MismatchKind::RefusalCode => answers.expected.is_null(),
        _ => false,
    };
    is_executed && messages.iter().any(|text| found_message(answers).contains(text))
}

pub(super) fn is_unknown_node(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    let is_about = |error: &Value| error["message"] == "nodeId: unknown id";
    let is_failed = |place: &str| errors_at(answers.expected, |path| path == place).any(&is_about);
    // Where the whole field failed, there was nothing below it.
    let is_below = mismatch.place.match_indices('/').any(|(at, _)| {
        let above = &mismatch.place[..at];
        field_of(above) == "nodes" && is_failed(above)
    });
    let is_only_ours = mismatch.kind == MismatchKind::Error && mismatch.expected.is_none();
    if is_below && is_only_ours {
        return true;
    }
    field_of(&mismatch.place) == "nodes"
        && match mismatch.kind {
            MismatchKind::Error => mismatch.expected.or(mismatch.found).is_some_and(is_about),
            MismatchKind::Data => {
                mismatch.expected.is_none()
                    && mismatch.found.is_some_and(Value::is_array)
                    && is_failed(&mismatch.place)
            }
            _ => false,
        }
}

/// Returns whether the only file of the town that cannot be fetched is missing: the second of two in a post.
pub(super) fn is_missing_file(mismatch: &Mismatch<'_>, _: &Answers<'_>) -> bool {
    let (Some(Value::Array(expected)), Some(Value::Array(found))) =
        (mismatch.expected, mismatch.found)
    else {
        return false;
    };
    mismatch.kind == MismatchKind::Data
        && field_of(&mismatch.place) == "media"
        && expected.len() == 2
        && *found == expected[..1]
}

pub(super) fn is_failed_field(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    if mismatch.kind != MismatchKind::Data {
        return false;
    }
    let place = &mismatch.place;
    match (mismatch.expected, mismatch.found) {
        (None, Some(Value::Null)) => has_error_within(answers.expected, place),
        (Some(Value::Null), Some(Value::Object(fields))) => {
            let is_dropped = |key| has_error_within(answers.expected, &format!("{place}/{key}"));
            !fields.is_empty() && fields.keys().all(is_dropped)
        }
        _ => false,
    }
}

pub(super) fn is_null_propagation(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    let below = format!("{}/", mismatch.place);
    mismatch.kind == MismatchKind::Data
        && mismatch.found == Some(&Value::Null)
        && matches!(mismatch.expected, Some(Value::Object(_) | Value::Array(_)))
        && errors_at(answers.found, |path| path.starts_with(&below)).next().is_some()
}

pub(super) fn is_below_null(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    if mismatch.kind != MismatchKind::Error || mismatch.found.is_some() {
        return false;
    }
    let data = answers.found.get("data");
    let mut places = mismatch.place.match_indices('/').map(|(at, _)| &mismatch.place[..at]);
    let is_null = |place| data.and_then(|data| data.pointer(place)) == Some(&Value::Null);
    places.any(is_null)
}

pub(super) fn is_repeated_error(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    mismatch.kind == MismatchKind::Error
        && mismatch.found.is_none()
        && errors_at(answers.found, |path| path == mismatch.place).any(|error| {
            mismatch.expected.is_some_and(|expected| expected["message"] == error["message"])
        })
}

pub(super) fn is_default_of_condition(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    let takes_default = |place: &str| takes_default(answers.query, answers.variables, place);
    let place = &mismatch.place;
    match (mismatch.kind, mismatch.expected, mismatch.found) {
        (MismatchKind::Data | MismatchKind::Error, None, _)
        | (MismatchKind::Data | MismatchKind::Error, _, None) => takes_default(place),
        // To the library, an object without fields is null.
        (MismatchKind::Data, Some(Value::Null), Some(Value::Object(fields))) => {
            let places = || fields.keys().map(|key| format!("{place}/{key}"));
            let is_dropped = |place: &str| has_error_within(answers.expected, place);
            places().any(|field| takes_default(&field))
                && places().all(|field| takes_default(&field) || is_dropped(&field))
        }
        _ => false,
    }
}

/// Returns whether the library made an object null that is selected twice, once under conditions.
pub(super) fn is_merged_with_empty(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    let (field, query) = (field_of(&mismatch.place), answers.query);
    let is_failed = [answers.expected, answers.found]
        .into_iter()
        .any(|answer| has_error_within(answer, &mismatch.place));
    mismatch.kind == MismatchKind::Data
        && mismatch.expected == Some(&Value::Null)
        && mismatch.found.is_some_and(Value::is_object)
        && !is_failed
        && ["@include", "@skip"].iter().any(|condition| query.contains(condition))
        && query.matches(&format!(" {field} {{")).count() > 1
}

/// Returns whether the library took an optional input without a value for null.
pub(super) fn is_absent_input(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    let is_null = |error: &Value| {
        error["message"].as_str().is_some_and(|message| message.ends_with(": cannot be null"))
    };
    matches!(mismatch.kind, MismatchKind::ErrorCode | MismatchKind::ErrorMessage)
        && errors_at(answers.expected, |path| path == mismatch.place).any(is_null)
        && answers.query.contains(": $")
}

/// Sorts all lists in a value.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(sorted).collect();
            items.sort_by_key(Value::to_string);
            items.into()
        }
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), sorted(value))).collect()
        }
        other => other.clone(),
    }
}

/// Returns what both sides answer about the schema, if the difference is there.
fn introspected<'a>(
    mismatch: &Mismatch<'_>,
    answers: &Answers<'a>,
) -> Option<(&'a Value, &'a Value)> {
    let key = mismatch.place.split('/').nth(1).filter(|key| key.starts_with("__"))?;
    let side = |answer: &'a Value| answer.get("data")?.get(key);
    side(answers.expected).zip(side(answers.found))
}

pub(super) fn is_introspection_order(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    mismatch.kind == MismatchKind::Data
        && introspected(mismatch, answers)
            .is_some_and(|(expected, found)| sorted(expected) == sorted(found))
}

/// Returns whether everything that the oracle lists is there, or comments have tags.
pub(super) fn is_added_to_schema(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    match mismatch.kind {
        MismatchKind::Data => introspected(mismatch, answers)
            .is_some_and(|(expected, found)| contains_all(found, expected)),
        MismatchKind::Error => {
            mismatch.found.is_none()
                && mismatch.expected.is_some_and(|error| {
                    error["message"] == "entities of this kind have no tags"
                        && field_of(&mismatch.place) == "searchByTag"
                })
        }
        _ => false,
    }
}

/// Returns whether a value about the schema has everything of another one, in any order.
fn contains_all(value: &Value, other: &Value) -> bool {
    match (value, other) {
        (Value::Array(items), Value::Array(others)) => {
            others.iter().all(|other| items.iter().any(|item| contains_all(item, other)))
        }
        (Value::Object(fields), Value::Object(others)) => others
            .iter()
            .all(|(name, other)| fields.get(name).is_some_and(|field| contains_all(field, other))),
        _ => value == other,
    }
}

pub(super) fn is_introspected_directive(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    let without_one_of = |side: &Value| {
        let mut side = sorted(side);
        if let Some(Value::Array(directives)) = side.get_mut("directives") {
            directives.retain(|directive| directive["name"] != "oneOf");
        }
        side
    };
    mismatch.kind == MismatchKind::Data
        && introspected(mismatch, answers)
            .is_some_and(|(expected, found)| without_one_of(expected) == without_one_of(found))
}

fn texts<'a>(mismatch: &Mismatch<'a>) -> Option<(&'a str, &'a str)> {
    mismatch.expected?.as_str().zip(mismatch.found?.as_str())
}

pub(super) fn is_input_path(mismatch: &Mismatch<'_>, _: &Answers<'_>) -> bool {
    let is_same = |(expected, found): (&str, &str)| {
        let is_typed = is_wrong_type(expected) && found.contains(": expected ");
        if is_typed {
            return Some(true);
        }
        // Failed to parse "ID": REASON (occurred while parsing "AddCommentInput")
        let expected = expected.strip_prefix("Failed to parse ")?.split_once(": ")?.1;
        let expected = expected.split(" (occurred while parsing").next()?;
        let (path, found) = found.split_once(": ")?;
        let is_path = path.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
        // The type of dates that select a day has words of its own.
        let is_day = expected.starts_with("expected a date") && found.starts_with("expected a day");
        let is_number =
            expected.starts_with("Invalid number") && found.starts_with("expected a whole");
        Some(is_path && (found == expected || is_day || is_number))
    };
    mismatch.kind == MismatchKind::ErrorMessage
        && texts(mismatch).and_then(is_same).unwrap_or_default()
}

/// Returns whether the library found that a literal or variable has the wrong type.
pub(super) fn is_wrong_type(message: &str) -> bool {
    message.starts_with("Expected input type")
}

/// Returns whether the size of the page is reported, and not another argument that is wrong as well.
pub(super) fn is_page_size_first(mismatch: &Mismatch<'_>, _: &Answers<'_>) -> bool {
    let is_size = |message: &str| {
        let size = message.strip_prefix("limit: ").or_else(|| message.strip_prefix("first: "));
        size.is_some_and(|size| size.starts_with("expected 1 to 100, found"))
    };
    mismatch.kind == MismatchKind::ErrorMessage
        && texts(mismatch).is_some_and(|(expected, found)| is_size(found) && !is_size(expected))
}

/// Returns whether the object of an activity is null for a suspended viewer.
pub(super) fn is_hidden_object(mismatch: &Mismatch<'_>, _: &Answers<'_>) -> bool {
    mismatch.kind == MismatchKind::Error
        && mismatch.found.is_none()
        && field_of(&mismatch.place) == "object"
        && mismatch.expected.is_some_and(|error| error["message"] == "this account is suspended")
}

pub(super) fn is_repeated_typename(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    mismatch.kind == MismatchKind::Refusal
        && message(answers.expected).starts_with("__typename is selected twice")
}

pub(super) fn is_page_size(mismatch: &Mismatch<'_>, _: &Answers<'_>) -> bool {
    let is_size = |(expected, found): (&str, &str)| {
        let found = found.strip_prefix("limit: ").or_else(|| found.strip_prefix("first: "));
        expected.starts_with("limit: expected 1 to 100")
            && found.is_some_and(|rest| rest.starts_with("expected 1 to 100, found"))
    };
    mismatch.kind == MismatchKind::ErrorMessage && texts(mismatch).is_some_and(is_size)
}

/// Returns whether only ours refuses the nickname, or refuses it before something else.
pub(super) fn is_nickname(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    errors_at(answers.found, |path| path == mismatch.place).any(|error| {
        error["message"]
            .as_str()
            .is_some_and(|it| it.starts_with("nickname: expected a nickname that"))
    })
}

/// Returns whether both locations are the same in characters, or the library's is that of an argument.
pub(super) fn is_location(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> bool {
    let column = |side: Option<&Value>| {
        let column = side?.pointer("/0/column")?.as_u64()?;
        usize::try_from(column).ok()
    };
    let Some((expected, found)) = column(mismatch.expected).zip(column(mismatch.found)) else {
        return false;
    };
    // Ours counts bytes of UTF-8, the library's characters.
    let Some(before) = answers.query.get(..found - 1) else { return false };
    let found = before.chars().count() + 1;
    let is_input = errors_at(answers.expected, |path| path == mismatch.place)
        .filter_map(|error| error["message"].as_str())
        .any(|message| message.starts_with("Failed to parse") || is_wrong_type(message));
    mismatch.kind == MismatchKind::ErrorLocation
        && (expected == found || is_input && expected > found)
}
