//! Items in DynamoDB JSON: `{"Item": {"PK": {"S": "…"}, …}}`.

use data_encoding::BASE64;
use roundtable_table::limits::NESTING_MAX;
use roundtable_table::{Attributes, Item, Number, Value, ValueRef};
use serde_json::{Map, Value as Json, json};

const ITEM: &str = "Item";

pub(super) fn write(item: &Item) -> Json {
    let attributes = item.iter().map(|(name, value)| (name.to_owned(), to_json(value)));
    json!({ ITEM: attributes.collect::<Map<_, _>>() })
}

fn to_json(value: ValueRef<'_>) -> Json {
    match value {
        ValueRef::S(text) => json!({ "S": text }),
        ValueRef::N(number) => json!({ "N": number.to_string() }),
        ValueRef::B(bytes) => json!({ "B": BASE64.encode(bytes) }),
        ValueRef::Bool(flag) => json!({ "BOOL": flag }),
        ValueRef::Null => json!({ "NULL": true }),
        ValueRef::L(values) => json!({ "L": values.map(to_json).collect::<Vec<_>>() }),
        ValueRef::M(entries) => {
            let entries = entries.map(|(name, value)| (name.to_owned(), to_json(value)));
            json!({ "M": entries.collect::<Map<_, _>>() })
        }
        ValueRef::Ss(texts) => json!({ "SS": texts.collect::<Vec<_>>() }),
        ValueRef::Ns(numbers) => {
            json!({ "NS": numbers.map(|number| number.to_string()).collect::<Vec<_>>() })
        }
        ValueRef::Bs(blobs) => {
            json!({ "BS": blobs.map(|blob| BASE64.encode(blob)).collect::<Vec<_>>() })
        }
    }
}

pub(super) fn read(line: &[u8]) -> Result<Item, String> {
    let json: Json = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let attributes = match json {
        Json::Object(mut members) if members.len() == 1 => members.remove(ITEM),
        _ => None,
    };
    match attributes {
        Some(Json::Object(attributes)) => Ok(Item::from(entries(attributes, 0)?)),
        _ => Err(String::from(r#"expected {"Item": {…}}"#)),
    }
}

fn entries(members: Map<String, Json>, depth: usize) -> Result<Attributes, String> {
    let entries = members.into_iter().map(|(name, json)| {
        let value = value(json, depth).map_err(|problem| format!("{name}: {problem}"))?;
        Ok((name, value))
    });
    entries.collect()
}

fn value(json: Json, depth: usize) -> Result<Value, String> {
    if depth > NESTING_MAX {
        return Err(format!("nested deeper than {NESTING_MAX}"));
    }
    let Json::Object(members) = json else { return Err(String::from(EXPECTED)) };
    let mut members = members.into_iter();
    let (Some((kind, json)), None) = (members.next(), members.next()) else {
        return Err(String::from(EXPECTED));
    };
    match (kind.as_str(), json) {
        ("S", Json::String(text)) => Ok(Value::S(text)),
        ("N", Json::String(text)) => number(&text).map(Value::N),
        ("B", Json::String(text)) => blob(&text).map(|bytes| Value::B(bytes.into())),
        ("BOOL", Json::Bool(flag)) => Ok(Value::Bool(flag)),
        ("NULL", Json::Bool(true)) => Ok(Value::Null),
        ("L", Json::Array(values)) => {
            let values = values.into_iter().map(|json| value(json, depth + 1));
            Ok(Value::L(values.collect::<Result<_, _>>()?))
        }
        ("M", Json::Object(members)) => entries(members, depth + 1).map(Value::M),
        ("SS", Json::Array(texts)) => {
            Ok(Value::Ss(set_members(&texts, |text| Ok(text.to_owned()))?))
        }
        ("NS", Json::Array(numbers)) => Ok(Value::Ns(set_members(&numbers, number)?)),
        ("BS", Json::Array(blobs)) => {
            Ok(Value::Bs(set_members(&blobs, |text| Ok(blob(text)?.into()))?))
        }
        _ => Err(String::from(EXPECTED)),
    }
}

const EXPECTED: &str = r#"expected a value with its type, such as {"S": "text"} or {"N": "1"}"#;

/// The members of a set; a set is never empty.
fn set_members<T, S: FromIterator<T>>(
    members: &[Json],
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<S, String> {
    if members.is_empty() {
        return Err(String::from("a set must not be empty"));
    }
    let texts = members.iter().map(|member| read(member.as_str().ok_or(EXPECTED)?));
    texts.collect()
}

fn number(text: &str) -> Result<Number, String> {
    text.parse().map_err(|error| format!("number {text:?}: {error}"))
}

fn blob(text: &str) -> Result<Vec<u8>, String> {
    BASE64.decode(text.as_bytes()).map_err(|error| format!("not Base64: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_survives_a_round_trip() {
        let line = r#"{"Item":{"B":{"B":"AAH/"},"BS":{"BS":["AA==","AQ=="]},"L":{"L":[{"S":"x"},{"NULL":true}]},
            "M":{"M":{"in":{"M":{"deep":{"BOOL":false}}}}},"N":{"N":"-12345678901234567890.5"},
            "NS":{"NS":["1","2.5"]},"S":{"S":"na\u00efve \ud83d\ude80"},"SS":{"SS":["a","b"]}}}"#;
        let item = read(line.as_bytes()).unwrap();
        let wanted: Json = serde_json::from_str(line).unwrap();
        assert_eq!(write(&item), wanted);
        assert_eq!(read(write(&item).to_string().as_bytes()).unwrap(), item);
    }

    #[test]
    fn errors_name_the_attribute_and_the_problem() {
        let deep = format!("{}{{\"S\":\"\"}}{}", "{\"L\":[".repeat(40), "]}".repeat(40));
        let deep = format!(r#"{{"Item":{{"a":{deep}}}}}"#);
        for (line, expected) in [
            ("", "EOF"),
            ("[]", "expected {\"Item\": {…}}"),
            (r#"{"PK":{"S":"x"}}"#, "expected {\"Item\": {…}}"),
            (r#"{"Item":{"a":"x"}}"#, "a: expected a value with its type"),
            (r#"{"Item":{"a":{"S":1}}}"#, "a: expected a value with its type"),
            (r#"{"Item":{"a":{"N":"ten"}}}"#, "a: number \"ten\""),
            (r#"{"Item":{"a":{"M":{"b":{"B":"?"}}}}}"#, "a: b: not Base64"),
            (r#"{"Item":{"a":{"SS":[]}}}"#, "a: a set must not be empty"),
            (r#"{"Item":{"a":{"NULL":false}}}"#, "a: expected"),
            (&deep, "nested deeper"),
        ] {
            let problem = read(line.as_bytes()).unwrap_err();
            assert!(problem.contains(expected), "{line}: {problem}");
        }
    }
}
