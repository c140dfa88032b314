//! The engine: opens a data directory, runs its threads, and serves the table contract.

mod open;
mod order;
mod serve;
#[cfg(feature = "testing")]
pub(crate) mod step;

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use roundtable_table::{
    Error, Invalid, Item, Result, TableDefinition, Write, WriteOutput, essential, is_essential,
};
use tokio::sync::oneshot;

use self::open::{DirectoryLock, Replay, lock, open_log_directory, sync_names};
use crate::catalog::{self, TableEntry};
use crate::checkpoint::CheckpointStep;
use crate::health::EngineHealth;
use crate::holds::{ARCHIVE, StreamHold};
use crate::keys;
use crate::log::{OpenedLog, WriteAheadLog};
use crate::metrics::Metrics;
use crate::options::Options;
use crate::pauses::Obstacle;
use crate::record::EngineRow;
use crate::request::{PendingWrite, QueuedRequest, ReplySender, WriterRequest};
use crate::shared::{SharedState, SharedStateParts};
use crate::signal::Signal;
use crate::threads::{self, EngineThread};
use crate::tree::Tree;
use crate::writer::{Writer, WriterQueue};
use crate::{backup, checkpoint, evaluate, upkeep};

/// The directory of the log's files, inside a data directory.
pub(crate) const LOG_DIRECTORY: &str = "log";
const CONSUMER_BYTES_MAX: usize = 255;

/// An embedded store of tables in one directory. Clones share it; dropping the last one closes it.
#[derive(Clone, Debug)]
pub struct Engine(Arc<EngineInner>);

#[derive(Debug)]
struct EngineInner {
    shared: Arc<SharedState>,
    /// `None` once closing.
    requests: Option<Arc<WriterQueue>>,
    threads: Vec<JoinHandle<()>>,
    /// Closing leaves the log unapplied, as a crash would.
    abandoned: std::sync::atomic::AtomicBool,
    /// The last field, so that it is released after everything else.
    _lock: DirectoryLock,
}

impl Engine {
    /// The name of the archive among the consumers of the stream.
    pub const ARCHIVE: &str = ARCHIVE;

    /// Opens the data directory `path`, creating it if needed. Replays the part of the log that is not
    /// in the tree, cuts off a torn tail, and fails on damaged data.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        Self::open_directory(path.as_ref(), options).map_err(|error| match error {
            Error::WritesPaused { reason } => {
                Error::Io { action: String::from("cannot open the store"), detail: reason }
            }
            other => other,
        })
    }

    fn open_directory(path: &Path, mut options: Options) -> Result<Self> {
        let lock = lock(path)?;
        let tree = Tree::open(path, options.sync_tree)?;
        if options.sync_tree {
            sync_names(path)?;
        }
        let disk = match options.disk.take() {
            Some(disk) => disk,
            None => open_log_directory(path)?,
        };
        // A process killed between a commit and its sync leaves a root that is only in the page
        // cache; the log may be trimmed up to it only once it is on the disk.
        if options.sync_tree {
            tree.sync()?;
        }
        let applied = tree.applied()?;
        let sequence = applied.map_or(0, |position| position.sequence);
        let mut replay = Replay::new(tree, sequence, Arc::clone(&disk), &options);
        replay.load_rows()?;
        let wake = Arc::new(Signal::default());
        let opened = WriteAheadLog::open(
            Arc::clone(&disk),
            options.segment_bytes,
            applied,
            Arc::clone(&wake),
            &mut |record, position| replay.apply(&record, position),
        )?;
        let OpenedLog { log, appender, cut_bytes } = opened;
        // A restored tree may be older than the order in the log.
        if replay.catalog.has_order() {
            replay.view.tree.mark_ordered()?;
        }
        if cut_bytes > 0 {
            tracing::warn!(
                cut_bytes,
                "cut a torn tail off the log; its writes were never acknowledged"
            );
        }
        tracing::info!(records = replay.records, "replayed the log");
        replay.view.freeze(appender.position());
        let shared = Arc::new(SharedState::new(SharedStateParts {
            options,
            disk,
            view: replay.view,
            log,
            catalog: Arc::new(replay.catalog),
            holds: replay.holds,
            applied: sequence,
            upkeep: wake,
        }));
        shared.metrics.cut_bytes.store(cut_bytes, Ordering::Relaxed);
        let (requests, writer) = Writer::open(Arc::clone(&shared), appender);
        let requests = Arc::new(requests);
        shared.check_space();
        let threads = match writer {
            Some(writer) => start_threads(&shared, writer, &requests)?,
            None => Vec::new(),
        };
        let abandoned = std::sync::atomic::AtomicBool::new(false);
        Ok(Self(Arc::new(EngineInner {
            shared,
            requests: Some(requests),
            threads,
            abandoned,
            _lock: lock,
        })))
    }

    /// Applies everything written so far to the tree and waits for it. Blocks.
    pub fn checkpoint(&self) -> Result<()> {
        self.0.checkpoint()
    }

    /// Closes the engine after a checkpoint, so that the next start has nothing to replay. Other
    /// clones keep it open.
    pub fn close(self) -> Result<()> {
        self.checkpoint()
    }

    /// Ends the engine without a checkpoint, as a crash would: the next start replays the log. For
    /// tests of recovery.
    pub fn abandon(self) {
        self.0.abandoned.store(true, Ordering::SeqCst);
    }

    /// Removes all expired items now and returns their number. Blocks.
    pub fn sweep(&self) -> Result<usize> {
        upkeep::sweep(&self.0.shared, &self.0.weak_requests(), usize::MAX)
    }

    /// Copies everything acknowledged so far into a new directory, while writes continue, and returns
    /// the last sequence in it. The copy is itself a data directory. Blocks.
    pub fn backup(&self, into: impl AsRef<Path>) -> Result<u64> {
        backup::backup(&self.0.shared, into.as_ref())
    }

    /// Keeps the log after `sequence` for a consumer of the stream; `None` releases it.
    pub async fn hold(&self, consumer: &str, sequence: Option<u64>) -> Result<()> {
        if consumer == ARCHIVE {
            let detail = format!("the consumer {ARCHIVE:?} is the archive of log files");
            return Err(Invalid::Rejected { detail }.into());
        }
        if consumer.is_empty() || consumer.len() > CONSUMER_BYTES_MAX {
            let detail = format!(
                "a consumer's name must have 1 to {CONSUMER_BYTES_MAX} bytes, not {}",
                consumer.len()
            );
            return Err(Invalid::Rejected { detail }.into());
        }
        let value = sequence.map(|sequence| sequence.to_le_bytes().to_vec().into());
        let row: EngineRow = (catalog::hold_key(consumer), value);
        // The log can be trimmed only if holds advance.
        essential(self.send_request(|reply| WriterRequest::Rows(vec![row], reply))).await
    }

    /// Names the consumers whose holds must exist before anything is trimmed.
    pub fn expect_consumers(&self, consumers: impl IntoIterator<Item = String>) {
        self.0.shared.holds.expect(consumers);
    }

    /// Returns all consumers that keep the log, with their positions.
    pub fn holds(&self) -> Vec<StreamHold> {
        self.0.shared.holds()
    }

    /// Checks all checksums, and that items, indexes and stream agree; returns a list of faults.
    pub fn audit(&self) -> Result<Vec<String>> {
        crate::audit::audit(&self.0.shared)
    }

    /// Returns what is wrong, such as a full disk, and the state of the threads.
    pub fn health(&self) -> EngineHealth {
        EngineHealth::of(&self.0.shared)
    }

    pub fn metrics(&self) -> Metrics {
        let shared = &self.0.shared;
        let sequence = shared.view.visible();
        let (holds, archives) = (shared.holds(), shared.options.archive.is_some());
        let slowest = holds.iter().map(|hold| hold.sequence).min().unwrap_or(sequence);
        Metrics {
            memtable_bytes: shared.view.memory().1 as u64,
            frozen_runs: shared.view.frozen() as u64,
            log_bytes: shared.log.bytes(),
            tree_bytes: shared.view.tree.disk_bytes(),
            sequence,
            stream_lag: sequence.saturating_sub(slowest),
            holds,
            free_bytes: shared.free_bytes(),
            archive_age_ms: archives.then(|| shared.archive.age_ms(shared.clock.now_ms())),
            ..shared.metrics.read()
        }
    }

    fn entry(&self, name: &str) -> Result<Arc<TableEntry>> {
        self.0.shared.catalog.read().get(name).cloned()
    }

    fn now_seconds(&self) -> u64 {
        self.0.shared.clock.now_seconds()
    }

    /// Sends a request to the writer thread and waits for its reply.
    async fn send_request<T>(
        &self,
        request: impl FnOnce(ReplySender<T>) -> WriterRequest,
    ) -> Result<T> {
        let closed = |is_attempted| match self.0.shared.stopped() {
            Some(reason) => Error::WritesStopped { reason, is_attempted },
            None => Error::Unavailable { detail: String::from("the engine is closed") },
        };
        let (reply, answer) = oneshot::channel();
        let requests = self.0.requests.as_ref().ok_or_else(|| closed(false))?;
        let queued = QueuedRequest { request: request(reply), is_essential: is_essential() };
        if !requests.send(queued) {
            return Err(closed(false));
        }
        // A writer that ended may have written the request before.
        answer.await.map_err(|_| closed(true))?
    }

    async fn write(&self, table: &TableDefinition, write: Write) -> Result<WriteOutput> {
        let pending_write = Box::new(self.pending_write(table, write)?);
        self.send_request(|reply| WriterRequest::Single(pending_write, reply)).await
    }

    fn pending_write(&self, table: &TableDefinition, write: Write) -> Result<PendingWrite> {
        let entry = self.entry(&table.name)?;
        // The write was checked against the definition in the caller's handle, which may be
        // outdated.
        if entry.definition != *table {
            entry.definition.check_write(&write)?;
        }
        let key = evaluate::key_of(&entry.definition, &write)?;
        let key = keys::item_key(entry.number, &key);
        let read_ahead = self.0.shared.view.read_ahead(&key)?;
        Ok(PendingWrite { entry, key, write, read_ahead })
    }

    /// Same as [`Self::pending_write`] for many writes to one table, read together.
    fn pending_writes(
        &self,
        table: &TableDefinition,
        writes: Vec<Write>,
    ) -> Result<Vec<PendingWrite>> {
        let entry = self.entry(&table.name)?;
        let is_as_checked = entry.definition == *table;
        let mut keys = Vec::with_capacity(writes.len());
        for write in &writes {
            if !is_as_checked {
                entry.definition.check_write(write)?;
            }
            let key = evaluate::key_of(&entry.definition, write)?;
            keys.push(keys::item_key(entry.number, &key));
        }
        let read_ahead = self.0.shared.view.read_ahead_many(&keys)?;
        let found = keys.into_iter().zip(writes).zip(read_ahead);
        let pending_write = |((key, write), read_ahead)| PendingWrite {
            entry: Arc::clone(&entry),
            key,
            write,
            read_ahead,
        };
        Ok(found.map(pending_write).collect())
    }

    /// Decodes a stored item; `None` if it is expired.
    fn live(&self, entry: &TableEntry, stored: Option<bytes::Bytes>) -> Option<Item> {
        let item = stored.and_then(Item::from_stored)?;
        let expires_at = entry.definition.expires_at(&item);
        expires_at.is_none_or(|at| at > self.now_seconds()).then_some(item)
    }
}

impl EngineInner {
    fn weak_requests(&self) -> Weak<WriterQueue> {
        self.requests.as_ref().map_or_else(Weak::new, Arc::downgrade)
    }

    fn checkpoint(&self) -> Result<()> {
        upkeep::send_request(&self.weak_requests(), WriterRequest::Freeze)?;
        let shared = &self.shared;
        let target = shared.view.visible();
        if shared.options.is_stepped {
            while checkpoint::step(shared) == CheckpointStep::Applied {}
        }
        let behind = || shared.view.frozen() > 0 && shared.applied.load(Ordering::SeqCst) < target;
        let fails = || shared.stopped().is_some() || shared.pauses.has(Obstacle::Tree);
        let waiting = || behind() && !fails();
        while !shared.room.wait_while(waiting, Duration::from_secs(1)) {}
        // Low space alone keeps no run from the tree.
        if fails() { shared.refusal().map_or(Ok(()), Err) } else { Ok(()) }
    }
}

impl Drop for EngineInner {
    fn drop(&mut self) {
        let abandoned = self.abandoned.load(Ordering::SeqCst);
        if abandoned {
            self.shared.abandon();
        } else if self.shared.stopped().is_none()
            && let Err(error) = self.checkpoint()
        {
            tracing::warn!(%error, "the last checkpoint failed; the next start replays the log");
        }
        self.requests = None;
        self.shared.closing.store(true, Ordering::SeqCst);
        self.shared.work.notify();
        self.shared.upkeep.notify();
        for thread in self.threads.drain(..) {
            // A panic was reported when it happened.
            let _ = thread.join();
        }
    }
}

fn start_threads(
    shared: &Arc<SharedState>,
    writer: Writer,
    requests: &Arc<WriterQueue>,
) -> Result<Vec<JoinHandle<()>>> {
    let (checkpointing, keeping) = (Arc::clone(shared), Arc::clone(shared));
    let weak = Arc::downgrade(requests);
    Ok(vec![
        threads::start(shared, EngineThread::Writer, move || writer.run())?,
        threads::start(shared, EngineThread::Checkpoint, move || checkpoint::run(&checkpointing))?,
        threads::start(shared, EngineThread::Upkeep, move || upkeep::run(&keeping, &weak))?,
    ])
}
