//! Table definitions: key attributes, indexes, time to live, stream.

use crate::limits::{self, Limit};
use crate::{Invalid, Item, Key, Scalar, ValueKind};

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
    /// Returns the same type as a [`ValueKind`].
    pub const fn kind(self) -> ValueKind {
        match self {
            Self::S => ValueKind::S,
            Self::N => ValueKind::N,
            Self::B => ValueKind::B,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyAttribute {
    pub name: String,
    pub kind: KeyKind,
}

/// The key attributes of a table or an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDefinition {
    pub partition: KeyAttribute,
    /// Orders the items of a partition.
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

    /// Adds a sort attribute.
    pub fn sorted_by(mut self, name: impl Into<String>, kind: KeyKind) -> Self {
        self.sort = Some(KeyAttribute { name: name.into(), kind });
        self
    }

    /// Iterates over the attributes, partition first.
    pub fn attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        std::iter::once(&self.partition).chain(&self.sort)
    }

    /// Returns whether `name` is a key attribute.
    pub fn contains(&self, name: &str) -> bool {
        self.attributes().any(|attribute| attribute.name == name)
    }

    /// Builds an item of the key attributes alone.
    pub fn item(&self, key: &Key) -> Item {
        let sort = self.sort.as_ref().zip(key.sort.clone());
        std::iter::once((self.partition.name.clone(), key.partition.clone()))
            .chain(sort.map(|(attribute, value)| (attribute.name.clone(), value)))
            .collect()
    }

    /// Reads the key of `item` without checking it; `None` if an attribute is absent.
    pub fn read(&self, item: &Item) -> Option<Key> {
        let partition = item.get(&self.partition.name)?.to_scalar()?;
        let sort = match &self.sort {
            Some(attribute) => Some(item.get(&attribute.name)?.to_scalar()?),
            None => None,
        };
        Some(Key { partition, sort })
    }

    /// Rejects a key whose parts are missing, of the wrong type, empty or too long.
    pub fn check(&self, key: &Key) -> Result<(), Invalid> {
        let shown = || key.to_string();
        check_key_part(&self.partition, &key.partition, true, shown)?;
        match (&self.sort, &key.sort) {
            (Some(attribute), Some(value)) => check_key_part(attribute, value, false, shown),
            (None, None) => Ok(()),
            (Some(attribute), None) => {
                Err(Invalid::KeyMissing { attribute: attribute.name.clone(), key: shown() })
            }
            (None, Some(_)) => Err(Invalid::KeyUnexpected { key: shown() }),
        }
    }
}

/// Rejects a key part that is of the wrong type, empty or too long.
pub(crate) fn check_key_part(
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

/// The attributes that an index holds copies of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IndexProjection {
    #[default]
    All,
    /// The keys of the index and of the table.
    KeysOnly,
    /// The keys and these attributes.
    Include(Vec<String>),
}

/// A sparse secondary index: it holds the items that have its key attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDefinition {
    pub name: String,
    pub key: KeyDefinition,
    pub projection: IndexProjection,
}

impl IndexDefinition {
    /// Returns the key of `item` in this index, `None` if the item is not in it, or an error if an
    /// attribute has a type that no index key may have.
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

    fn not_a_key(&self, attribute: &KeyAttribute, found: ValueKind) -> Invalid {
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

    /// Rejects an item whose attributes are no valid keys of this index.
    pub fn check(&self, item: &Item) -> Result<(), Invalid> {
        for (position, attribute) in self.key.attributes().enumerate() {
            let Some(value) = item.get(&attribute.name) else {
                continue;
            };
            let Some(scalar) = value.to_scalar() else {
                return Err(self.not_a_key(attribute, value.kind()));
            };
            check_key_part(attribute, &scalar, position == 0, || scalar.to_string()).map_err(
                |source| Invalid::IndexKey { index: self.name.clone(), source: Box::new(source) },
            )?;
        }
        Ok(())
    }
}

/// An order of items by sort key alone, across partitions, for [`Walk`](crate::Walk)s. It holds the
/// items whose keys begin with these texts. Only backends that can walk keep it; for others it has no
/// meaning and costs nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortOrder {
    pub partition_prefix: String,
    pub sort_prefix: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDefinition {
    pub name: String,
    pub key: KeyDefinition,
    pub indexes: Vec<IndexDefinition>,
    pub order: Option<SortOrder>,
    /// The attribute with the Unix second at which an item expires, fractions included.
    pub ttl: Option<String>,
    /// The table has a change stream with old and new images.
    pub stream: bool,
}

impl TableDefinition {
    /// A table without indexes, expiry or stream.
    pub fn new(name: impl Into<String>, key: KeyDefinition) -> Self {
        Self { name: name.into(), key, indexes: Vec::new(), order: None, ttl: None, stream: false }
    }

    /// Adds an index that projects all attributes.
    pub fn with_index(self, name: impl Into<String>, key: KeyDefinition) -> Self {
        self.with_index_of(name, key, IndexProjection::All)
    }

    pub fn with_index_of(
        mut self,
        name: impl Into<String>,
        key: KeyDefinition,
        projection: IndexProjection,
    ) -> Self {
        self.indexes.push(IndexDefinition { name: name.into(), key, projection });
        self
    }

    /// Keeps the items whose keys begin with these texts in the order of their sort keys.
    pub fn with_order(
        mut self,
        partition_prefix: impl Into<String>,
        sort_prefix: impl Into<String>,
    ) -> Self {
        let (partition_prefix, sort_prefix) = (partition_prefix.into(), sort_prefix.into());
        self.order = Some(SortOrder { partition_prefix, sort_prefix });
        self
    }

    /// Returns the sort key of `item` in the order; `None` if the item is not in it.
    pub fn sort_in_order<'i>(&self, item: &'i Item) -> Option<&'i str> {
        let SortOrder { partition_prefix, sort_prefix } = self.order.as_ref()?;
        let partition = item.text(&self.key.partition.name)?;
        let sort = item.text(&self.key.sort.as_ref()?.name)?;
        let is_held = partition.starts_with(partition_prefix) && sort.starts_with(sort_prefix);
        is_held.then_some(sort)
    }

    /// Returns whether both are the same but for the order, which some stores do not keep.
    pub fn is_same_but_order(&self, other: &Self) -> bool {
        let unordered = |one: &Self| Self { order: None, ..one.clone() };
        unordered(self) == unordered(other)
    }

    /// Makes items expire at the Unix second in `attribute`.
    pub fn with_ttl(mut self, attribute: impl Into<String>) -> Self {
        self.ttl = Some(attribute.into());
        self
    }

    pub fn with_stream(mut self) -> Self {
        self.stream = true;
        self
    }

    pub fn index(&self, name: &str) -> Result<&IndexDefinition, Invalid> {
        self.indexes.iter().find(|index| index.name == name).ok_or_else(|| Invalid::NoSuchIndex {
            table: self.name.clone(),
            index: name.to_owned(),
        })
    }

    /// Returns the key definition of an index, or of the table itself.
    pub fn key_of(&self, index: Option<&str>) -> Result<&KeyDefinition, Invalid> {
        index.map_or(Ok(&self.key), |name| self.index(name).map(|index| &index.key))
    }

    /// Returns the names of the attributes that an index projects, or `None` for all of them.
    pub fn projected_attributes(&self, index: &IndexDefinition) -> Option<Vec<String>> {
        let extra: &[String] = match &index.projection {
            IndexProjection::All => return None,
            IndexProjection::KeysOnly => &[],
            IndexProjection::Include(names) => names,
        };
        let keys = self.key.attributes().chain(index.key.attributes());
        Some(keys.map(|attribute| attribute.name.clone()).chain(extra.iter().cloned()).collect())
    }

    /// Returns the first whole second at which `item` is expired. A ttl that is not a non-negative
    /// number never expires.
    pub fn expires_at(&self, item: &Item) -> Option<u64> {
        item.number(self.ttl.as_deref()?)?.ceil_to_u64()
    }

    pub fn is_expired(&self, item: &Item, now_seconds: u64) -> bool {
        self.expires_at(item).is_some_and(|at| at <= now_seconds)
    }

    /// Rejects a definition that DynamoDB would not accept.
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
        if self.order.is_some() {
            self.check_order()?;
        }
        for (at, index) in self.indexes.iter().enumerate() {
            check_name(&index.name)?;
            if self.indexes.iter().take(at).any(|earlier| earlier.name == index.name) {
                return Err(Invalid::DuplicateIndex { index: index.name.clone() });
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
                return Err(Invalid::KeyTypeConflict { attribute: attribute.name.clone() });
            }
        }
        for key in keys() {
            if key.sort.as_ref().is_some_and(|sort| sort.name == key.partition.name) {
                return Err(Invalid::KeyTypeConflict { attribute: key.partition.name.clone() });
            }
        }
        Ok(())
    }

    /// Rejects an order by keys that are not texts.
    fn check_order(&self) -> Result<(), Invalid> {
        let is_text = |attribute: &KeyAttribute| attribute.kind == KeyKind::S;
        if is_text(&self.key.partition) && self.key.sort.as_ref().is_some_and(is_text) {
            return Ok(());
        }
        let detail = format!("table {:?} needs text keys to have an order", self.name);
        Err(Invalid::Rejected { detail })
    }

    fn check_included(&self) -> Result<(), Invalid> {
        let ttl = self.ttl.as_deref();
        let actual = self.indexes.iter().map(|index| included_attributes(index, ttl)).sum();
        let max = limits::INCLUDED_ATTRIBUTES_MAX;
        if actual <= max {
            return Ok(());
        }
        let (limit, subject) = (Limit::IncludedAttributes, self.name.clone());
        Err(Invalid::OverLimit { limit, actual, max, subject })
    }
}

/// Returns the number of attributes an index includes beside its keys, counting the ttl.
fn included_attributes(index: &IndexDefinition, ttl: Option<&str>) -> usize {
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
