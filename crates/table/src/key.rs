//! Keys of items, and positions of pages.

use std::fmt;

use crate::{Item, Scalar, TableDefinition};

/// The values of a key's attributes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub partition: Scalar,
    /// `None` for tables without a sort key.
    pub sort: Option<Scalar>,
}

impl Key {
    pub fn new(partition: impl Into<Scalar>, sort: impl Into<Scalar>) -> Self {
        Self { partition: partition.into(), sort: Some(sort.into()) }
    }

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

/// The position of a page's last item. The next page starts after it, even if the item is gone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    pub base: Key,
    /// The key in the index, for pages of an index.
    pub index: Option<Key>,
}

impl Position {
    /// Returns the position of `item` in the table or an index; `None` if it lacks the keys.
    pub fn of(definition: &TableDefinition, index: Option<&str>, item: &Item) -> Option<Self> {
        let base = definition.key.read(item)?;
        let index = match index {
            Some(name) => Some(definition.index(name).ok()?.key.read(item)?),
            None => None,
        };
        Some(Self { base, index })
    }
}
