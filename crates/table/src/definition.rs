//! What a table looks like: key attributes, indexes, time to live, stream.

use crate::limits::{self, Limit};
use crate::{Invalid, Item, Key, Kind, Scalar};

/// The type of a key attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// Text, ordered by its UTF-8 bytes.
    S,
    /// Numbers, ordered by value.
    N,
    /// Bytes, ordered unsigned.
    B,
}

impl KeyKind {
    /// The same as a value type.
    pub const fn kind(self) -> Kind {
        match self {
            Self::S => Kind::S,
            Self::N => Kind::N,
            Self::B => Kind::B,
        }
    }
}

/// One key attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyAttribute {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: KeyKind,
}

/// The key attributes of a table or an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDefinition {
    /// What items are gathered by.
    pub partition: KeyAttribute,
    /// What they are ordered by within a partition.
    pub sort: Option<KeyAttribute>,
}

impl KeyDefinition {
    /// A text partition key without a sort key.
    pub fn partition(name: impl Into<String>) -> Self {
        Self { partition: KeyAttribute { name: name.into(), kind: KeyKind::S }, sort: None }
    }

    /// Two text attributes: partition and sort.
    pub fn texts(partition: impl Into<String>, sort: impl Into<String>) -> Self {
        Self::partition(partition).sorted_by(sort, KeyKind::S)
    }

    /// This key with a sort attribute.
    pub fn sorted_by(mut self, name: impl Into<String>, kind: KeyKind) -> Self {
        self.sort = Some(KeyAttribute { name: name.into(), kind });
        self
    }

    /// The attributes, partition first.
    pub fn attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        std::iter::once(&self.partition).chain(&self.sort)
    }

    /// Whether `name` is one of the key attributes.
    pub fn names(&self, name: &str) -> bool {
        self.attributes().any(|attribute| attribute.name == name)
    }

    /// The key attributes of `key` as an item.
    pub fn item(&self, key: &Key) -> Item {
        let sort = self.sort.as_ref().zip(key.sort.clone());
        std::iter::once((self.partition.name.clone(), key.partition.clone()))
            .chain(sort.map(|(attribute, value)| (attribute.name.clone(), value)))
            .collect()
    }

    /// The key in `item` without checking anything; `None` when an attribute is absent.
    pub fn read(&self, item: &Item) -> Option<Key> {
        let partition = item.get(&self.partition.name)?.to_scalar()?;
        let sort = match &self.sort {
            Some(attribute) => Some(item.get(&attribute.name)?.to_scalar()?),
            None => None,
        };
        Some(Key { partition, sort })
    }

    /// Refuses a key whose parts are missing, of the wrong type, empty or too long.
    pub fn check(&self, key: &Key) -> Result<(), Invalid> {
        let shown = || key.to_string();
        check_part(&self.partition, &key.partition, true, shown)?;
        match (&self.sort, &key.sort) {
            (Some(attribute), Some(value)) => check_part(attribute, value, false, shown),
            (None, None) => Ok(()),
            (Some(attribute), None) => {
                Err(Invalid::KeyMissing { attribute: attribute.name.clone(), key: shown() })
            }
            (None, Some(_)) => Err(Invalid::KeyUnexpected { key: shown() }),
        }
    }
}

/// Refuses one key part of the wrong type, empty or too long.
pub(crate) fn check_part(
    attribute: &KeyAttribute,
    value: &Scalar,
    is_partition: bool,
    key: impl Fn() -> String,
) -> Result<(), Invalid> {
    if value.kind() != attribute.kind.kind() {
        return Err(Invalid::KeyType {
            attribute: attribute.name.clone(),
            expected: attribute.kind.kind(),
            found: value.kind(),
            key: key(),
        });
    }
    let (limit, max) = if is_partition {
        (Limit::PartitionKeyBytes, limits::PARTITION_KEY_BYTES_MAX)
    } else {
        (Limit::SortKeyBytes, limits::SORT_KEY_BYTES_MAX)
    };
    match value.stored_bytes() {
        0 => Err(Invalid::KeyEmpty { attribute: attribute.name.clone(), key: key() }),
        actual if actual > max => Err(Invalid::OverLimit { limit, actual, max, subject: key() }),
        _ => Ok(()),
    }
}

/// Which attributes an index carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IndexProjection {
    /// All of them.
    #[default]
    All,
    /// Only the keys of the index and of the table.
    KeysOnly,
    /// The keys and these.
    Include(Vec<String>),
}

/// A sparse secondary index: it holds the items that carry its key attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDefinition {
    /// Its name.
    pub name: String,
    /// Its key attributes.
    pub key: KeyDefinition,
    /// What it carries.
    pub projection: IndexProjection,
}

impl IndexDefinition {
    /// The key under which `item` stands in this index: `None` when it does not; an error when it
    /// carries the attribute but with a value no index key may have.
    pub fn key_of(&self, item: &Item) -> Result<Option<Key>, Invalid> {
        let mut parts = Vec::with_capacity(2);
        for attribute in self.key.attributes() {
            let Some(value) = item.get(&attribute.name) else {
                return Ok(None);
            };
            let Some(scalar) = value.to_scalar() else {
                return Err(self.not_a_key(attribute, value.kind()));
            };
            parts.push(scalar);
        }
        let mut parts = parts.into_iter();
        let Some(partition) = parts.next() else {
            return Ok(None);
        };
        Ok(Some(Key { partition, sort: parts.next() }))
    }

    fn not_a_key(&self, attribute: &KeyAttribute, found: Kind) -> Invalid {
        Invalid::IndexKey {
            index: self.name.clone(),
            source: Box::new(Invalid::KeyType {
                attribute: attribute.name.clone(),
                expected: attribute.kind.kind(),
                found,
                key: String::from("of the item written"),
            }),
        }
    }

    /// Refuses an item whose attributes cannot be keys of this index.
    pub fn check(&self, item: &Item) -> Result<(), Invalid> {
        for (position, attribute) in self.key.attributes().enumerate() {
            let Some(value) = item.get(&attribute.name) else {
                continue;
            };
            let Some(scalar) = value.to_scalar() else {
                return Err(self.not_a_key(attribute, value.kind()));
            };
            check_part(attribute, &scalar, position == 0, || scalar.to_string()).map_err(
                |source| Invalid::IndexKey { index: self.name.clone(), source: Box::new(source) },
            )?;
        }
        Ok(())
    }
}

/// A table's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDefinition {
    /// Its name.
    pub name: String,
    /// Its primary key.
    pub key: KeyDefinition,
    /// Its indexes.
    pub indexes: Vec<IndexDefinition>,
    /// The attribute holding the second from which on an item is expired; a fraction counts.
    pub ttl: Option<String>,
    /// Whether its changes can be read as a stream of old and new images.
    pub stream: bool,
}

impl TableDefinition {
    /// A table without indexes, expiry or stream.
    pub fn new(name: impl Into<String>, key: KeyDefinition) -> Self {
        Self { name: name.into(), key, indexes: Vec::new(), ttl: None, stream: false }
    }

    /// This table with one more index that carries everything.
    pub fn with_index(self, name: impl Into<String>, key: KeyDefinition) -> Self {
        self.with_index_of(name, key, IndexProjection::All)
    }

    /// This table with one more index.
    pub fn with_index_of(
        mut self,
        name: impl Into<String>,
        key: KeyDefinition,
        projection: IndexProjection,
    ) -> Self {
        self.indexes.push(IndexDefinition { name: name.into(), key, projection });
        self
    }

    /// This table with items expiring at the second in `attribute`.
    pub fn with_ttl(mut self, attribute: impl Into<String>) -> Self {
        self.ttl = Some(attribute.into());
        self
    }

    /// This table with a stream.
    pub fn with_stream(mut self) -> Self {
        self.stream = true;
        self
    }

    /// The index called `name`.
    pub fn index(&self, name: &str) -> Result<&IndexDefinition, Invalid> {
        self.indexes.iter().find(|index| index.name == name).ok_or_else(|| Invalid::NoSuchIndex {
            table: self.name.clone(),
            index: name.to_owned(),
        })
    }

    /// The key definition of an index, or of the table itself.
    pub fn key_of(&self, index: Option<&str>) -> Result<&KeyDefinition, Invalid> {
        index.map_or(Ok(&self.key), |name| self.index(name).map(|index| &index.key))
    }

    /// The names of the attributes that an index carries, or `None` for all of them.
    pub fn projected(&self, index: &IndexDefinition) -> Option<Vec<String>> {
        let extra: &[String] = match &index.projection {
            IndexProjection::All => return None,
            IndexProjection::KeysOnly => &[],
            IndexProjection::Include(names) => names,
        };
        let keys = self.key.attributes().chain(index.key.attributes());
        Some(keys.map(|attribute| attribute.name.clone()).chain(extra.iter().cloned()).collect())
    }

    /// The first whole second at which `item` is expired, if it ever is. Anything but a
    /// non-negative number never expires.
    pub fn expires_at(&self, item: &Item) -> Option<u64> {
        item.number(self.ttl.as_deref()?)?.ceil_to_u64()
    }

    /// Whether `item` is past its time at the second `now`.
    pub fn is_expired(&self, item: &Item, now_seconds: u64) -> bool {
        self.expires_at(item).is_some_and(|at| at <= now_seconds)
    }

    /// Refuses a definition DynamoDB would not create.
    pub fn check(&self) -> Result<(), Invalid> {
        check_name(&self.name)?;
        if self.indexes.len() > limits::INDEXES_MAX {
            return Err(Invalid::OverLimit {
                limit: Limit::Indexes,
                actual: self.indexes.len(),
                max: limits::INDEXES_MAX,
                subject: self.name.clone(),
            });
        }
        self.check_included()?;
        for (at, index) in self.indexes.iter().enumerate() {
            check_name(&index.name)?;
            if self.indexes.iter().take(at).any(|earlier| earlier.name == index.name) {
                return Err(Invalid::IndexTwice { index: index.name.clone() });
            }
        }
        let keys = || std::iter::once(&self.key).chain(self.indexes.iter().map(|i| &i.key));
        for attribute in keys().flat_map(KeyDefinition::attributes) {
            if attribute.name.is_empty() || attribute.name.len() > limits::KEY_NAME_BYTES_MAX {
                return Err(Invalid::OverLimit {
                    limit: Limit::NameBytes,
                    actual: attribute.name.len(),
                    max: limits::KEY_NAME_BYTES_MAX,
                    subject: attribute.name.clone(),
                });
            }
            let clash = keys()
                .flat_map(KeyDefinition::attributes)
                .any(|other| other.name == attribute.name && other.kind != attribute.kind);
            if clash {
                return Err(Invalid::KeyKindClash { attribute: attribute.name.clone() });
            }
        }
        for key in keys() {
            if key.sort.as_ref().is_some_and(|sort| sort.name == key.partition.name) {
                return Err(Invalid::KeyKindClash { attribute: key.partition.name.clone() });
            }
        }
        Ok(())
    }

    fn check_included(&self) -> Result<(), Invalid> {
        let ttl = self.ttl.as_deref();
        let actual = self.indexes.iter().map(|index| included(index, ttl)).sum();
        let max = limits::INCLUDED_ATTRIBUTES_MAX;
        if actual <= max {
            return Ok(());
        }
        let (limit, subject) = (Limit::IncludedAttributes, self.name.clone());
        Err(Invalid::OverLimit { limit, actual, max, subject })
    }
}

/// How many attributes an index includes beside its keys, the ttl among them.
fn included(index: &IndexDefinition, ttl: Option<&str>) -> usize {
    let names: &[String] = match &index.projection {
        IndexProjection::All => return 0,
        IndexProjection::KeysOnly => &[],
        IndexProjection::Include(names) => names,
    };
    names.len() + usize::from(ttl.is_some_and(|ttl| !names.iter().any(|name| name == ttl)))
}

fn check_name(name: &str) -> Result<(), Invalid> {
    let lengths = limits::TABLE_NAME_BYTES_MIN..=limits::TABLE_NAME_BYTES_MAX;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if lengths.contains(&name.len()) && name.chars().all(plain) {
        Ok(())
    } else {
        Err(Invalid::Name { name: name.to_owned() })
    }
}
