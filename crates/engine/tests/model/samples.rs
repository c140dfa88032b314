//! Sample data for random scripts: keys with edge cases, a few schemas, small values.

use bytes::Bytes;
use rand::Rng;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use roundtable_table::{
    IndexProjection, Item, Key, KeyAttribute, KeyDefinition, KeyKind, Number, Scalar,
    TableDefinition, Value,
};

/// Start time of every script.
pub(crate) const START_MS: u64 = 1_700_000_000_000;

pub(crate) fn pick<'a, T>(rng: &mut SmallRng, options: &'a [T]) -> &'a T {
    options.choose(rng).unwrap()
}

fn key(name: &str, kind: KeyKind) -> KeyDefinition {
    KeyDefinition { partition: KeyAttribute { name: name.to_owned(), kind }, sort: None }
}

/// The schemas of tables. An attribute has the same type in all of them.
pub(crate) fn schemas(name: &str) -> Vec<TableDefinition> {
    let include = |names: &[&str]| {
        IndexProjection::Include(names.iter().map(|name| String::from(*name)).collect())
    };
    let table = |key: KeyDefinition| TableDefinition::new(name, key);
    vec![
        table(KeyDefinition::texts("pk", "sk"))
            .with_index("turned", KeyDefinition::texts("sk", "pk"))
            .with_index_of(
                "by_ns",
                key("t", KeyKind::S).sorted_by("ns", KeyKind::N),
                IndexProjection::KeysOnly,
            )
            .with_index_of("by_t", key("t", KeyKind::S), include(&["n", "map"]))
            .with_ttl("ttl")
            .with_stream(),
        table(key("bp", KeyKind::B).sorted_by("bs", KeyKind::B))
            .with_index_of(
                "turned",
                key("bs", KeyKind::B).sorted_by("bp", KeyKind::B),
                IndexProjection::KeysOnly,
            )
            .with_index("by_bs", key("t", KeyKind::S).sorted_by("bs", KeyKind::B))
            .with_stream(),
        table(key("pk", KeyKind::S).sorted_by("ns", KeyKind::N))
            .with_index_of(
                "by_bs",
                key("t", KeyKind::S).sorted_by("bs", KeyKind::B),
                include(&["set"]),
            )
            .with_index("by_n", key("n", KeyKind::N).sorted_by("sk", KeyKind::S))
            .with_ttl("ttl")
            .with_stream(),
        table(key("np", KeyKind::N))
            .with_index_of("by_t", key("t", KeyKind::S), IndexProjection::KeysOnly)
            .with_index("by_sk", KeyDefinition::texts("t", "sk"))
            .with_ttl("ttl"),
        table(KeyDefinition::texts("pk", "sk"))
            .with_index_of("by_sk", KeyDefinition::texts("t", "sk"), include(&["list", "ttl"]))
            .with_ttl("ttl")
            .with_stream(),
        table(KeyDefinition::partition("pk")).with_stream(),
    ]
}

/// Values that are invalid in keys.
fn wrong_values(name: &str) -> Vec<Scalar> {
    match name {
        "pk" => vec![Scalar::from(""), Scalar::from("x".repeat(2049))],
        "sk" | "t" => vec![Scalar::from(""), Scalar::from("x".repeat(1025))],
        "bp" | "bs" => vec![Scalar::from(vec![]), Scalar::from(vec![0; 1025])],
        _ => vec![Scalar::from("not a number")],
    }
}

/// Valid values of a key attribute.
fn key_values(name: &str) -> Vec<Scalar> {
    let texts = |values: &[&str]| values.iter().map(|text| Scalar::from(*text)).collect::<Vec<_>>();
    let long = |len: usize, last: &str| Scalar::from("x".repeat(len - last.len()) + last);
    let blob = |bytes: &[u8]| Scalar::B(Bytes::copy_from_slice(bytes));
    match name {
        "pk" => {
            let mut all = texts(&["a", "a", "ab", "a\0", "é", "\u{10ffff}", "#"]);
            all.extend([long(254, ""), long(255, ""), long(256, ""), long(1024, "")]);
            all.extend([long(2048, ""), long(2048, "y"), long(2047, "")]);
            all
        }
        "sk" => {
            let mut all =
                texts(&["a", "a\0", "a\0\0", "a\0b", "aa", "a\u{1}", "b", "é", "\u{ffff}"]);
            all.extend([long(255, ""), long(1024, ""), long(1024, "\0"), long(1023, "")]);
            all
        }
        "t" => texts(&["a", "b", "ab", "long\0", "日本"]),
        "bp" | "bs" => {
            let mut all: Vec<Scalar> = [
                &[0][..],
                &[0, 0],
                &[0, 1],
                &[0, 255],
                &[1],
                &[1, 0],
                &[1, 0, 0],
                &[1, 0, 1],
                &[255],
                &[255, 255],
                &[255, 0],
            ]
            .map(blob)
            .into();
            for zeros in [126, 127, 252, 255, 1024] {
                all.push(blob(&vec![0; zeros]));
            }
            let alternating: Vec<u8> = (0..1024).map(|at| u8::from(at % 2 == 1)).collect();
            all.extend([blob(&alternating), blob(&[255; 1024])]);
            all.push(blob(&[&[0; 127][..], &[1]].concat()));
            all
        }
        _ => numbers(),
    }
}

fn numbers() -> Vec<Scalar> {
    let digits = [
        "0",
        "1",
        "-1",
        "0.5",
        "-0.5",
        "-0.05",
        "9",
        "10",
        "100",
        "-10",
        "1.5",
        "1.05",
        "1e125",
        "-1e125",
        "1e-130",
        "-1e-130",
        "12345678901234567890123456789012345678",
        "-0.12345678901234567890123456789012345678",
    ];
    digits.iter().map(|digits| Scalar::N(digits.parse::<Number>().unwrap())).collect()
}

/// The few values a script uses for each key attribute, so that it often hits the same items.
#[derive(Debug)]
pub(crate) struct Samples(Vec<(&'static str, Vec<Scalar>)>);

impl Samples {
    pub(crate) fn choose(rng: &mut SmallRng) -> Self {
        let names = ["pk", "sk", "t", "bp", "bs", "np", "ns", "n"];
        let mut few = |name: &&'static str| {
            let is_partition = ["pk", "bp", "t"].contains(name);
            let count = rng.random_range(if is_partition { 1..=3 } else { 2..=5 });
            let all = key_values(name);
            (*name, (0..count).map(|_| pick(rng, &all).clone()).collect())
        };
        Self(names.iter().map(&mut few).collect())
    }

    /// A value of the key attribute `name`.
    pub(crate) fn value(&self, rng: &mut SmallRng, name: &str) -> Scalar {
        // Sometimes a value that the script does not usually use, or an invalid one.
        match rng.random_range(0..100) {
            0 => return pick(rng, &wrong_values(name)).clone(),
            1..4 => return pick(rng, &key_values(name)).clone(),
            _ => {}
        }
        let (_, values) = self.0.iter().find(|(known, _)| *known == name).unwrap();
        pick(rng, values).clone()
    }

    /// Every value of the key attribute `name`, each once.
    pub(crate) fn values(&self, name: &str) -> Vec<Scalar> {
        let mut all: Vec<Scalar> = Vec::new();
        for value in self.0.iter().filter(|(known, _)| *known == name).flat_map(|(_, all)| all) {
            if !all.contains(value) {
                all.push(value.clone());
            }
        }
        all
    }

    pub(crate) fn key(&self, rng: &mut SmallRng, definition: &KeyDefinition) -> Key {
        let partition = self.value(rng, &definition.partition.name);
        let sort = definition.sort.as_ref().map(|sort| self.value(rng, &sort.name));
        Key { partition, sort }
    }

    /// A value for the attribute `name`, mostly of the type it should have.
    pub(crate) fn attribute(&self, rng: &mut SmallRng, name: &str) -> Value {
        if rng.random_bool(0.02) {
            return pick(rng, &[Value::Null, Value::from(7), Value::from("odd")]).clone();
        }
        let letters = ["x", "y", "z"];
        let three = |rng: &mut SmallRng| Value::from(rng.random_range(0..3));
        match name {
            "ttl" => ttl(rng),
            "set" if rng.random_bool(0.2) => Value::numbers([1, 2, rng.random_range(0..4)]),
            "set" => Value::texts([*pick(rng, &letters), *pick(rng, &letters)]),
            "list" => {
                let len = rng.random_range(0..4);
                Value::list((0..len).map(|_| three(rng)))
            }
            "map" => Value::map([("a", three(rng)), ("b", Value::list([three(rng)]))]),
            "flag" => Value::from(rng.random_bool(0.5)),
            "pad" => Value::from("-".repeat(rng.random_range(0..5000))),
            _ => self.value(rng, name).into(),
        }
    }

    /// An item of a table: its key, some of its index keys, some other attributes.
    pub(crate) fn item(&self, rng: &mut SmallRng, definition: &TableDefinition) -> Item {
        let key = self.key(rng, &definition.key);
        let mut item = definition.key.item(&key).to_attributes();
        for name in attributes_of(definition) {
            let often = match name.as_str() {
                "ttl" => 0.4,
                _ if is_index_key(definition, &name) => 0.7,
                _ => 0.2,
            };
            if !definition.key.contains(&name) && rng.random_bool(often) {
                let value = self.attribute(rng, &name);
                item.insert(name, value);
            }
        }
        Item::from(item)
    }
}

fn is_index_key(definition: &TableDefinition, name: &str) -> bool {
    definition.indexes.iter().any(|index| index.key.contains(name))
}

/// The attributes that items of a table can have besides its key.
pub(crate) fn attributes_of(definition: &TableDefinition) -> Vec<String> {
    let plain = ["n", "set", "list", "map", "flag", "pad", "ttl"].map(String::from);
    let keys = definition.indexes.iter().flat_map(|index| index.key.attributes());
    let mut all: Vec<String> = keys.map(|attribute| attribute.name.clone()).chain(plain).collect();
    all.sort();
    all.dedup();
    all.retain(|name| !definition.key.contains(name));
    all
}

/// A ttl: past, soon, never, or invalid.
fn ttl(rng: &mut SmallRng) -> Value {
    let now = START_MS / 1000;
    match rng.random_range(0..12) {
        0 => Value::from(u64::MAX),
        1 => Value::from(1u64),
        2 => Value::N("1700000000.5".parse().unwrap()),
        3 => Value::from(-5),
        _ => Value::from(now + rng.random_range(0..300) - 20),
    }
}
