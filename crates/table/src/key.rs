//! Keys: what addresses an item, and where a page ended.

use std::fmt;

use crate::{Item, Scalar, TableDefinition};

/// The values of a key's attributes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The partition key's value.
    pub partition: Scalar,
    /// The sort key's value, for tables that have one.
    pub sort: Option<Scalar>,
}

impl Key {
    /// A key of partition and sort.
    pub fn new(partition: impl Into<Scalar>, sort: impl Into<Scalar>) -> Self {
        Self { partition: partition.into(), sort: Some(sort.into()) }
    }

    /// A key without a sort attribute.
    pub fn single(partition: impl Into<Scalar>) -> Self {
        Self { partition: partition.into(), sort: None }
    }
}

impl<P: Into<Scalar>, S: Into<Scalar>> From<(P, S)> for Key {
    fn from((partition, sort): (P, S)) -> Self {
        Self::new(partition, sort)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sort {
            Some(sort) => write!(f, "{} / {sort}", self.partition),
            None => write!(f, "{}", self.partition),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The last item of a page: the next page starts after it, whether or not it still exists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The item's primary key.
    pub base: Key,
    /// Its key in the index that was read, if one was.
    pub index: Option<Key>,
}

impl Position {
    /// The position of `item` in the table or one of its indexes; `None` when it lacks the keys.
    pub fn of(definition: &TableDefinition, index: Option<&str>, item: &Item) -> Option<Self> {
        let base = definition.key.read(item)?;
        let index = match index {
            Some(name) => Some(definition.index(name).ok()?.key.read(item)?),
            None => None,
        };
        Some(Self { base, index })
    }
}
