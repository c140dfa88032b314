//! Walks a range of keys through all runs and the tree at once, in either order, newest version
//! first, deletions honoured.

use std::cmp::Ordering;

use bytes::Bytes;
use roundtable_table::{Order, Result};

use crate::keys::KeyRange;
use crate::memtable::{Run, Stored};
use crate::tree::{Walk, verify};

/// How many entries of a run are copied under its lock at once, at most.
const CHUNK_MAX: usize = 128;

/// A live entry of the range.
#[derive(Debug)]
pub(crate) enum Entry<'s> {
    /// From a run.
    Memory(Bytes, Bytes),
    /// From the tree, checksum verified.
    Tree(&'s [u8], &'s [u8]),
}

impl Entry<'_> {
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

/// The part of a range that lies in one run, copied bit by bit.
#[derive(Debug)]
struct RunWalk<'s> {
    run: &'s Run,
    /// What is left to copy.
    rest: KeyRange,
    /// Copied and not yet taken; the next one last.
    buffer: Vec<(Bytes, Stored)>,
    chunk: usize,
    exhausted: bool,
}

impl RunWalk<'_> {
    /// The next entry.
    fn head(&self) -> Option<&(Bytes, Stored)> {
        self.buffer.last()
    }

    /// Takes the next entry, and copies more when it was the last one copied.
    fn take(&mut self, order: Order, sequence: u64) -> Stored {
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

/// A walk through a range.
pub(crate) struct Cursor<'s> {
    /// Newest first; only those that hold anything of the range.
    runs: Vec<RunWalk<'s>>,
    tree: Walk<'s>,
    tree_head: Option<(&'s [u8], &'s [u8])>,
    order: Order,
    sequence: u64,
}

impl<'s> Cursor<'s> {
    pub(crate) fn new(
        mut tree: Walk<'s>,
        runs: impl Iterator<Item = &'s Run>,
        range: &KeyRange,
        order: Order,
        sequence: u64,
        hint: usize,
    ) -> Result<Self> {
        let chunk = hint.clamp(1, CHUNK_MAX);
        let walks = runs.filter_map(|run| {
            let mut walk =
                RunWalk { run, rest: range.clone(), buffer: Vec::new(), chunk, exhausted: false };
            walk.fill(order, sequence);
            walk.head().is_some().then_some(walk)
        });
        let runs = walks.collect();
        let tree_head = tree.step()?;
        Ok(Self { runs, tree, tree_head, order, sequence })
    }

    /// The next live entry.
    pub(crate) fn step(&mut self) -> Result<Option<Entry<'s>>> {
        loop {
            let Some(nearest) = self.nearest_in_runs() else { return self.step_tree() };
            match self.tree_head.map(|(key, _)| self.compare(key, nearest)) {
                Some(Ordering::Less) => return self.step_tree(),
                in_tree => {
                    let nearest = nearest.clone();
                    // What the runs say about the key is newer.
                    if in_tree == Some(Ordering::Equal) {
                        self.tree_head = self.tree.step()?;
                    }
                    if let Some(value) = self.take_from_runs(&nearest) {
                        return Ok(Some(Entry::Memory(nearest, value)));
                    }
                }
            }
        }
    }

    fn step_tree(&mut self) -> Result<Option<Entry<'s>>> {
        let Some((key, stored)) = self.tree_head else { return Ok(None) };
        self.tree_head = self.tree.step()?;
        Ok(Some(Entry::Tree(key, verify(key, stored)?)))
    }

    /// Takes `key` out of every run that has it next; gives the newest value, unless that is a
    /// deletion.
    fn take_from_runs(&mut self, key: &Bytes) -> Stored {
        let mut newest: Option<Stored> = None;
        for run in &mut self.runs {
            if run.head().is_some_and(|(head, _)| head == key) {
                let value = run.take(self.order, self.sequence);
                newest = newest.or(Some(value));
            }
        }
        newest.flatten()
    }

    /// The nearest key in any run.
    fn nearest_in_runs(&self) -> Option<&Bytes> {
        let keys = self.runs.iter().filter_map(RunWalk::head).map(|(key, _)| key);
        match self.order {
            Order::Ascending => keys.min(),
            Order::Descending => keys.max(),
        }
    }

    /// How two keys stand to each other in the order of the walk.
    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        match self.order {
            Order::Ascending => left.cmp(right),
            Order::Descending => right.cmp(left),
        }
    }
}
