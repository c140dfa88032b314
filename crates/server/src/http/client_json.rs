//! The JSON of clients, parsed within a limit on the number of its values: parsed values take many times
//! the bytes of their text.

use std::fmt;
use std::slice;

use roundtable_domain::Code;
use roundtable_graphql::Request;
use roundtable_interface::ApiError;
use serde::de::{Deserialize, Deserializer as _, IgnoredAny, SeqAccess, Visitor};

/// Values of one request, with those inside of others. The largest mutations have a few hundred.
const VALUES_MAX: usize = 2_000;
/// The most memory that a parsed value takes beside its text: an object is a list of members and an
/// index of their names, both with room for more.
pub(super) const VALUE_BYTES: usize = 512;

/// The reason that JSON could not be parsed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum JsonError {
    Invalid,
    /// It may have this many values.
    TooManyValues(usize),
}

impl JsonError {
    pub(super) fn into_api_error(self, invalid: &str) -> ApiError {
        match self {
            Self::Invalid => ApiError::bad_request(invalid),
            Self::TooManyValues(max) => {
                let problem =
                    format!("the request is too complex: expected at most {max} JSON values");
                ApiError::new(Code::TooComplex, problem)
            }
        }
    }
}

/// Checks the number of values, then parses one request, or a part of one.
pub(super) fn parse_checked<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, JsonError> {
    check_values(json, 1)?;
    parse(json)
}

/// Returns the number of values, unless they are too many for so many requests.
pub(super) fn check_values(json: &[u8], requests_max: usize) -> Result<usize, JsonError> {
    let (values, max) = (count_values(json), VALUES_MAX.saturating_mul(requests_max));
    if values > max { Err(JsonError::TooManyValues(max)) } else { Ok(values) }
}

/// Parses JSON whose values have been checked.
pub(super) fn parse<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, JsonError> {
    serde_json::from_slice(json).map_err(|_| JsonError::Invalid)
}

/// Parses a list of requests whose values have been checked. If there are too many requests, one more
/// than permitted is returned.
pub(super) fn parse_batch(json: &[u8], requests_max: usize) -> Result<Vec<Request>, JsonError> {
    let mut json = serde_json::Deserializer::from_slice(json);
    let requests = json.deserialize_seq(BatchVisitor { requests_max });
    requests.and_then(|all| json.end().map(|()| all)).map_err(|_| JsonError::Invalid)
}

/// Counts values without parsing them: each follows a bracket or a comma, but for the outermost. An
/// empty list or object counts twice.
fn count_values(json: &[u8]) -> usize {
    let mut count = 1;
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b',' | b'[' | b'{' => count += 1,
            _ => {}
        }
    }
    count
}

fn skip_string(bytes: &mut slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

/// Collects the requests of a batch, and skips those beyond the first that is not permitted.
struct BatchVisitor {
    requests_max: usize,
}

impl<'de> Visitor<'de> for BatchVisitor {
    type Value = Vec<Request>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of requests")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut requests = Vec::new();
        while requests.len() <= self.requests_max {
            match list.next_element()? {
                Some(request) => requests.push(request),
                None => return Ok(requests),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(requests)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn values_are_counted_as_they_would_be_parsed() {
        fn parsed(value: &Value) -> usize {
            match value {
                Value::Array(list) => 1 + list.iter().map(parsed).sum::<usize>(),
                Value::Object(members) => 1 + members.values().map(parsed).sum::<usize>(),
                _ => 1,
            }
        }
        for json in [
            "5",
            r#""[,{""#,
            r#""\",[" "#,
            r#"["\\", 1, [2, [3]], {"a,[": "}{", "b": {"\\\"": [null, true]}}]"#,
            r#"{"query": "{ me { id, name } }", "variables": {"a": [1, 2, 3]}}"#,
        ] {
            let value: Value = serde_json::from_str(json).unwrap();
            assert_eq!(count_values(json.as_bytes()), parsed(&value), "{json}");
        }
        assert_eq!(count_values(b"[{},{}]"), 5, "empty ones count twice");
        assert_eq!(count_values(br#"["never ends, [1"#), 2);
    }

    #[test]
    fn a_request_has_a_limited_number_of_values() {
        let list = |items: usize| format!("[{}1]", "1,".repeat(items - 1));
        let parse = |items: usize| parse_checked::<Value>(list(items).as_bytes());
        assert!(parse(VALUES_MAX - 1).is_ok());
        assert_eq!(parse(VALUES_MAX).unwrap_err(), JsonError::TooManyValues(VALUES_MAX));
        assert_eq!(check_values(list(VALUES_MAX).as_bytes(), 2), Ok(VALUES_MAX + 1));
        assert_eq!(parse_checked::<Value>(b"[1").unwrap_err(), JsonError::Invalid);
    }

    #[test]
    fn a_batch_is_parsed_up_to_the_first_request_too_many() {
        let parsed = |count: usize| {
            let json = format!("[{}]", vec!["{}"; count].join(","));
            parse_batch(json.as_bytes(), 3).map(|requests| requests.len())
        };
        assert_eq!(
            (parsed(0), parsed(3), parsed(4), parsed(350_000)),
            (Ok(0), Ok(3), Ok(4), Ok(4))
        );
        for invalid in [&b"[{}"[..], b"[{}]]", b"[{},]", b"[1]", b"[{},{},{},{},{]"] {
            assert_eq!(parse_batch(invalid, 3).unwrap_err(), JsonError::Invalid);
        }
    }
}
