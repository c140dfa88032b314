//! Iterates over a range of keys, merging all runs and the tree, in either order. The newest version of
//! a key wins, and deleted keys are skipped.

use std::cmp::Ordering;

use bytes::Bytes;
use roundtable_table::{Order, Result};

use crate::keys::KeyRange;
use crate::memtable::{Run, StoredValue};
use crate::tree::{TreeIterator, verify};

/// Most entries of a run that are copied under its lock at once.
const CHUNK_MAX: usize = 128;

#[derive(Debug)]
pub(crate) enum CursorEntry<'s> {
    Memory(Bytes, Bytes),
    /// From the tree, with a verified checksum.
    Tree(&'s [u8], &'s [u8]),
}

impl CursorEntry<'_> {
    pub(crate) fn key(&self) -> &[u8] {
        match self {
            Self::Memory(key, _) => key,
            Self::Tree(key, _) => key,
        }
    }

    pub(crate) fn value(&self) -> &[u8] {
        match self {
            Self::Memory(_, value) => value,
            Self::Tree(_, value) => value,
        }
    }

    pub(crate) fn into_value(self) -> Bytes {
        match self {
            Self::Memory(_, value) => value,
            Self::Tree(_, value) => Bytes::copy_from_slice(value),
        }
    }
}

/// Iterates over the part of a range that lies in one run, copying it in chunks.
#[derive(Debug)]
struct RunIterator<'s> {
    run: &'s Run,
    rest: KeyRange,
    /// Copied but not returned yet; the next entry is the last one.
    buffer: Vec<(Bytes, StoredValue)>,
    chunk: usize,
    exhausted: bool,
}

impl RunIterator<'_> {
    fn head(&self) -> Option<&(Bytes, StoredValue)> {
        self.buffer.last()
    }

    /// Takes the next entry, and copies more if it was the last one copied.
    fn take(&mut self, order: Order, sequence: u64) -> StoredValue {
        let taken = self.buffer.pop();
        self.fill(order, sequence);
        taken.and_then(|(_, value)| value)
    }

    fn fill(&mut self, order: Order, sequence: u64) {
        if !self.buffer.is_empty() || self.exhausted {
            return;
        }
        self.run.chunk(&self.rest, order, sequence, self.chunk, &mut self.buffer);
        self.exhausted = self.buffer.len() < self.chunk;
        if let Some((last, _)) = self.buffer.last() {
            match order {
                // The smallest key above the last one copied.
                Order::Ascending => self.rest.low = [last, &[0][..]].concat(),
                Order::Descending => self.rest.high = last.to_vec(),
            }
        }
        self.buffer.reverse();
        self.chunk = CHUNK_MAX;
    }
}

pub(crate) struct RangeCursor<'s> {
    /// Newest first; only those that contain part of the range.
    runs: Vec<RunIterator<'s>>,
    tree: TreeIterator<'s>,
    tree_head: Option<(&'s [u8], &'s [u8])>,
    order: Order,
    sequence: u64,
}

impl<'s> RangeCursor<'s> {
    pub(crate) fn new(
        mut tree: TreeIterator<'s>,
        runs: impl Iterator<Item = &'s Run>,
        range: &KeyRange,
        order: Order,
        sequence: u64,
        hint: usize,
    ) -> Result<Self> {
        let chunk = hint.clamp(1, CHUNK_MAX);
        let walks = runs.filter_map(|run| {
            let mut walk = RunIterator {
                run,
                rest: range.clone(),
                buffer: Vec::new(),
                chunk,
                exhausted: false,
            };
            walk.fill(order, sequence);
            walk.head().is_some().then_some(walk)
        });
        let runs = walks.collect();
        let tree_head = tree.step()?;
        Ok(Self { runs, tree, tree_head, order, sequence })
    }

    /// Returns the next live entry.
    pub(crate) fn step(&mut self) -> Result<Option<CursorEntry<'s>>> {
        loop {
            let Some(nearest) = self.nearest_in_runs() else { return self.step_tree() };
            match self.tree_head.map(|(key, _)| self.compare(key, nearest)) {
                Some(Ordering::Less) => return self.step_tree(),
                in_tree => {
                    let nearest = nearest.clone();
                    // The value in the runs is newer.
                    if in_tree == Some(Ordering::Equal) {
                        self.tree_head = self.tree.step()?;
                    }
                    if let Some(value) = self.take_from_runs(&nearest) {
                        return Ok(Some(CursorEntry::Memory(nearest, value)));
                    }
                }
            }
        }
    }

    fn step_tree(&mut self) -> Result<Option<CursorEntry<'s>>> {
        let Some((key, stored)) = self.tree_head else { return Ok(None) };
        self.tree_head = self.tree.step()?;
        Ok(Some(CursorEntry::Tree(key, verify(key, stored)?)))
    }

    /// Takes `key` from every run that has it next; returns the newest value, `None` for a deletion.
    fn take_from_runs(&mut self, key: &Bytes) -> StoredValue {
        let mut newest: Option<StoredValue> = None;
        for run in &mut self.runs {
            if run.head().is_some_and(|(head, _)| head == key) {
                let value = run.take(self.order, self.sequence);
                newest = newest.or(Some(value));
            }
        }
        newest.flatten()
    }

    fn nearest_in_runs(&self) -> Option<&Bytes> {
        let keys = self.runs.iter().filter_map(RunIterator::head).map(|(key, _)| key);
        match self.order {
            Order::Ascending => keys.min(),
            Order::Descending => keys.max(),
        }
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        match self.order {
            Order::Ascending => left.cmp(right),
            Order::Descending => right.cmp(left),
        }
    }
}
