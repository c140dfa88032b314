//! Compares a response with a document: the same members and values, where `…` matches anything and
//! `"$NAME"` captures a value.

use serde_json::Value;

use crate::shell::Names;

/// The first difference, if any. Names are captured only from responses that match.
pub(crate) fn difference(shown: &Value, found: &Value, names: &mut Names) -> Option<String> {
    let mut given = names.clone();
    let difference = differ("", shown, found, &mut given);
    if difference.is_none() {
        *names = given;
    }
    difference
}

fn differ(at: &str, shown: &Value, found: &Value, names: &mut Names) -> Option<String> {
    let unlike = || Some(format!("at {at}: shown {shown}, found {found}"));
    match (shown, found) {
        (Value::String(shown), _) if shown == "…" => None,
        (Value::String(name), found) if is_name(name) => {
            let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
            let name = name.trim_start_matches('$').to_owned();
            let name = names.entry(name).or_insert_with(|| found.clone());
            if *name == found { None } else { unlike() }
        }
        (Value::String(shown), Value::String(found)) if matches_pattern(shown, found) => None,
        (Value::Array(shown), Value::Array(found)) if shown.len() == found.len() => {
            let mut pairs = shown.iter().zip(found).enumerate();
            pairs.find_map(|(location, (shown, found))| {
                differ(&format!("{at}/{location}"), shown, found, names)
            })
        }
        (Value::Object(shown), Value::Object(found)) => {
            if !shown.keys().eq(found.keys()) {
                let (shown, found): (Vec<_>, Vec<_>) =
                    (shown.keys().collect(), found.keys().collect());
                return Some(format!("at {at}: shown {shown:?}, found {found:?}"));
            }
            shown.iter().find_map(|(key, shown)| {
                differ(&format!("{at}/{key}"), shown, found.get(key)?, names)
            })
        }
        (shown, found) if shown == found => None,
        _ => unlike(),
    }
}

fn is_name(text: &str) -> bool {
    let name = text.strip_prefix('$').unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
}

/// Returns whether a text matches a pattern in which `…` is anything.
pub(crate) fn matches_pattern(shown: &str, found: &str) -> bool {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = found.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        last = Some(part);
        let Some(at) = rest.find(part) else { return false };
        rest = rest.split_at(at + part.len()).1;
    }
    match last {
        None => rest.is_empty(),
        // Anything may come before the last part.
        Some(last) => found.ends_with(last),
    }
}

#[test]
fn variable_parts_of_a_response_are_not_compared() {
    let mut names = Names::new();
    let shown = serde_json::json!({ "a": "$ID", "b": ["2026-…Z", "…"], "c": 1 });
    let found = serde_json::json!({ "a": "x", "b": ["2026-01-01Z", 5], "c": 1 });
    assert_eq!(difference(&shown, &found, &mut names), None);
    assert_eq!(names["ID"], "x");
    for (member, value) in [("a", "y"), ("b", "2026-01-01Z"), ("c", "1")] {
        let mut other = found.clone();
        other[member] = value.into();
        assert!(difference(&shown, &other, &mut names).is_some(), "{member}");
    }
    assert!(difference(&shown, &serde_json::json!({ "a": "x" }), &mut names).is_some());
    assert!(
        matches_pattern("a …b… c", "a b c")
            && matches_pattern("…", "")
            && !matches_pattern("a…", "ba")
    );
}
