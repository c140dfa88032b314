//! The tables of a data directory, and the rows that store their definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use roundtable_table::{
    Attributes, Error, IndexDefinition, IndexProjection, Item, KeyAttribute, KeyDefinition,
    KeyKind, Result, SortOrder, TableDefinition, Value,
};

use crate::record::EngineRow;

/// Engine rows are stored under table number 0; the third byte is their kind.
const ROW_TABLE: u8 = 1;
const ROW_TOKEN: u8 = 2;
const ROW_HOLD: u8 = 3;
/// The value of a table's row once the table and all its data are deleted.
const RECLAIMED: &[u8] = &[1];
static EMPTY: Bytes = Bytes::new();

/// A table and its number. Numbers are never reused.
#[derive(Debug)]
pub(crate) struct TableEntry {
    pub(crate) number: u16,
    pub(crate) definition: TableDefinition,
    /// False while items from before the table had an order are being added to it.
    pub(crate) is_ordered: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    tables: BTreeMap<String, Arc<TableEntry>>,
    numbers: BTreeMap<u16, Arc<TableEntry>>,
    last_number: u16,
    /// Deleted tables whose data is not yet fully removed.
    unreclaimed: BTreeSet<u16>,
}

impl Catalog {
    pub(crate) fn get(&self, name: &str) -> Result<&Arc<TableEntry>> {
        self.tables.get(name).ok_or_else(|| Error::TableNotFound { table: name.to_owned() })
    }

    pub(crate) fn by_number(&self, number: u16) -> Option<&Arc<TableEntry>> {
        self.numbers.get(&number)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.tables.keys().cloned().collect()
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<TableEntry>> {
        self.tables.values()
    }

    /// Returns whether a table has an order.
    pub(crate) fn has_order(&self) -> bool {
        self.tables().any(|entry| entry.definition.order.is_some())
    }

    /// Returns the numbers of deleted tables whose data is not yet fully removed.
    pub(crate) fn unreclaimed(&self) -> impl Iterator<Item = u16> {
        self.unreclaimed.iter().copied()
    }

    pub(crate) fn next_number(&self) -> Result<u16> {
        self.last_number.checked_add(1).ok_or_else(|| Error::Unexpected {
            detail: String::from("this directory has had 65,535 tables; export to a new one"),
        })
    }

    /// Applies an engine row, if it describes a table.
    pub(crate) fn apply_row(&mut self, (key, value): &EngineRow) -> Result<()> {
        let Some(number) = number_of(key) else { return Ok(()) };
        self.last_number = self.last_number.max(number);
        if let Some(replaced) = self.numbers.remove(&number) {
            self.tables.remove(&replaced.definition.name);
        }
        self.unreclaimed.remove(&number);
        // The row of a deleted table stays, so that its number is not reused.
        let value = match value.as_deref() {
            None | Some(RECLAIMED) => return Ok(()),
            Some([]) => {
                self.unreclaimed.insert(number);
                return Ok(());
            }
            Some(_) => value.as_ref().unwrap_or(&EMPTY),
        };
        let (definition, is_ordered) = decode(value).ok_or_else(|| Error::Damaged {
            location: format!("the definition of table {number}"),
            detail: String::from("it cannot be read"),
        })?;
        let entry = Arc::new(TableEntry { number, definition, is_ordered });
        self.tables.insert(entry.definition.name.clone(), Arc::clone(&entry));
        self.numbers.insert(number, entry);
        Ok(())
    }
}

/// Returns the key prefix of all engine rows.
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

/// Returns the row that stores a table's definition. `is_ordered` says whether all items that belong
/// into its order are there.
pub(crate) fn table_row(number: u16, definition: &TableDefinition, is_ordered: bool) -> EngineRow {
    (row_key(ROW_TABLE, &number.to_be_bytes()), Some(encode(definition, is_ordered)))
}

/// Returns the row that marks a table as deleted.
pub(crate) fn deleted_row(number: u16) -> EngineRow {
    (row_key(ROW_TABLE, &number.to_be_bytes()), Some(Bytes::new()))
}

/// Returns the row of a deleted table whose data is fully removed.
pub(crate) fn reclaimed_row(number: u16) -> EngineRow {
    (row_key(ROW_TABLE, &number.to_be_bytes()), Some(Bytes::from_static(RECLAIMED)))
}

/// Returns the key of a transaction token's row.
pub(crate) fn token_key(token: &str) -> Bytes {
    row_key(ROW_TOKEN, token.as_bytes())
}

/// Returns the key prefix of all token rows.
pub(crate) fn all_tokens() -> Vec<u8> {
    vec![0, 0, ROW_TOKEN]
}

/// Returns the key of the row that holds the log for a consumer of the stream.
pub(crate) fn hold_key(consumer: &str) -> Bytes {
    row_key(ROW_HOLD, consumer.as_bytes())
}

/// Reads the consumer and sequence of a hold's row; `None` for other rows.
pub(crate) fn hold_of((key, value): &EngineRow) -> Option<(String, Option<u64>)> {
    let consumer = key.strip_prefix(&[0, 0, ROW_HOLD])?;
    let sequence = value.as_ref().and_then(|value| value.first_chunk()).copied();
    Some((String::from_utf8_lossy(consumer).into_owned(), sequence.map(u64::from_le_bytes)))
}

/// Encodes a definition as an item, which is self-describing.
fn encode(definition: &TableDefinition, is_ordered: bool) -> Bytes {
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
    if let Some(order) = &definition.order {
        let order = [
            ("partitions", Value::from(&order.partition_prefix)),
            ("sorts", Value::from(&order.sort_prefix)),
            ("complete", Value::Bool(is_ordered)),
        ];
        attributes.insert(String::from("order"), Value::map(order));
    }
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

fn decode(stored: &Bytes) -> Option<(TableDefinition, bool)> {
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
    let (order, is_ordered) = match attributes.get("order") {
        Some(Value::M(order)) => {
            let text = |name| Some(order.get(name)?.as_text()?.to_owned());
            let (partition_prefix, sort_prefix) = (text("partitions")?, text("sorts")?);
            let is_complete = matches!(order.get("complete")?, Value::Bool(true));
            (Some(SortOrder { partition_prefix, sort_prefix }), is_complete)
        }
        Some(_) => return None,
        None => (None, false),
    };
    let definition = TableDefinition {
        name: attributes.get("name")?.as_text()?.to_owned(),
        key: decode_key(attributes.get("key")?)?,
        indexes: indexes.collect::<Option<_>>()?,
        order,
        ttl: attributes.get("ttl").and_then(Value::as_text).map(str::to_owned),
        stream: matches!(attributes.get("stream")?, Value::Bool(true)),
    };
    Some((definition, is_ordered))
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
