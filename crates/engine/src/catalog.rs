//! The tables of a data directory, and how their definitions are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use roundtable_table::{
    Attributes, Error, IndexDefinition, IndexProjection, Item, KeyAttribute, KeyDefinition,
    KeyKind, Result, TableDefinition, Value,
};

use crate::record::Row;

/// Rows of the engine itself stand under table number 0, told apart by the third byte.
const ROW_TABLE: u8 = 1;
const ROW_TOKEN: u8 = 2;
const ROW_HOLD: u8 = 3;
/// The value of a table's row once it is gone with everything it held.
const RECLAIMED: &[u8] = &[1];
static EMPTY: Bytes = Bytes::new();

/// A table and its number. Numbers are never used again.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) number: u16,
    pub(crate) definition: TableDefinition,
}

/// All tables, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    tables: BTreeMap<String, Arc<Entry>>,
    numbers: BTreeMap<u16, Arc<Entry>>,
    last_number: u16,
    /// Tables that are gone, but not yet everything they held.
    unreclaimed: BTreeSet<u16>,
}

impl Catalog {
    pub(crate) fn get(&self, name: &str) -> Result<&Arc<Entry>> {
        self.tables.get(name).ok_or_else(|| Error::TableMissing { table: name.to_owned() })
    }

    pub(crate) fn by_number(&self, number: u16) -> Option<&Arc<Entry>> {
        self.numbers.get(&number)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.tables.keys().cloned().collect()
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.tables.values()
    }

    /// The numbers of tables that are gone and left something.
    pub(crate) fn unreclaimed(&self) -> impl Iterator<Item = u16> {
        self.unreclaimed.iter().copied()
    }

    /// The number the next table gets.
    pub(crate) fn next_number(&self) -> Result<u16> {
        self.last_number.checked_add(1).ok_or_else(|| Error::Unexpected {
            detail: String::from("65,535 tables were made in this directory; export to a new one"),
        })
    }

    /// Takes up a row of the engine, if it is about a table.
    pub(crate) fn absorb(&mut self, (key, value): &Row) -> Result<()> {
        let Some(number) = number_of(key) else { return Ok(()) };
        self.last_number = self.last_number.max(number);
        if let Some(gone) = self.numbers.remove(&number) {
            self.tables.remove(&gone.definition.name);
        }
        self.unreclaimed.remove(&number);
        // The row of a table that is gone stays, so that its number is not given again.
        let value = match value.as_deref() {
            None | Some(RECLAIMED) => return Ok(()),
            Some([]) => {
                self.unreclaimed.insert(number);
                return Ok(());
            }
            Some(_) => value.as_ref().unwrap_or(&EMPTY),
        };
        let definition = decode(value).ok_or_else(|| Error::Damaged {
            place: format!("the definition of table {number}"),
            detail: String::from("it cannot be read"),
        })?;
        let entry = Arc::new(Entry { number, definition });
        self.tables.insert(entry.definition.name.clone(), Arc::clone(&entry));
        self.numbers.insert(number, entry);
        Ok(())
    }
}

/// The start of all rows of the engine.
pub(crate) fn all_rows() -> Vec<u8> {
    vec![0, 0]
}

fn row_key(kind: u8, rest: &[u8]) -> Bytes {
    [&[0, 0, kind], rest].concat().into()
}

fn number_of(key: &[u8]) -> Option<u16> {
    match key {
        [0, 0, ROW_TABLE, high, low] => Some(u16::from_be_bytes([*high, *low])),
        _ => None,
    }
}

/// The row that keeps a table's definition, or marks it gone.
pub(crate) fn table_row(number: u16, definition: Option<&TableDefinition>) -> Row {
    let value = definition.map_or_else(Bytes::new, encode);
    (row_key(ROW_TABLE, &number.to_be_bytes()), Some(value))
}

/// The row of a table that is gone with everything it held.
pub(crate) fn reclaimed_row(number: u16) -> Row {
    (row_key(ROW_TABLE, &number.to_be_bytes()), Some(Bytes::from_static(RECLAIMED)))
}

/// The key of the row that remembers a transaction's token.
pub(crate) fn token_key(token: &str) -> Bytes {
    row_key(ROW_TOKEN, token.as_bytes())
}

/// The start of the rows that remember tokens.
pub(crate) fn all_tokens() -> Vec<u8> {
    vec![0, 0, ROW_TOKEN]
}

/// The key of the row that holds the log for a consumer of the stream.
pub(crate) fn hold_key(consumer: &str) -> Bytes {
    row_key(ROW_HOLD, consumer.as_bytes())
}

/// The consumer and sequence of a hold's row, if it is one.
pub(crate) fn hold_of((key, value): &Row) -> Option<(String, Option<u64>)> {
    let consumer = key.strip_prefix(&[0, 0, ROW_HOLD])?;
    let sequence = value.as_ref().and_then(|value| value.first_chunk()).copied();
    Some((String::from_utf8_lossy(consumer).into_owned(), sequence.map(u64::from_le_bytes)))
}

/// A definition as an item, so that it has the same self-describing form as everything else.
fn encode(definition: &TableDefinition) -> Bytes {
    let indexes = definition.indexes.iter().map(|index| {
        let include = match &index.projection {
            IndexProjection::All => Value::Bool(true),
            IndexProjection::KeysOnly => Value::Bool(false),
            IndexProjection::Include(names) => Value::list(names),
        };
        Value::map([
            ("name", Value::from(&index.name)),
            ("key", encode_key(&index.key)),
            ("projection", include),
        ])
    });
    let mut attributes = Attributes::from([
        (String::from("name"), Value::from(&definition.name)),
        (String::from("key"), encode_key(&definition.key)),
        (String::from("indexes"), Value::L(indexes.collect())),
        (String::from("stream"), Value::Bool(definition.stream)),
    ]);
    if let Some(ttl) = &definition.ttl {
        attributes.insert(String::from("ttl"), Value::from(ttl));
    }
    Item::from(attributes).as_stored().clone()
}

fn encode_key(key: &KeyDefinition) -> Value {
    Value::list(key.attributes().flat_map(|attribute| {
        [attribute.name.as_str(), attribute.kind.kind().name()].map(Value::from)
    }))
}

fn decode(stored: &Bytes) -> Option<TableDefinition> {
    let attributes = Item::from_stored(stored.clone())?.to_attributes();
    let Value::L(indexes) = attributes.get("indexes")? else { return None };
    let indexes = indexes.iter().map(|index| {
        let Value::M(index) = index else { return None };
        let projection = match index.get("projection")? {
            Value::Bool(true) => IndexProjection::All,
            Value::Bool(false) => IndexProjection::KeysOnly,
            Value::L(names) => IndexProjection::Include(
                names
                    .iter()
                    .map(|name| name.as_text().map(str::to_owned))
                    .collect::<Option<_>>()?,
            ),
            _ => return None,
        };
        let name = index.get("name")?.as_text()?.to_owned();
        Some(IndexDefinition { name, key: decode_key(index.get("key")?)?, projection })
    });
    Some(TableDefinition {
        name: attributes.get("name")?.as_text()?.to_owned(),
        key: decode_key(attributes.get("key")?)?,
        indexes: indexes.collect::<Option<_>>()?,
        ttl: attributes.get("ttl").and_then(Value::as_text).map(str::to_owned),
        stream: matches!(attributes.get("stream")?, Value::Bool(true)),
    })
}

fn decode_key(value: &Value) -> Option<KeyDefinition> {
    let Value::L(parts) = value else { return None };
    let mut attributes = parts.chunks_exact(2).map(|pair| {
        let [name, kind] = pair else { return None };
        let kind = match kind.as_text()? {
            "S" => KeyKind::S,
            "N" => KeyKind::N,
            "B" => KeyKind::B,
            _ => return None,
        };
        Some(KeyAttribute { name: name.as_text()?.to_owned(), kind })
    });
    let partition = attributes.next()??;
    let sort = match attributes.next() {
        Some(sort) => Some(sort?),
        None => None,
    };
    Some(KeyDefinition { partition, sort })
}
