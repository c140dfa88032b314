//! Write requests as plain data.

use std::sync::Arc;

use crate::update::UpdateAction;
use crate::{Condition, Item, Key, Path, TableDefinition, Term, Value};

/// The image that a write returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Returning {
    #[default]
    Nothing,
    /// The item before the write; also returned when the condition fails.
    Old,
    /// The item after the write.
    New,
}

/// Writes a whole item, replacing the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    pub item: Item,
    /// Must hold for the existing item.
    pub condition: Option<Condition>,
    pub returning: Returning,
}

/// Changes parts of an item, creating it if it is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    pub key: Key,
    pub actions: Vec<UpdateAction>,
    /// Must hold for the existing item.
    pub condition: Option<Condition>,
    pub returning: Returning,
}

/// Deletes an item; does nothing if it is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    pub key: Key,
    /// Must hold for the existing item.
    pub condition: Option<Condition>,
    pub returning: Returning,
}

/// A condition on an item that a transaction does not write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub key: Key,
    pub condition: Condition,
    /// The image returned when the condition fails.
    pub returning: Returning,
}

macro_rules! conditional {
    ($($operation:ident)*) => {$(
        impl $operation {
            /// Adds a condition; all conditions must hold.
            pub fn when(mut self, condition: Condition) -> Self {
                self.condition = Some(match self.condition.take() {
                    Some(earlier) => earlier.and(condition),
                    None => condition,
                });
                self
            }

            pub fn returning(mut self, returning: Returning) -> Self {
                self.returning = returning;
                self
            }
        }
    )*};
}

conditional! { Put Update Delete }

impl Put {
    pub fn new(item: impl Into<Item>) -> Self {
        Self { item: item.into(), condition: None, returning: Returning::Nothing }
    }
}

impl Delete {
    pub fn new(key: impl Into<Key>) -> Self {
        Self { key: key.into(), condition: None, returning: Returning::Nothing }
    }
}

impl Check {
    /// Requires `condition` to hold for the item at `key`.
    pub fn new(key: impl Into<Key>, condition: Condition) -> Self {
        Self { key: key.into(), condition, returning: Returning::Nothing }
    }

    /// Returns the item when the condition fails.
    pub fn returning(mut self, returning: Returning) -> Self {
        self.returning = returning;
        self
    }
}

impl Update {
    pub fn new(key: impl Into<Key>) -> Self {
        let key = key.into();
        Self { key, actions: Vec::new(), condition: None, returning: Returning::Nothing }
    }

    /// Sets the value at `path`.
    pub fn set(mut self, path: impl Into<Path>, term: impl Into<Term>) -> Self {
        self.actions.push(UpdateAction::Set(path.into(), term.into()));
        self
    }

    /// Removes the value at `path`.
    pub fn remove(mut self, path: impl Into<Path>) -> Self {
        self.actions.push(UpdateAction::Remove(path.into()));
        self
    }

    /// Adds to a number, or members to a set.
    pub fn add(mut self, path: impl Into<Path>, value: impl Into<Value>) -> Self {
        self.actions.push(UpdateAction::Add(path.into(), value.into()));
        self
    }

    /// Removes members from a set.
    pub fn subtract(mut self, path: impl Into<Path>, value: impl Into<Value>) -> Self {
        self.actions.push(UpdateAction::Subtract(path.into(), value.into()));
        self
    }
}

/// One write of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    Put(Put),
    Update(Update),
    Delete(Delete),
    Check(Check),
}

impl Write {
    /// Returns the key of the item; `None` for a put whose item lacks key attributes.
    pub fn key(&self, definition: &TableDefinition) -> Option<Key> {
        match self {
            Self::Put(put) => definition.key.read(&put.item),
            Self::Update(update) => Some(update.key.clone()),
            Self::Delete(delete) => Some(delete.key.clone()),
            Self::Check(check) => Some(check.key.clone()),
        }
    }

    pub const fn condition(&self) -> Option<&Condition> {
        match self {
            Self::Put(put) => put.condition.as_ref(),
            Self::Update(update) => update.condition.as_ref(),
            Self::Delete(delete) => delete.condition.as_ref(),
            Self::Check(check) => Some(&check.condition),
        }
    }

    pub const fn returning(&self) -> Returning {
        match self {
            Self::Put(put) => put.returning,
            Self::Update(update) => update.returning,
            Self::Delete(delete) => delete.returning,
            Self::Check(check) => check.returning,
        }
    }
}

macro_rules! into_write {
    ($($operation:ident)*) => {$(
        impl From<$operation> for Write {
            fn from(operation: $operation) -> Self {
                Self::$operation(operation)
            }
        }
    )*};
}

into_write! { Put Update Delete Check }

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableWrite {
    pub table: Arc<TableDefinition>,
    pub write: Write,
}

/// Writes that happen atomically.
#[derive(Clone, Debug, Default)]
pub struct Transaction {
    /// Writes to distinct items.
    pub writes: Vec<TableWrite>,
    /// Idempotency token: repeating the transaction within ten minutes succeeds without effect.
    pub token: Option<String>,
}

impl Transaction {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with(mut self, table: &crate::Table, write: impl Into<Write>) -> Self {
        self.writes.push(TableWrite { table: Arc::clone(table.definition()), write: write.into() });
        self
    }

    /// Sets the idempotency token.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }
}

/// A put or delete of a batch, without condition.
#[derive(Clone, Debug)]
pub enum BatchWrite {
    Put(Item),
    Delete(Key),
}
