//! The writes of a table, as plain data: what a caller asks, before any backend sees it.

use std::sync::Arc;

use crate::update::Action;
use crate::{Condition, Item, Key, Path, TableDefinition, Term, Value};

/// Which image a write returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Returning {
    /// None.
    #[default]
    Nothing,
    /// The item as it was before; also on a failed condition.
    Old,
    /// The item as it is after.
    New,
}

/// Writes a whole item, replacing what was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    /// The item.
    pub item: Item,
    /// What must hold for the item that was there.
    pub condition: Option<Condition>,
    /// Which image to return.
    pub returning: Returning,
}

/// Changes parts of an item, making it if it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Which item.
    pub key: Key,
    /// What to do to it.
    pub actions: Vec<Action>,
    /// What must hold for the item that was there.
    pub condition: Option<Condition>,
    /// Which image to return.
    pub returning: Returning,
}

/// Takes an item away; nothing happens if it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    /// Which item.
    pub key: Key,
    /// What must hold for the item that was there.
    pub condition: Option<Condition>,
    /// Which image to return.
    pub returning: Returning,
}

/// Demands something of an item that a transaction does not write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Which item.
    pub key: Key,
    /// What must hold.
    pub condition: Condition,
    /// Whether a failure returns the item.
    pub returning: Returning,
}

macro_rules! conditional {
    ($($operation:ident)*) => {$(
        impl $operation {
            /// Only if `condition` holds, together with any given before.
            pub fn when(mut self, condition: Condition) -> Self {
                self.condition = Some(match self.condition.take() {
                    Some(earlier) => earlier.and(condition),
                    None => condition,
                });
                self
            }

            /// Returns this image.
            pub fn returning(mut self, returning: Returning) -> Self {
                self.returning = returning;
                self
            }
        }
    )*};
}

conditional! { Put Update Delete }

impl Put {
    /// Puts `item`.
    pub fn new(item: impl Into<Item>) -> Self {
        Self { item: item.into(), condition: None, returning: Returning::Nothing }
    }
}

impl Delete {
    /// Deletes the item at `key`.
    pub fn new(key: impl Into<Key>) -> Self {
        Self { key: key.into(), condition: None, returning: Returning::Nothing }
    }
}

impl Check {
    /// Demands `condition` of the item at `key`.
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
    /// Updates the item at `key`.
    pub fn new(key: impl Into<Key>) -> Self {
        let key = key.into();
        Self { key, actions: Vec::new(), condition: None, returning: Returning::Nothing }
    }

    /// Puts `term` at `path`.
    pub fn set(mut self, path: impl Into<Path>, term: impl Into<Term>) -> Self {
        self.actions.push(Action::Set(path.into(), term.into()));
        self
    }

    /// Takes away what is at `path`.
    pub fn remove(mut self, path: impl Into<Path>) -> Self {
        self.actions.push(Action::Remove(path.into()));
        self
    }

    /// Adds to a number, or members to a set.
    pub fn add(mut self, path: impl Into<Path>, value: impl Into<Value>) -> Self {
        self.actions.push(Action::Add(path.into(), value.into()));
        self
    }

    /// Takes members out of a set.
    pub fn subtract(mut self, path: impl Into<Path>, value: impl Into<Value>) -> Self {
        self.actions.push(Action::Subtract(path.into(), value.into()));
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
    /// The key it touches; `None` for a put whose item lacks key attributes.
    pub fn key(&self, definition: &TableDefinition) -> Option<Key> {
        match self {
            Self::Put(put) => definition.key.read(&put.item),
            Self::Update(update) => Some(update.key.clone()),
            Self::Delete(delete) => Some(delete.key.clone()),
            Self::Check(check) => Some(check.key.clone()),
        }
    }

    /// What it demands of the item that was there.
    pub const fn condition(&self) -> Option<&Condition> {
        match self {
            Self::Put(put) => put.condition.as_ref(),
            Self::Update(update) => update.condition.as_ref(),
            Self::Delete(delete) => delete.condition.as_ref(),
            Self::Check(check) => Some(&check.condition),
        }
    }

    /// Which image it returns.
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

/// A write and the table it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableWrite {
    /// The table.
    pub table: Arc<TableDefinition>,
    /// The write.
    pub write: Write,
}

/// Writes that happen together or not at all.
#[derive(Clone, Debug, Default)]
pub struct Transaction {
    /// The writes, each of another item.
    pub writes: Vec<TableWrite>,
    /// Makes a repetition within ten minutes a success without effect.
    pub token: Option<String>,
}

impl Transaction {
    /// A transaction without writes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// This transaction with one more write.
    pub fn with(mut self, table: &crate::Table, write: impl Into<Write>) -> Self {
        self.writes.push(TableWrite { table: Arc::clone(table.definition()), write: write.into() });
        self
    }

    /// This transaction under a token: a repetition within ten minutes has no further effect.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }
}

/// A put or delete of a batch, without condition.
#[derive(Clone, Debug)]
pub enum BatchWrite {
    /// Writes an item.
    Put(Item),
    /// Takes an item away.
    Delete(Key),
}
