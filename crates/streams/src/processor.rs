//! What a processor is: a name, what it wants, and one function from changes to writes. It keeps no
//! state and writes nothing itself; checkpoints, retries and parking are the runner's.

use std::fmt;

use async_trait::async_trait;
use roundtable_model::table::{Change, Item, Table, TableWrite, Write};
use roundtable_model::{Entity, Processor as Name, TYPE};

use crate::Failure;

/// Something that follows from changes.
#[async_trait]
pub trait Processor: Send + Sync + fmt::Debug + 'static {
    /// What its checkpoints and dead letters are kept under. Another name begins at the beginning.
    fn name(&self) -> Name;

    /// The entities whose changes it wants, by type.
    fn wants(&self) -> &'static [&'static str];

    /// Whether a later change of an item may be processed while an earlier one is parked. It may where
    /// effects follow from how things are now, and not where each change adds to them.
    fn may_overtake(&self) -> bool;

    /// The writes that follow from some changes, in the order they happened. They must be guarded, so
    /// that the same changes again lead to none: a change can come more than once.
    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure>;
}

/// Changes to process.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The shard they come from; `None` where the stream has one shard for ever.
    pub shard: Option<&'a str>,
    /// How they come.
    pub delivery: Delivery,
    /// The changes, all of entities that were asked for.
    pub changes: &'a [Change],
}

/// How changes come to a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// In the order of their shard; some, or all, may have come before.
    Streamed,
    /// One that will be parked: whoever still tries to process it late must find that it is not to be
    /// counted any more.
    PassedOver,
    /// One that was parked and never counted. Changes that happened after it may have been.
    Redriven,
}

/// What follows from changes: groups of writes, each done as a whole. No item occurs twice.
#[derive(Debug, Default)]
pub struct Effects {
    groups: Vec<Vec<TableWrite>>,
}

impl Effects {
    /// Nothing follows.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds one write.
    pub fn write(&mut self, table: &Table, write: impl Into<Write>) {
        self.together([(table, write.into())]);
    }

    /// Adds writes, and checks, that hold only together.
    pub fn together<'a>(&mut self, writes: impl IntoIterator<Item = (&'a Table, Write)>) {
        let write = |(table, write): (&Table, Write)| TableWrite {
            table: std::sync::Arc::clone(table.definition()),
            write,
        };
        self.groups.push(writes.into_iter().map(write).collect());
    }

    /// How many items they touch.
    pub fn items(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// Whether anything of a table is written.
    pub(crate) fn touches(&self, table: &Table) -> bool {
        let name = &table.definition().name;
        self.groups.iter().flatten().any(|write| write.table.name == *name)
    }

    /// Whether nothing follows.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(crate) fn into_groups(self) -> Vec<Vec<TableWrite>> {
        self.groups
    }

    pub(crate) fn into_writes(self) -> Vec<TableWrite> {
        self.groups.into_iter().flatten().collect()
    }
}

/// An entity before and after a change.
#[derive(Clone, Debug)]
pub struct Images<E> {
    /// Before, if it was there.
    pub old: Option<E>,
    /// After, if it is.
    pub new: Option<E>,
}

impl<E: Entity> Images<E> {
    /// Reads a change of this entity.
    pub fn of(change: &Change) -> Result<Self, Failure> {
        // Some servers show an item that an update makes as its bare key before.
        let typed = |item: &&Item| item.text(TYPE).is_some();
        let read = |image: &Option<Item>| {
            image.as_ref().filter(typed).map(|item| E::from_item(item)).transpose()
        };
        Ok(Self { old: read(&change.old)?, new: read(&change.new)? })
    }
}

/// The type of the entity that changed.
pub(crate) fn entity(change: &Change) -> Option<&str> {
    let images = [change.new.as_ref(), change.old.as_ref()];
    images.into_iter().flatten().find_map(|item| item.text(TYPE))
}
