//! Runs: what was written since the last checkpoint, in memory and in order.
//!
//! A key keeps the versions that somebody may still read, so that a group becomes visible at once,
//! by raising the visible sequence, though it is inserted bit by bit; and so that a page can be read
//! bit by bit at one sequence. A plain ordered map behind a lock: a skip list was no faster to write
//! and slower to read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::RwLock;
use roundtable_table::Order;

use crate::filter::{Filter, Fingerprint};
use crate::keys::KeyRange;

/// What a key holds: bytes, or a mark that it was deleted.
pub(crate) type Stored = Option<Bytes>;

/// Roughly what an entry costs besides its bytes.
const ENTRY_OVERHEAD_BYTES: usize = 128;

#[derive(Debug)]
struct Version {
    sequence: u64,
    value: Stored,
    older: Option<Box<Version>>,
}

impl Version {
    fn at(&self, sequence: u64) -> Option<&Stored> {
        let mut version = self;
        while version.sequence > sequence {
            version = version.older.as_deref()?;
        }
        Some(&version.value)
    }

    fn bytes(&self) -> usize {
        self.value.as_ref().map_or(0, Bytes::len) + ENTRY_OVERHEAD_BYTES
    }

    /// Forgets what is older than the newest version at or below `visible`; gives the bytes saved.
    fn forget_below(&mut self, visible: u64) -> usize {
        let mut version = self;
        while version.sequence > visible {
            match version.older.as_deref_mut() {
                Some(older) => version = older,
                None => return 0,
            }
        }
        let mut saved = 0;
        let mut gone = version.older.take();
        while let Some(mut old) = gone {
            saved += old.bytes();
            gone = old.older.take();
        }
        saved
    }
}

/// One after the other: a chain may be long, and dropping it recursively would exhaust the stack.
impl Drop for Version {
    fn drop(&mut self) {
        let mut gone = self.older.take();
        while let Some(mut version) = gone {
            gone = version.older.take();
        }
    }
}

/// An ordered map of versions.
#[derive(Debug)]
pub(crate) struct Run {
    map: RwLock<BTreeMap<Bytes, Version>>,
    filter: Filter,
    bytes: AtomicUsize,
}

/// One write to a run.
#[derive(Clone, Debug)]
pub(crate) struct RunWrite {
    pub(crate) key: Bytes,
    pub(crate) value: Stored,
    pub(crate) sequence: u64,
}

impl Run {
    /// An empty run that is to be frozen at `limit_bytes`.
    pub(crate) fn new(limit_bytes: usize) -> Self {
        let filter = Filter::for_run_of(limit_bytes);
        Self { map: RwLock::default(), filter, bytes: AtomicUsize::new(0) }
    }

    /// Inserts `writes`. Versions that nobody can read any more are forgotten, unless `keep_all`.
    pub(crate) fn insert(&self, writes: &[RunWrite], visible: u64, keep_all: impl Fn() -> bool) {
        for write in writes {
            self.filter.insert(Fingerprint::of_key(&write.key));
            self.filter.insert(Fingerprint::of_partition(&write.key));
        }
        let mut map = self.map.write();
        // Asked under the lock: a reader that comes later sees at least `visible`.
        let keep_all = keep_all();
        let (mut more, mut less) = (0, 0);
        for write in writes {
            let version =
                Version { sequence: write.sequence, value: write.value.clone(), older: None };
            more += version.bytes();
            match map.entry(write.key.clone()) {
                Entry::Occupied(mut slot) => {
                    let newest = slot.get_mut();
                    let older = std::mem::replace(newest, version);
                    newest.older = Some(Box::new(older));
                    if !keep_all {
                        less += newest.forget_below(visible);
                    }
                }
                Entry::Vacant(slot) => {
                    more += write.key.len();
                    slot.insert(version);
                }
            }
        }
        self.bytes.fetch_add(more, Ordering::Relaxed);
        self.bytes.fetch_sub(less, Ordering::Relaxed);
    }

    /// Whether it may hold anything of this fingerprint. What was visible before the question is
    /// never missed.
    pub(crate) fn may_hold(&self, fingerprint: Fingerprint) -> bool {
        self.filter.may_hold(fingerprint)
    }

    /// What `key` held at the sequence that `sequence` gives once the run is locked.
    pub(crate) fn get(&self, key: &[u8], sequence: impl Fn() -> u64) -> Option<Stored> {
        let map = self.map.read();
        map.get(key)?.at(sequence()).cloned()
    }

    /// Roughly how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn len(&self) -> usize {
        self.map.read().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.map.read().is_empty()
    }

    /// Up to `limit` entries of `range`, as they were at `sequence`, from its near end on.
    pub(crate) fn chunk(
        &self,
        range: &KeyRange,
        order: Order,
        sequence: u64,
        limit: usize,
        out: &mut Vec<(Bytes, Stored)>,
    ) {
        if range.low >= range.high {
            return;
        }
        let map = self.map.read();
        let bounds =
            (Bound::Included(range.low.as_slice()), Bound::Excluded(range.high.as_slice()));
        let entries = map.range::<[u8], _>(bounds);
        let visible = |(key, version): (&Bytes, &Version)| {
            version.at(sequence).map(|value| (key.clone(), value.clone()))
        };
        match order {
            Order::Ascending => out.extend(entries.filter_map(visible).take(limit)),
            Order::Descending => out.extend(entries.rev().filter_map(visible).take(limit)),
        }
    }

    /// Up to `limit` newest versions of keys after `after`, rising: what a checkpoint applies.
    pub(crate) fn newest_after(&self, after: Option<&Bytes>, limit: usize) -> Vec<(Bytes, Stored)> {
        let map = self.map.read();
        let start = after.map_or(Bound::Unbounded, |key| Bound::Excluded(key.as_ref()));
        let entries = map.range::<[u8], _>((start, Bound::Unbounded));
        entries.take(limit).map(|(key, version)| (key.clone(), version.value.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(key: &str, value: Option<&str>, sequence: u64) -> RunWrite {
        let value = value.map(|value| Bytes::copy_from_slice(value.as_bytes()));
        RunWrite { key: Bytes::copy_from_slice(key.as_bytes()), value, sequence }
    }

    #[test]
    fn a_reader_sees_the_version_of_its_sequence() {
        let run = Run::new(1 << 20);
        run.insert(&[write("a", Some("1"), 1)], 0, || true);
        run.insert(&[write("a", Some("2"), 2), write("b", None, 3)], 1, || true);
        let at = |key: &str, sequence| run.get(key.as_bytes(), || sequence);
        assert_eq!(at("a", 0), None);
        assert_eq!(at("a", 1), Some(Some("1".into())));
        assert_eq!(at("a", 2), Some(Some("2".into())));
        assert_eq!(at("b", 2), None);
        assert_eq!(at("b", 3), Some(None));
    }

    #[test]
    fn a_long_chain_of_versions_goes_without_exhausting_the_stack() {
        let small = std::thread::Builder::new().stack_size(64 << 10);
        let thread = small.spawn(|| {
            let run = Run::new(1 << 20);
            let writes: Vec<_> = (1..200_000).map(|n| write("a", Some("1"), n)).collect();
            run.insert(&writes, 0, || true);
        });
        assert!(thread.unwrap().join().is_ok());
    }

    #[test]
    fn versions_nobody_can_read_are_forgotten_and_their_bytes_returned() {
        let run = Run::new(1 << 20);
        run.insert(&[write("a", Some("1"), 1)], 0, || false);
        let once = run.bytes();
        for sequence in 2..100 {
            run.insert(&[write("a", Some("1"), sequence)], sequence - 1, || false);
        }
        // The newest and the one still visible stay.
        assert!(run.bytes() <= 2 * once, "{} bytes after, {once} before", run.bytes());
        assert_eq!(run.get(b"a", || 98), Some(Some("1".into())));
    }
}
