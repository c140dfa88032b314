//! The places of cursors in an answer, as JSON pointers.

use serde_json::Value;

/// A JSON pointer, such as `/data/getFeed/nextToken`.
pub(crate) type CursorPlace = String;

/// Returns whether the values of a response key are cursors. Generated aliases add a digit to the name.
fn is_cursor(key: &str) -> bool {
    let name = key.trim_end_matches(|last: char| last.is_ascii_digit());
    matches!(name, "nextToken" | "cursor" | "startCursor" | "endCursor")
}

/// Returns the places of all cursors.
pub(crate) fn cursors(answer: &Value) -> Vec<CursorPlace> {
    let mut found = Vec::new();
    collect(answer, &mut String::new(), &mut found);
    found
}

fn collect(value: &Value, place: &mut String, found: &mut Vec<CursorPlace>) {
    let before = place.len();
    let mut visit = |key: &str, child: &Value| {
        place.push('/');
        place.push_str(key);
        if child.is_string() && is_cursor(key) {
            found.push(place.clone());
        }
        collect(child, place, found);
        place.truncate(before);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, child)| visit(key, child)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, child)| visit(&at.to_string(), child));
        }
        _ => {}
    }
}

/// Replaces all cursors of an answer.
pub(crate) fn replace_cursors(answer: &mut Value, replace: &impl Fn(&str) -> Value) {
    match answer {
        Value::Array(items) => items.iter_mut().for_each(|item| replace_cursors(item, replace)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str().filter(|_| is_cursor(key)) {
                    Some(cursor) => *value = replace(cursor),
                    None => replace_cursors(value, replace),
                }
            }
        }
        _ => {}
    }
}

/// Returns the place of the cursor at which a list continues, in the first object of each list around it.
pub(crate) fn end_of_list(answer: &Value, path: &[String]) -> Option<CursorPlace> {
    let (mut at, mut value) = (String::from("/data"), answer.get("data")?);
    for key in path {
        while let Value::Array(items) = value {
            at.push_str("/0");
            value = items.first()?;
        }
        at = format!("{at}/{key}");
        value = value.get(key)?;
    }
    let below = cursors(value);
    let end = below.iter().find(|place| place.contains("nextToken") && !place[1..].contains('/'));
    let end = end.or_else(|| below.iter().rfind(|place| place.contains("ursor")))?;
    Some(format!("{at}{end}"))
}
