//! What readers see: the runs in memory over the tree, all at one sequence.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::RwLock;
use roundtable_table::{Order, Result};

use crate::cursor::Cursor;
use crate::filter::Fingerprint;
use crate::keys::KeyRange;
use crate::log::LogPosition;
use crate::memtable::{Run, RunWrite, Stored};
use crate::tree::{ReadTxn, Tree};

/// How many writes are inserted before readers get a turn at the lock.
const PUBLISH_SLICE: usize = 64;

/// A full run on its way into the tree.
#[derive(Debug)]
pub(crate) struct Frozen {
    pub(crate) run: Arc<Run>,
    /// The log up to here is in this run or those before it.
    pub(crate) through: LogPosition,
    entries: usize,
    entries_applied: AtomicUsize,
}

impl Frozen {
    fn new(run: Arc<Run>, through: LogPosition) -> Self {
        let entries = run.len();
        Self { run, through, entries, entries_applied: AtomicUsize::new(0) }
    }

    /// So many more of its entries are in the tree.
    pub(crate) fn count_applied(&self, entries: usize) {
        self.entries_applied.fetch_add(entries, Ordering::Relaxed);
    }

    /// Roughly how many of its bytes are not in the tree yet.
    fn pending_bytes(&self) -> usize {
        let left = self.entries.saturating_sub(self.entries_applied.load(Ordering::Relaxed));
        self.run.bytes() / self.entries.max(1) * left
    }
}

/// What a key held when its writer's caller looked.
#[derive(Debug)]
pub(crate) struct Early {
    sequence: u64,
    stored: Stored,
}

/// The runs at one time.
#[derive(Debug)]
struct Runs {
    active: Arc<Run>,
    /// Newest first.
    frozen: Vec<Arc<Frozen>>,
}

/// The current state of all tables.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) tree: Tree,
    runs: RwLock<Arc<Runs>>,
    run_bytes: usize,
    visible: AtomicU64,
    /// Up to which sequence runs were dropped.
    dropped: AtomicU64,
    /// How many snapshots are held: while there are none, old versions can be forgotten.
    snapshots: AtomicUsize,
}

impl View {
    /// The state held by `tree`, which is that of sequence `visible`; runs are to be frozen at
    /// `run_bytes`.
    pub(crate) fn new(tree: Tree, visible: u64, run_bytes: usize) -> Self {
        let runs = Runs { active: Arc::new(Run::new(run_bytes)), frozen: Vec::new() };
        Self {
            tree,
            runs: RwLock::new(Arc::new(runs)),
            run_bytes,
            visible: AtomicU64::new(visible),
            dropped: AtomicU64::new(visible),
            snapshots: AtomicUsize::new(0),
        }
    }

    /// The last sequence that readers see.
    pub(crate) fn visible(&self) -> u64 {
        self.visible.load(Ordering::SeqCst)
    }

    /// Makes `writes` visible, all at once, as everything up to `sequence`. Only the writer may.
    pub(crate) fn publish(&self, writes: &[RunWrite], sequence: u64) {
        let active = Arc::clone(&self.runs.read().active);
        let visible = self.visible();
        for slice in writes.chunks(PUBLISH_SLICE) {
            active.insert(slice, visible, || self.snapshots.load(Ordering::SeqCst) > 0);
        }
        self.visible.store(sequence, Ordering::SeqCst);
    }

    /// Roughly the memory of the active run, and of all of them.
    pub(crate) fn memory(&self) -> (usize, usize) {
        let runs = Arc::clone(&self.runs.read());
        let active = runs.active.bytes();
        (active, active + runs.frozen.iter().map(|frozen| frozen.run.bytes()).sum::<usize>())
    }

    /// Roughly how many bytes are not in the tree yet.
    pub(crate) fn pending_bytes(&self) -> usize {
        let runs = Arc::clone(&self.runs.read());
        let frozen = runs.frozen.iter().map(|frozen| frozen.pending_bytes());
        runs.active.bytes() + frozen.sum::<usize>()
    }

    /// How many runs wait for the tree.
    pub(crate) fn frozen(&self) -> usize {
        self.runs.read().frozen.len()
    }

    /// Freezes the active run, if anything is in it. Only the writer may, between groups.
    pub(crate) fn freeze(&self, through: LogPosition) {
        let mut runs = self.runs.write();
        if runs.active.is_empty() {
            return;
        }
        let full = Arc::new(Frozen::new(Arc::clone(&runs.active), through));
        let frozen = std::iter::once(full).chain(runs.frozen.iter().cloned()).collect();
        *runs = Arc::new(Runs { active: Arc::new(Run::new(self.run_bytes)), frozen });
    }

    /// The oldest frozen run.
    pub(crate) fn oldest_frozen(&self) -> Option<Arc<Frozen>> {
        self.runs.read().frozen.last().cloned()
    }

    /// Forgets the oldest frozen run, which the tree now holds.
    pub(crate) fn drop_oldest_frozen(&self) {
        let mut runs = self.runs.write();
        let mut frozen = runs.frozen.clone();
        if let Some(gone) = frozen.pop() {
            self.dropped.store(gone.through.sequence, Ordering::SeqCst);
        }
        *runs = Arc::new(Runs { active: Arc::clone(&runs.active), frozen });
    }

    /// What `key` holds now, and the sequence it was looked up at: at least as new as that.
    pub(crate) fn get_early(&self, key: &[u8]) -> Result<Early> {
        let sequence = self.visible();
        Ok(Early { sequence, stored: self.get(key)? })
    }

    /// The same of many keys: the tree is opened once, after the runs were looked at.
    pub(crate) fn get_early_many(&self, keys: &[Bytes]) -> Result<Vec<Early>> {
        let sequence = self.visible();
        let runs = Arc::clone(&self.runs.read());
        let in_memory: Vec<_> = keys.iter().map(|key| runs.get(key, || self.visible())).collect();
        let tree = self.tree.read()?;
        let look = |(key, in_memory): (&Bytes, Option<Stored>)| {
            let stored = in_memory.map_or_else(|| self.tree.get(&tree, key), Ok)?;
            Ok(Early { sequence, stored })
        };
        keys.iter().zip(in_memory).map(look).collect()
    }

    /// What `key` holds now, given what a caller saw earlier: unless a run says otherwise, or a run
    /// that may have said otherwise is gone, it still holds that. So the caller's thread searches
    /// the tree, and the writer hardly ever does.
    pub(crate) fn get_late(&self, key: &[u8], early: &Early) -> Result<Stored> {
        let runs = Arc::clone(&self.runs.read());
        match runs.get(key, || self.visible()) {
            Some(stored) => Ok(stored),
            None if self.dropped.load(Ordering::SeqCst) <= early.sequence => {
                Ok(early.stored.clone())
            }
            None => self.tree.get(&self.tree.read()?, key),
        }
    }

    /// What `key` holds now.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Stored> {
        let runs = Arc::clone(&self.runs.read());
        let in_memory = runs.get(key, || self.visible());
        match in_memory {
            Some(stored) => Ok(stored),
            // Begun after the runs were looked at, the tree can only be newer than they were; and
            // everything in it was visible before it got there.
            None => self.tree.get(&self.tree.read()?, key),
        }
    }

    /// Everything as it is now, for several reads.
    pub(crate) fn snapshot(&self) -> Result<Snapshot<'_>> {
        let held = Held::new(&self.snapshots);
        loop {
            let runs = Arc::clone(&self.runs.read());
            let sequence = self.visible();
            let txn = self.tree.read()?;
            // A run frozen or dropped meanwhile would make the three disagree.
            if Arc::ptr_eq(&runs, &self.runs.read()) {
                return Ok(Snapshot { tree: &self.tree, runs, sequence, txn, _held: held });
            }
        }
    }
}

impl Runs {
    fn get(&self, key: &[u8], sequence: impl Fn() -> u64) -> Option<Stored> {
        let fingerprint = Fingerprint::of_key(key);
        let mut likely = self.all().filter(|run| run.may_hold(fingerprint));
        likely.find_map(|run| run.get(key, &sequence))
    }

    /// Newest first.
    fn all(&self) -> impl Iterator<Item = &Run> {
        let frozen = self.frozen.iter().map(|frozen| &*frozen.run);
        std::iter::once(&*self.active).chain(frozen)
    }
}

/// Counts a snapshot while it lives.
#[derive(Debug)]
struct Held<'v>(&'v AtomicUsize);

impl<'v> Held<'v> {
    fn new(count: &'v AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// All tables at one sequence. Held briefly: it keeps old versions and old pages of the tree alive.
pub(crate) struct Snapshot<'v> {
    tree: &'v Tree,
    runs: Arc<Runs>,
    sequence: u64,
    txn: ReadTxn<'v>,
    _held: Held<'v>,
}

impl Snapshot<'_> {
    /// The last sequence it shows.
    pub(crate) const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// What `key` held.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Stored> {
        match self.runs.get(key, || self.sequence) {
            Some(stored) => Ok(stored),
            None => self.tree.get(&self.txn, key),
        }
    }

    /// Walks `range`, expecting to be asked for about `hint` entries.
    pub(crate) fn walk(&self, range: &KeyRange, order: Order, hint: usize) -> Result<Cursor<'_>> {
        let tree = self.tree.walk(&self.txn, range, order)?;
        let runs = self.runs.all().filter(|run| range.is_likely_in(run));
        Cursor::new(tree, runs, range, order, self.sequence, hint)
    }
}
