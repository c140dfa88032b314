//! The interface of a processor: a name, the entities it wants, and one function from changes to
//! writes. A processor keeps no state and writes nothing itself; the runner owns checkpoints,
//! retries and parking.

use std::fmt;

use async_trait::async_trait;
use roundtable_model::table::{Change, Item, Table, TableWrite, Write};
use roundtable_model::{Entity, ProcessorName, TYPE};

use crate::Result;

/// Derives writes from changes.
#[async_trait]
pub trait Processor: Send + Sync + fmt::Debug + 'static {
    /// The name of its checkpoints and dead letters. A new name starts at the beginning of the
    /// stream.
    fn name(&self) -> ProcessorName;

    /// The types of the entities whose changes it wants.
    fn entity_types(&self) -> &'static [&'static str];

    /// Returns whether a later change of an item may be processed while an earlier one is parked.
    /// True if effects depend only on the current state, false if each change adds to them.
    fn may_overtake(&self) -> bool;

    /// Returns the writes that follow from some changes, given in stream order. The writes must be
    /// guarded so that repeating them has no effect: a change can be delivered more than once.
    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects>;
}

#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The shard they come from; `None` if the stream has a single shard.
    pub shard: Option<&'a str>,
    pub delivery: Delivery,
    pub changes: &'a [Change],
}

/// The way changes are delivered to a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// In the order of their shard. Some or all may have been delivered before.
    Streamed,
    /// A change that is about to be parked. Effects mark it as counted, so that a late reader that
    /// still processes it does not count it.
    Skipped,
    /// A change that was parked and never counted. Later changes may have been counted.
    Redriven,
}

/// Groups of writes, each applied atomically. No item occurs twice.
#[derive(Debug, Default)]
pub struct Effects {
    groups: Vec<Vec<TableWrite>>,
}

impl Effects {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn write(&mut self, table: &Table, write: impl Into<Write>) {
        self.write_together([(table, write.into())]);
    }

    /// Adds writes and checks that are applied atomically.
    pub fn write_together<'a>(&mut self, writes: impl IntoIterator<Item = (&'a Table, Write)>) {
        let write = |(table, write): (&Table, Write)| TableWrite {
            table: std::sync::Arc::clone(table.definition()),
            write,
        };
        self.groups.push(writes.into_iter().map(write).collect());
    }

    pub fn item_count(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// Returns whether any item of `table` is written.
    pub(crate) fn touches(&self, table: &Table) -> bool {
        let name = &table.definition().name;
        self.groups.iter().flatten().any(|write| write.table.name == *name)
    }

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

#[derive(Clone, Debug)]
pub struct Images<E> {
    pub old: Option<E>,
    pub new: Option<E>,
}

impl<E: Entity> Images<E> {
    pub fn of(change: &Change) -> Result<Self> {
        // Some servers show an item created by an update as its bare key in the old image.
        let typed = |item: &&Item| item.text(TYPE).is_some();
        let read = |image: &Option<Item>| {
            image.as_ref().filter(typed).map(|item| E::from_item(item)).transpose()
        };
        Ok(Self { old: read(&change.old)?, new: read(&change.new)? })
    }
}

/// Returns the type of the changed entity.
pub(crate) fn entity_type(change: &Change) -> Option<&str> {
    let images = [change.new.as_ref(), change.old.as_ref()];
    images.into_iter().flatten().find_map(|item| item.text(TYPE))
}
