//! Runs: ordered maps in memory of the writes since the last checkpoint.
//!
//! A key keeps every version that a reader may still need. So a group that is inserted in slices
//! becomes visible atomically, by raising the visible sequence, and a page can be read in chunks at
//! one sequence. A plain ordered map behind a lock: a skip list was no faster to write and slower to
//! read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::RwLock;
use roundtable_table::Order;

use crate::filter::{BloomFilter, Fingerprint};
use crate::keys::KeyRange;

/// The value of a key; `None` marks a deletion.
pub(crate) type StoredValue = Option<Bytes>;

/// Rough memory overhead of an entry.
const ENTRY_OVERHEAD_BYTES: usize = 128;

#[derive(Debug)]
struct Version {
    sequence: u64,
    value: StoredValue,
    older: Option<Box<Version>>,
}

impl Version {
    fn at(&self, sequence: u64) -> Option<&StoredValue> {
        let mut version = self;
        while version.sequence > sequence {
            version = version.older.as_deref()?;
        }
        Some(&version.value)
    }

    fn bytes(&self) -> usize {
        self.value.as_ref().map_or(0, Bytes::len) + ENTRY_OVERHEAD_BYTES
    }

    /// Drops versions older than the newest one at or below `visible`; returns the bytes freed.
    fn drop_below(&mut self, visible: u64) -> usize {
        let mut version = self;
        while version.sequence > visible {
            match version.older.as_deref_mut() {
                Some(older) => version = older,
                None => return 0,
            }
        }
        let mut saved = 0;
        let mut next = version.older.take();
        while let Some(mut old) = next {
            saved += old.bytes();
            next = old.older.take();
        }
        saved
    }
}

/// Drops iteratively: a chain may be long, and recursion would exhaust the stack.
impl Drop for Version {
    fn drop(&mut self) {
        let mut next = self.older.take();
        while let Some(mut version) = next {
            next = version.older.take();
        }
    }
}

#[derive(Debug)]
pub(crate) struct Run {
    map: RwLock<BTreeMap<Bytes, Version>>,
    filter: BloomFilter,
    bytes: AtomicUsize,
}

#[derive(Clone, Debug)]
pub(crate) struct RunWrite {
    pub(crate) key: Bytes,
    pub(crate) value: StoredValue,
    pub(crate) sequence: u64,
}

impl Run {
    /// An empty run that is to be frozen at `limit_bytes`.
    pub(crate) fn new(limit_bytes: usize) -> Self {
        let filter = BloomFilter::for_run_of(limit_bytes);
        Self { map: RwLock::default(), filter, bytes: AtomicUsize::new(0) }
    }

    /// Inserts `writes`. Drops versions that no reader can see any more, unless `keep_all`.
    pub(crate) fn insert(&self, writes: &[RunWrite], visible: u64, keep_all: impl Fn() -> bool) {
        for write in writes {
            self.filter.insert(Fingerprint::of_key(&write.key));
            self.filter.insert(Fingerprint::of_partition(&write.key));
        }
        let mut map = self.map.write();
        // Evaluated under the lock: a later reader sees at least `visible`.
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
                        less += newest.drop_below(visible);
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

    /// Returns whether the run may contain this fingerprint. Never misses what was visible before
    /// the call.
    pub(crate) fn may_contain(&self, fingerprint: Fingerprint) -> bool {
        self.filter.may_contain(fingerprint)
    }

    /// Returns the value of `key` at the sequence that `sequence` returns once the run is locked.
    pub(crate) fn get(&self, key: &[u8], sequence: impl Fn() -> u64) -> Option<StoredValue> {
        let map = self.map.read();
        map.get(key)?.at(sequence()).cloned()
    }

    /// Returns roughly the memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn len(&self) -> usize {
        self.map.read().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.map.read().is_empty()
    }

    /// Appends up to `limit` entries of `range` at `sequence` to `out`, in `order`.
    pub(crate) fn chunk(
        &self,
        range: &KeyRange,
        order: Order,
        sequence: u64,
        limit: usize,
        out: &mut Vec<(Bytes, StoredValue)>,
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

    /// Returns up to `limit` newest versions of keys after `after`, ascending, for a checkpoint to apply.
    pub(crate) fn newest_after(
        &self,
        after: Option<&Bytes>,
        limit: usize,
    ) -> Vec<(Bytes, StoredValue)> {
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
    fn dropping_a_long_chain_of_versions_does_not_exhaust_the_stack() {
        let small = std::thread::Builder::new().stack_size(64 << 10);
        let thread = small.spawn(|| {
            let run = Run::new(1 << 20);
            let writes: Vec<_> = (1..200_000).map(|n| write("a", Some("1"), n)).collect();
            run.insert(&writes, 0, || true);
        });
        assert!(thread.unwrap().join().is_ok());
    }

    #[test]
    fn versions_no_reader_can_see_are_dropped_and_their_bytes_freed() {
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
