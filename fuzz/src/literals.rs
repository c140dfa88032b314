//! Generates argument values: mostly valid ones, sometimes edge cases, sometimes invalid ones.

use async_graphql::indexmap::IndexMap;
use async_graphql::parser::types::{BaseType, Type};
use async_graphql::{Name, Value};

use crate::choices::ByteChoices;
use crate::grammar::{Grammar, TypeShape};
use crate::value_pool::ValuePool;

const NUMBERS: [i64; 14] =
    [1, 2, 5, 20, 50, 100, 0, 101, -1, 10, 2_147_483_647, -2_147_483_648, 4_294_967_296, i64::MIN];
const TEXTS: [&str; 18] = [
    "a good run",
    "hello @bo and @ana #running",
    "running",
    "2025-01-27",
    "rude",
    "",
    " ",
    "#",
    "USER#ana",
    "\u{0}\u{1b}",
    "ﷺ\u{202e}\u{301}👩‍👩‍👧‍👦",
    "' OR 1=1 --",
    "\"}]{\\",
    "ana@example.com",
    "https://example.org/x?y=z#w",
    "null",
    "99999999999999999999999999",
    "İıſß",
];
const TIMES: [&str; 9] = [
    "2025-01-27T16:00:00.000Z",
    "2025-02-01T00:00:00Z",
    "2024-02-29T23:59:59.999+14:00",
    "9999-12-31T23:59:59.999Z",
    "0000-00-00T00:00:00Z",
    "+262143-12-31T23:59:59Z",
    "1969-12-31T23:59:59.999Z",
    "2025-01-27T24:00:00Z",
    "yesterday",
];
const DAYS: [&str; 7] =
    ["2025-01-27", "2024-02-29", "2025-02-29", "9999-12-31", "0000-01-01", "-0001-01-01", "x"];
const MAILS: [&str; 5] = ["ana@example.com", "new@example.org", "a@b", "@", "\u{f6}@\u{f6}.de"];
const URLS: [&str; 5] = [
    "https://example.org/a",
    "http://127.0.0.1/",
    "javascript:x",
    "https://",
    "http://[::1]:99999",
];
const JSONS: [&str; 5] = ["{}", "{\"a\":[1,null,\"x\"]}", "[[[[[[]]]]]]", "{", "\u{0}"];

#[derive(Debug)]
pub(crate) struct LiteralGenerator<'a> {
    pub(crate) grammar: &'a Grammar,
    pub(crate) value_pool: &'a ValuePool,
    /// Sometimes generate values of another type.
    pub(crate) mistakes: bool,
}

impl LiteralGenerator<'_> {
    /// Generates a value for an argument of this name and type.
    pub(crate) fn value(
        &self,
        bytes: &mut ByteChoices<'_>,
        name: &str,
        ty: &Type,
        depth: usize,
    ) -> Value {
        if ty.nullable && bytes.once_in(12) || bytes.once_in(60) && self.mistakes {
            return Value::Null;
        }
        if bytes.once_in(60) && self.mistakes {
            return unexpected_value(bytes);
        }
        match &ty.base {
            // A single value counts as a list of one.
            BaseType::List(inner) if bytes.once_in(15) => self.value(bytes, name, inner, depth + 1),
            BaseType::List(inner) => {
                let count = bytes.pick(4);
                Value::List((0..count).map(|_| self.value(bytes, name, inner, depth + 1)).collect())
            }
            BaseType::Named(ty) => self.named(bytes, name, ty, depth),
        }
    }

    fn named(&self, bytes: &mut ByteChoices<'_>, name: &str, ty: &str, depth: usize) -> Value {
        match self.grammar.shape(ty) {
            TypeShape::Enum(values) if bytes.once_in(30) && self.mistakes => {
                Value::from(bytes.choose(values).as_str())
            }
            TypeShape::Enum(values) => Value::Enum(Name::new(bytes.choose(values))),
            TypeShape::Input(fields) => {
                let mut object = IndexMap::new();
                for field in fields {
                    if (!field.ty.nullable || bytes.pick(3) == 1) && depth < 6 {
                        let value = self.value(bytes, &field.name, &field.ty, depth + 1);
                        object.insert(Name::new(&field.name), value);
                    }
                }
                Value::Object(object)
            }
            TypeShape::Scalar | TypeShape::Composite { .. } => self.scalar(bytes, name, ty),
        }
    }

    fn scalar(&self, bytes: &mut ByteChoices<'_>, name: &str, ty: &str) -> Value {
        let text = match ty {
            "Int" if !bytes.once_in(4) => return Value::from(1 + bytes.pick(5)),
            "Int" | "AWSTimestamp" => return Value::from(*bytes.choose(&NUMBERS)),
            "Float" if bytes.once_in(6) => return Value::from(3),
            "Float" => return Value::from(*bytes.choose(&[0.5, 0.0, -1.5, 1e308, 100.0])),
            "Boolean" => return Value::from(bytes.pick(2) == 0),
            "AWSDateTime" => bytes.choose(&TIMES),
            "AWSDate" => bytes.choose(&DAYS),
            "AWSEmail" => bytes.choose(&MAILS),
            "AWSURL" => bytes.choose(&URLS),
            "AWSJSON" => bytes.choose(&JSONS),
            "ID" if bytes.once_in(40) => return Value::from(bytes.pick(5)),
            "ID" => match self.value_pool.some_id(bytes) {
                Some(id) if !bytes.once_in(10) => return Value::from(id),
                _ => bytes.choose(&TEXTS),
            },
            _ if matches!(name, "nextToken" | "after") => {
                match self.value_pool.some_cursor(bytes) {
                    Some(cursor) if !bytes.once_in(10) => return Value::from(cursor),
                    _ => bytes.choose(&TEXTS),
                }
            }
            _ if bytes.pick(3) == 2 => match self.value_pool.some_id(bytes) {
                Some(id) => return Value::from(id),
                None => bytes.choose(&TEXTS),
            },
            _ if bytes.once_in(40) => return Value::from("long ".repeat(2_000)),
            _ => bytes.choose(&TEXTS),
        };
        Value::from(*text)
    }
}

/// Generates a value of a random type.
fn unexpected_value(bytes: &mut ByteChoices<'_>) -> Value {
    match bytes.pick(6) {
        0 => Value::from(*bytes.choose(&NUMBERS)),
        1 => Value::from(*bytes.choose(&TEXTS)),
        2 => Value::List(vec![Value::Null]),
        3 => Value::Object(IndexMap::new()),
        4 => Value::Enum(Name::new("NOTHING")),
        _ => Value::from(1.5),
    }
}
