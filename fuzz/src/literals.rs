//! Values to be given: mostly such as are expected, sometimes at the edge of it, sometimes beyond.

use async_graphql::indexmap::IndexMap;
use async_graphql::parser::types::{BaseType, Type};
use async_graphql::{Name, Value};

use crate::bytes::Bytes;
use crate::grammar::{Grammar, Kind};
use crate::pool::Pool;

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

/// What values are made with.
#[derive(Debug)]
pub(crate) struct Literals<'a> {
    pub(crate) grammar: &'a Grammar,
    pub(crate) pool: &'a Pool,
}

impl Literals<'_> {
    /// A value for something of this name and type.
    pub(crate) fn of(&self, bytes: &mut Bytes<'_>, name: &str, ty: &Type, deep: usize) -> Value {
        if ty.nullable && bytes.once_in(12) || bytes.once_in(60) {
            return Value::Null;
        }
        if bytes.once_in(60) {
            return odd(bytes);
        }
        match &ty.base {
            BaseType::List(inner) => {
                let count = bytes.pick(4);
                Value::List((0..count).map(|_| self.of(bytes, name, inner, deep + 1)).collect())
            }
            BaseType::Named(of) => self.named(bytes, name, of, deep),
        }
    }

    fn named(&self, bytes: &mut Bytes<'_>, name: &str, of: &str, deep: usize) -> Value {
        match self.grammar.kind(of) {
            Kind::Words(words) => Value::Enum(Name::new(bytes.of(words))),
            Kind::Input(fields) => {
                let mut object = IndexMap::new();
                for field in fields {
                    if (!field.ty.nullable || bytes.pick(3) == 1) && deep < 6 {
                        let value = self.of(bytes, &field.name, &field.ty, deep + 1);
                        object.insert(Name::new(&field.name), value);
                    }
                }
                Value::Object(object)
            }
            Kind::Scalar | Kind::Composite { .. } => self.scalar(bytes, name, of),
        }
    }

    fn scalar(&self, bytes: &mut Bytes<'_>, name: &str, of: &str) -> Value {
        let text = match of {
            "Int" if !bytes.once_in(4) => return Value::from(1 + bytes.pick(5)),
            "Int" | "AWSTimestamp" => return Value::from(*bytes.of(&NUMBERS)),
            "Float" => return Value::from(*bytes.of(&[0.5, 0.0, -1.5, 1e308, 100.0])),
            "Boolean" => return Value::from(bytes.pick(2) == 0),
            "AWSDateTime" => bytes.of(&TIMES),
            "AWSDate" => bytes.of(&DAYS),
            "AWSEmail" => bytes.of(&MAILS),
            "AWSURL" => bytes.of(&URLS),
            "AWSJSON" => bytes.of(&JSONS),
            "ID" => match self.pool.some_id(bytes) {
                Some(id) if !bytes.once_in(10) => return Value::from(id),
                _ => bytes.of(&TEXTS),
            },
            _ if matches!(name, "nextToken" | "after") => match self.pool.some_cursor(bytes) {
                Some(cursor) if !bytes.once_in(10) => return Value::from(cursor),
                _ => bytes.of(&TEXTS),
            },
            _ if bytes.pick(3) == 2 => match self.pool.some_id(bytes) {
                Some(id) => return Value::from(id),
                None => bytes.of(&TEXTS),
            },
            _ if bytes.once_in(40) => return Value::from("long ".repeat(2_000)),
            _ => bytes.of(&TEXTS),
        };
        Value::from(*text)
    }
}

/// Something that nobody expects.
fn odd(bytes: &mut Bytes<'_>) -> Value {
    match bytes.pick(6) {
        0 => Value::from(*bytes.of(&NUMBERS)),
        1 => Value::from(*bytes.of(&TEXTS)),
        2 => Value::List(vec![Value::Null]),
        3 => Value::Object(IndexMap::new()),
        4 => Value::Enum(Name::new("NOTHING")),
        _ => Value::from(1.5),
    }
}
