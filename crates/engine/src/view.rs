//! The state that readers see: the runs in memory over the tree, at one sequence.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::RwLock;
use roundtable_table::{Order, Result};

use crate::cursor::RangeCursor;
use crate::filter::Fingerprint;
use crate::keys::KeyRange;
use crate::log::LogPosition;
use crate::memtable::{Run, RunWrite, StoredValue};
use crate::tree::{ReadTxn, Tree};

/// Number of writes inserted before readers can take the lock.
const PUBLISH_SLICE: usize = 64;

/// A full run that is being applied to the tree.
#[derive(Debug)]
pub(crate) struct FrozenRun {
    pub(crate) run: Arc<Run>,
    /// The log up to here is in this run or earlier ones.
    pub(crate) through: LogPosition,
    entries: usize,
    entries_applied: AtomicUsize,
}

impl FrozenRun {
    fn new(run: Arc<Run>, through: LogPosition) -> Self {
        let entries = run.len();
        Self { run, through, entries, entries_applied: AtomicUsize::new(0) }
    }

    /// Notes that `entries` more entries are in the tree.
    pub(crate) fn count_applied(&self, entries: usize) {
        self.entries_applied.fetch_add(entries, Ordering::Relaxed);
    }

    /// Notes that it has to be applied from its beginning again.
    pub(crate) fn restart(&self) {
        self.entries_applied.store(0, Ordering::Relaxed);
    }

    /// Returns roughly the bytes that are not in the tree yet.
    fn pending_bytes(&self) -> usize {
        let left = self.entries.saturating_sub(self.entries_applied.load(Ordering::Relaxed));
        self.run.bytes() / self.entries.max(1) * left
    }
}

/// The value of a key as the caller read it before handing its write to the writer thread.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    sequence: u64,
    stored: StoredValue,
}

/// The runs at one point in time.
#[derive(Debug)]
struct RunSet {
    active: Arc<Run>,
    /// Newest first.
    frozen: Vec<Arc<FrozenRun>>,
}

/// The current state of all tables.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) tree: Tree,
    runs: RwLock<Arc<RunSet>>,
    run_bytes: usize,
    visible: AtomicU64,
    /// Last sequence of the runs that were dropped.
    dropped: AtomicU64,
    /// Number of live snapshots; while there are none, old versions can be dropped.
    snapshots: AtomicUsize,
}

impl View {
    /// The state in `tree`, which is that of sequence `visible`; runs are to be frozen at
    /// `run_bytes`.
    pub(crate) fn new(tree: Tree, visible: u64, run_bytes: usize) -> Self {
        let runs = RunSet { active: Arc::new(Run::new(run_bytes)), frozen: Vec::new() };
        Self {
            tree,
            runs: RwLock::new(Arc::new(runs)),
            run_bytes,
            visible: AtomicU64::new(visible),
            dropped: AtomicU64::new(visible),
            snapshots: AtomicUsize::new(0),
        }
    }

    /// Returns the last sequence that readers see.
    pub(crate) fn visible(&self) -> u64 {
        self.visible.load(Ordering::SeqCst)
    }

    /// Makes `writes` visible atomically, as everything up to `sequence`. Only the writer thread may call it.
    pub(crate) fn publish(&self, writes: &[RunWrite], sequence: u64) {
        let active = Arc::clone(&self.runs.read().active);
        let visible = self.visible();
        for slice in writes.chunks(PUBLISH_SLICE) {
            active.insert(slice, visible, || self.snapshots.load(Ordering::SeqCst) > 0);
        }
        self.visible.store(sequence, Ordering::SeqCst);
    }

    /// Returns roughly the bytes of the active run, and of all runs.
    pub(crate) fn memory(&self) -> (usize, usize) {
        let runs = Arc::clone(&self.runs.read());
        let active = runs.active.bytes();
        (active, active + runs.frozen.iter().map(|frozen| frozen.run.bytes()).sum::<usize>())
    }

    /// Returns roughly the bytes that are not in the tree yet.
    pub(crate) fn pending_bytes(&self) -> usize {
        let runs = Arc::clone(&self.runs.read());
        let frozen = runs.frozen.iter().map(|frozen| frozen.pending_bytes());
        runs.active.bytes() + frozen.sum::<usize>()
    }

    /// Returns the number of runs that are not in the tree yet.
    pub(crate) fn frozen(&self) -> usize {
        self.runs.read().frozen.len()
    }

    /// Freezes the active run unless it is empty. Only the writer thread may call it, between groups.
    pub(crate) fn freeze(&self, through: LogPosition) {
        let mut runs = self.runs.write();
        if runs.active.is_empty() {
            return;
        }
        let full = Arc::new(FrozenRun::new(Arc::clone(&runs.active), through));
        let frozen = std::iter::once(full).chain(runs.frozen.iter().cloned()).collect();
        *runs = Arc::new(RunSet { active: Arc::new(Run::new(self.run_bytes)), frozen });
    }

    pub(crate) fn oldest_frozen(&self) -> Option<Arc<FrozenRun>> {
        self.runs.read().frozen.last().cloned()
    }

    /// Drops the oldest frozen run, which is in the tree now.
    pub(crate) fn drop_oldest_frozen(&self) {
        let mut runs = self.runs.write();
        let mut frozen = runs.frozen.clone();
        if let Some(oldest) = frozen.pop() {
            self.dropped.store(oldest.through.sequence, Ordering::SeqCst);
        }
        *runs = Arc::new(RunSet { active: Arc::clone(&runs.active), frozen });
    }

    /// Reads `key` and notes a sequence; the value is at least as new as that sequence.
    pub(crate) fn read_ahead(&self, key: &[u8]) -> Result<ReadAhead> {
        let sequence = self.visible();
        Ok(ReadAhead { sequence, stored: self.get(key)? })
    }

    /// Same as [`Self::read_ahead`] for many keys: the tree is opened once, after reading the runs.
    pub(crate) fn read_ahead_many(&self, keys: &[Bytes]) -> Result<Vec<ReadAhead>> {
        let sequence = self.visible();
        let runs = Arc::clone(&self.runs.read());
        let in_memory: Vec<_> = keys.iter().map(|key| runs.get(key, || self.visible())).collect();
        let tree = self.tree.read()?;
        let look = |(key, in_memory): (&Bytes, Option<StoredValue>)| {
            let stored = in_memory.map_or_else(|| self.tree.get(&tree, key), Ok)?;
            Ok(ReadAhead { sequence, stored })
        };
        keys.iter().zip(in_memory).map(look).collect()
    }

    /// Reads `key`, given the value a caller read earlier. That value is still current unless a run
    /// holds a newer one, or a run that may have held one was dropped since. So callers' threads
    /// search the tree, and the writer thread hardly ever does.
    pub(crate) fn get_with_read_ahead(
        &self,
        key: &[u8],
        read_ahead: &ReadAhead,
    ) -> Result<StoredValue> {
        let runs = Arc::clone(&self.runs.read());
        match runs.get(key, || self.visible()) {
            Some(stored) => Ok(stored),
            None if self.dropped.load(Ordering::SeqCst) <= read_ahead.sequence => {
                Ok(read_ahead.stored.clone())
            }
            None => self.tree.get(&self.tree.read()?, key),
        }
    }

    pub(crate) fn get(&self, key: &[u8]) -> Result<StoredValue> {
        let runs = Arc::clone(&self.runs.read());
        let in_memory = runs.get(key, || self.visible());
        match in_memory {
            Some(stored) => Ok(stored),
            // The tree is opened after the runs were read, so it can only be newer than they were;
            // and everything in it was visible before it got there.
            None => self.tree.get(&self.tree.read()?, key),
        }
    }

    /// Returns a consistent snapshot for several reads.
    pub(crate) fn snapshot(&self) -> Result<Snapshot<'_>> {
        let held = SnapshotGuard::new(&self.snapshots);
        loop {
            let runs = Arc::clone(&self.runs.read());
            let sequence = self.visible();
            let txn = self.tree.read()?;
            // A run frozen or dropped meanwhile would make the three inconsistent.
            if Arc::ptr_eq(&runs, &self.runs.read()) {
                return Ok(Snapshot { tree: &self.tree, runs, sequence, txn, _held: held });
            }
        }
    }
}

impl RunSet {
    fn get(&self, key: &[u8], sequence: impl Fn() -> u64) -> Option<StoredValue> {
        let fingerprint = Fingerprint::of_key(key);
        let mut likely = self.all().filter(|run| run.may_contain(fingerprint));
        likely.find_map(|run| run.get(key, &sequence))
    }

    /// Newest first.
    fn all(&self) -> impl Iterator<Item = &Run> {
        let frozen = self.frozen.iter().map(|frozen| &*frozen.run);
        std::iter::once(&*self.active).chain(frozen)
    }
}

/// Counts a live snapshot.
#[derive(Debug)]
struct SnapshotGuard<'v>(&'v AtomicUsize);

impl<'v> SnapshotGuard<'v> {
    fn new(count: &'v AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for SnapshotGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// All tables at one sequence. Hold it briefly: it keeps old versions and old pages of the tree alive.
pub(crate) struct Snapshot<'v> {
    tree: &'v Tree,
    runs: Arc<RunSet>,
    sequence: u64,
    txn: ReadTxn<'v>,
    _held: SnapshotGuard<'v>,
}

impl Snapshot<'_> {
    /// Returns the last sequence in the snapshot.
    pub(crate) const fn sequence(&self) -> u64 {
        self.sequence
    }

    pub(crate) fn get(&self, key: &[u8]) -> Result<StoredValue> {
        match self.runs.get(key, || self.sequence) {
            Some(stored) => Ok(stored),
            None => self.tree.get(&self.txn, key),
        }
    }

    /// Walks `range`, expecting that about `hint` entries will be read.
    pub(crate) fn walk(
        &self,
        range: &KeyRange,
        order: Order,
        hint: usize,
    ) -> Result<RangeCursor<'_>> {
        let tree = self.tree.walk(&self.txn, range, order)?;
        let runs = self.runs.all().filter(|run| range.may_overlap(run));
        RangeCursor::new(tree, runs, range, order, self.sequence, hint)
    }
}
