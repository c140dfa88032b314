//! The engine: opens a data directory, runs its threads, and serves the table contract.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use roundtable_table::{
    Backend, BatchGet, BatchWrite, Capabilities, Capacity, Delete, Found, FoundMany, Get, Item,
    Merge, Page, Put, Query, ReadMode, Scan, Shard, StreamPage, StreamRead, TableDefinition,
    TableGet, Update, Written,
};
use roundtable_table::{Error, Order, Result, TableWrite, Transaction, Write, async_trait};
use tokio::sync::oneshot;

use crate::catalog::{self, Catalog, Entry};
use crate::disk::{self, Directory, Disk};
use crate::group::{Reply, Request, Target, Token};
use crate::keys::{self, KeyRange};
use crate::log::{Log, Opened};
use crate::metrics::Metrics;
use crate::options::Options;
use crate::record::{Record, Row};
use crate::shared::{Parts, Shared};
use crate::signal::Signal;
use crate::tree::Tree;
use crate::view::View;
use crate::writer::{Writer, absorb_holds};
use crate::{backup, checkpoint, evaluate, read, stream, upkeep};

/// Where the log's files are, inside a data directory.
pub(crate) const LOG_DIRECTORY: &str = "log";
const LOCK_FILE: &str = "lock";

/// An embedded store of tables in one directory. Clones share it; the last one closes it.
#[derive(Clone, Debug)]
pub struct Engine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    /// `None` once closing.
    requests: Option<Arc<Sender<Request>>>,
    threads: Vec<JoinHandle<()>>,
    /// Whether closing leaves the log unapplied, as a crash would.
    abandoned: std::sync::atomic::AtomicBool,
    /// Held until everything else is gone.
    _lock: File,
}

impl Engine {
    /// Opens the data directory `path`, making it if needed: replays what the log holds beyond the
    /// tree, cuts a torn tail, refuses damage.
    pub fn open(path: impl AsRef<Path>, mut options: Options) -> Result<Self> {
        let path = path.as_ref();
        let lock = lock(path)?;
        let tree = Tree::open(path, options.sync_tree)?;
        if options.sync_tree {
            sync_names(path)?;
        }
        let disk = match options.disk.take() {
            Some(disk) => disk,
            None => open_log_directory(path)?,
        };
        let applied = tree.applied()?;
        let sequence = applied.map_or(0, |position| position.sequence);
        let mut replay = Replay {
            view: View::new(tree, sequence, options.memtable_bytes),
            catalog: Catalog::default(),
            holds: parking_lot::Mutex::default(),
            memtable_bytes: options.memtable_bytes,
            records: 0,
        };
        replay.load_rows()?;
        let wake = Arc::new(Signal::default());
        let opened = Log::open(
            Arc::clone(&disk),
            options.segment_bytes,
            applied,
            Arc::clone(&wake),
            &mut |record, position| replay.take(&record, position),
        )?;
        let Opened { log, appender, cut_bytes } = opened;
        if cut_bytes > 0 {
            tracing::warn!(cut_bytes, "cut a torn tail off the log: it was never acknowledged");
        }
        tracing::info!(records = replay.records, "replayed the log");
        replay.view.freeze(appender.position());
        let shared = Arc::new(Shared::new(Parts {
            options,
            disk,
            view: replay.view,
            log,
            catalog: Arc::new(replay.catalog),
            holds: replay.holds.into_inner(),
            applied: sequence,
            upkeep: wake,
        }));
        shared.metrics.cut_bytes.store(cut_bytes, Ordering::Relaxed);
        let (sender, receiver) = mpsc::channel();
        let requests = Arc::new(sender);
        let writer = Writer { shared: Arc::clone(&shared), appender, requests: receiver };
        let threads = start_threads(&shared, writer, &requests)?;
        let abandoned = std::sync::atomic::AtomicBool::new(false);
        Ok(Self(Arc::new(Inner {
            shared,
            requests: Some(requests),
            threads,
            abandoned,
            _lock: lock,
        })))
    }

    /// Brings everything written so far into the tree and waits for it. Blocks.
    pub fn checkpoint(&self) -> Result<()> {
        self.0.checkpoint()
    }

    /// Closes the engine after a checkpoint, so that the next start has nothing to replay. Other
    /// clones must be gone, or they keep it open.
    pub fn close(self) -> Result<()> {
        self.checkpoint()
    }

    /// Ends the engine without bringing the log into the tree, as a crash would: the next start
    /// replays it. For tests of recovery.
    pub fn abandon(self) {
        self.0.abandoned.store(true, Ordering::SeqCst);
    }

    /// Removes every item whose time is over, now; gives their number. Blocks.
    pub fn sweep(&self) -> Result<usize> {
        upkeep::sweep(&self.0.shared, &self.0.weak_requests())
    }

    /// Writes a copy of everything acknowledged so far into a new directory, while writes go on;
    /// gives the last sequence in it. The copy can be opened as it is. Blocks.
    pub fn backup(&self, into: impl AsRef<Path>) -> Result<u64> {
        backup::backup(&self.0.shared, into.as_ref())
    }

    /// Keeps the log after `sequence` for a consumer of the stream; `None` lets it go.
    pub async fn hold(&self, consumer: &str, sequence: Option<u64>) -> Result<()> {
        let value = sequence.map(|sequence| sequence.to_le_bytes().to_vec().into());
        let row: Row = (catalog::hold_key(consumer), value);
        self.ask(|reply| Request::Rows(vec![row], reply)).await
    }

    /// Checks every checksum and that base, indexes and stream agree; gives what it found wrong.
    pub fn audit(&self) -> Result<Vec<String>> {
        crate::audit::audit(&self.0.shared)
    }

    /// The engine's figures.
    pub fn metrics(&self) -> Metrics {
        let shared = &self.0.shared;
        let sequence = shared.view.visible();
        let slowest = shared.holds.lock().values().min().copied().unwrap_or(sequence);
        Metrics {
            memtable_bytes: shared.view.memory().1 as u64,
            frozen_runs: shared.view.frozen() as u64,
            log_bytes: shared.log.bytes(),
            tree_bytes: shared.view.tree.disk_bytes(),
            sequence,
            stream_lag: sequence.saturating_sub(slowest),
            ..shared.metrics.read()
        }
    }

    fn entry(&self, name: &str) -> Result<Arc<Entry>> {
        self.0.shared.catalog.read().get(name).cloned()
    }

    fn now_seconds(&self) -> u64 {
        self.0.shared.clock.now_seconds()
    }

    /// Hands a request to the writer and waits for its answer.
    async fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T> {
        let closed = || Error::Unavailable { detail: String::from("the engine is closed") };
        let (reply, answer) = oneshot::channel();
        let requests = self.0.requests.as_ref().ok_or_else(closed)?;
        requests.send(request(reply)).map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    async fn write(&self, table: &TableDefinition, write: Write) -> Result<Written> {
        let target = Box::new(self.target(self.entry(&table.name)?, write)?);
        self.ask(|reply| Request::One(target, reply)).await
    }

    fn target(&self, entry: Arc<Entry>, write: Write) -> Result<Target> {
        let key = evaluate::key_of(&entry.definition, &write)?;
        let key = keys::item_key(entry.number, &key);
        let early = self.0.shared.view.get_early(&key)?;
        Ok(Target { entry, key, write, early })
    }

    /// An item as readers see it: expired ones are gone.
    fn live(&self, entry: &Entry, stored: Option<bytes::Bytes>) -> Option<Item> {
        let item = stored.and_then(Item::from_stored)?;
        let expires_at = entry.definition.expires_at(&item);
        expires_at.is_none_or(|at| at > self.now_seconds()).then_some(item)
    }
}

/// What a transaction is known by: its writes as they print, and its keys, of which long ones print
/// shortened. Only this program reads it, and only for ten minutes.
fn fingerprint(targets: &[Target]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for Target { entry, key, write, .. } in targets {
        let printed = format!("{:?} {write:?}", entry.definition);
        for part in [printed.as_bytes(), key.get(keys::PREFIX_BYTES..).unwrap_or_default()] {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part);
        }
    }
    *hasher.finalize().as_bytes()
}

impl Inner {
    fn weak_requests(&self) -> Weak<Sender<Request>> {
        self.requests.as_ref().map_or_else(Weak::new, Arc::downgrade)
    }

    fn checkpoint(&self) -> Result<()> {
        upkeep::ask(&self.weak_requests(), Request::Freeze)?;
        let shared = &self.shared;
        let target = shared.view.visible();
        let behind = || shared.view.frozen() > 0 && shared.applied.load(Ordering::SeqCst) < target;
        let waiting = || behind() && shared.stopped().is_none();
        while !shared.room.wait_while(waiting, Duration::from_secs(1)) {}
        shared.stopped().map_or(Ok(()), |reason| Err(Error::WritesStopped { reason }))
    }
}

impl Drop for Inner {
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
            if thread.join().is_err() {
                tracing::error!("a thread of the engine panicked");
            }
        }
    }
}

/// Takes the lock file of a data directory, which keeps other processes out.
fn lock(path: &Path) -> Result<File> {
    let fault = |error: &std::io::Error| Error::Io {
        action: format!("cannot open the data directory {}", path.display()),
        detail: error.to_string(),
    };
    std::fs::create_dir_all(path).map_err(|error| fault(&error))?;
    let file_path = path.join(LOCK_FILE);
    let mut options = File::options();
    let mut file = options
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&file_path)
        .map_err(|error| fault(&error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let owner = std::fs::read_to_string(&file_path).unwrap_or_default();
            return Err(Error::Io {
                action: format!("cannot open the data directory {}", path.display()),
                detail: format!(
                    "another process (number {}) has it open; stop that one first",
                    owner.trim()
                ),
            });
        }
        Err(TryLockError::Error(error)) => return Err(fault(&error)),
    }
    // Who holds it, for the message above; the lock itself does not depend on it.
    let note = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    note.map_err(|error| fault(&error))?;
    Ok(file)
}

/// Makes sure that the data directory and the tree's file will be found after a power loss.
fn sync_names(path: &Path) -> Result<()> {
    let synced = disk::sync_parent(path).and_then(|()| disk::sync_directory(path));
    synced.map_err(|error| Error::Io {
        action: format!("cannot sync the data directory {}", path.display()),
        detail: error.to_string(),
    })
}

fn open_log_directory(path: &Path) -> Result<Arc<dyn Disk>> {
    let path: PathBuf = path.join(LOG_DIRECTORY);
    let directory = Directory::open(&path).map_err(|error| Error::Io {
        action: format!("cannot open {}", path.display()),
        detail: error.to_string(),
    })?;
    Ok(Arc::new(directory))
}

fn start_threads(
    shared: &Arc<Shared>,
    writer: Writer,
    requests: &Arc<Sender<Request>>,
) -> Result<Vec<JoinHandle<()>>> {
    let start = |name: &str, run: Box<dyn FnOnce() + Send>| {
        let thread = std::thread::Builder::new().name(format!("roundtable-{name}"));
        thread.spawn(run).map_err(|error| Error::Io {
            action: format!("cannot start the {name} thread"),
            detail: error.to_string(),
        })
    };
    let (checkpointing, keeping) = (Arc::clone(shared), Arc::clone(shared));
    let weak = Arc::downgrade(requests);
    Ok(vec![
        start("writer", Box::new(move || writer.run()))?,
        start("checkpoint", Box::new(move || checkpoint::run(&checkpointing)))?,
        start("upkeep", Box::new(move || upkeep::run(&keeping, &weak)))?,
    ])
}

/// Rebuilds the state in memory from the tree's rows and the log.
struct Replay {
    view: View,
    catalog: Catalog,
    holds: parking_lot::Mutex<BTreeMap<String, u64>>,
    memtable_bytes: usize,
    records: u64,
}

impl Replay {
    fn load_rows(&mut self) -> Result<()> {
        let snapshot = self.view.snapshot()?;
        let range = KeyRange::of_prefix(catalog::all_rows());
        let mut cursor = snapshot.walk(&range, Order::Ascending, 1)?;
        while let Some(entry) = cursor.step()? {
            let key = bytes::Bytes::copy_from_slice(entry.key());
            let row: Row = (key, Some(entry.into_value()));
            self.catalog.absorb(&row)?;
            absorb_holds(&self.holds, std::slice::from_ref(&row));
        }
        Ok(())
    }

    fn take(&mut self, record: &Record, position: crate::log::LogPosition) -> Result<()> {
        self.records += 1;
        for row in &record.rows {
            self.catalog.absorb(row)?;
        }
        absorb_holds(&self.holds, &record.rows);
        let mut writes = Vec::new();
        for (sequence, change) in (record.first..).zip(&record.changes) {
            // A change of a table that is gone by now needs no place any more.
            if let Some(entry) = self.catalog.by_number(change.table) {
                evaluate::derive(entry, change, sequence, &mut writes);
            }
        }
        writes.extend(record.rows.iter().map(|(key, value)| crate::memtable::RunWrite {
            key: key.clone(),
            value: value.clone(),
            sequence: record.last(),
        }));
        self.view.publish(&writes, record.last());
        // Only between groups: what recovery makes of a torn one depends on where it began.
        if record.ends_group && self.view.memory().0 >= self.memtable_bytes {
            self.view.freeze(position);
        }
        Ok(())
    }
}

#[async_trait]
impl Backend for Engine {
    fn capabilities(&self) -> Capabilities {
        Capabilities { strong_index_reads: true, one_process: true, transaction_conflicts: false }
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        self.ask(|reply| Request::CreateTable(definition.clone(), reply)).await
    }

    async fn describe_table(&self, name: &str) -> Result<TableDefinition> {
        Ok(self.entry(name)?.definition.clone())
    }

    async fn list_tables(&self) -> Result<Vec<String>> {
        Ok(self.0.shared.catalog.read().names())
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        self.ask(|reply| Request::DeleteTable(name.to_owned(), reply)).await
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<Found> {
        let entry = self.entry(&table.name)?;
        let stored = self.0.shared.view.get(&keys::item_key(entry.number, &get.key))?;
        let item = self.live(&entry, stored);
        let size = item.as_ref().map_or(0, Item::size);
        let item = item.map(|item| read::project(item, &get.projection));
        Ok(Found { item, capacity: Capacity::read(size, ReadMode::of(get.strong)) })
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<FoundMany> {
        let entry = self.entry(&table.name)?;
        let mut capacity = Capacity::ZERO;
        let mut items = Vec::with_capacity(batch.keys.len());
        for key in &batch.keys {
            let stored = self.0.shared.view.get(&keys::item_key(entry.number, key))?;
            let item = self.live(&entry, stored);
            let size = item.as_ref().map_or(0, Item::size);
            capacity += Capacity::read(size, ReadMode::of(batch.strong));
            items.push(item.map(|item| read::project(item, &batch.projection)));
        }
        Ok(FoundMany { items, capacity })
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<FoundMany> {
        let entries: Result<Vec<_>> = gets.iter().map(|get| self.entry(&get.table.name)).collect();
        let entries = entries?;
        let snapshot = self.0.shared.view.snapshot()?;
        let mut capacity = Capacity::ZERO;
        let mut items = Vec::with_capacity(gets.len());
        for (entry, TableGet { get, .. }) in entries.iter().zip(&gets) {
            let stored = snapshot.get(&keys::item_key(entry.number, &get.key))?;
            let item = self.live(entry, stored);
            let size = item.as_ref().map_or(0, Item::size);
            capacity += Capacity::read(size, ReadMode::Transactional);
            items.push(item.map(|item| read::project(item, &get.projection)));
        }
        Ok(FoundMany { items, capacity })
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<Written> {
        self.write(table, put.into()).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written> {
        self.write(table, update.into()).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<Written> {
        self.write(table, delete.into()).await
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        let entry = self.entry(&table.name)?;
        let targets = writes.into_iter().map(|write| {
            let write = match write {
                BatchWrite::Put(item) => Put::new(item).into(),
                BatchWrite::Delete(key) => Delete::new(key).into(),
            };
            self.target(Arc::clone(&entry), write)
        });
        let targets = targets.collect::<Result<_>>()?;
        self.ask(|reply| Request::Batch(targets, reply)).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        let Transaction { writes, token } = transaction;
        let targets = writes
            .into_iter()
            .map(|TableWrite { table, write }| self.target(self.entry(&table.name)?, write));
        let targets = targets.collect::<Result<Vec<_>>>()?;
        let token = token.map(|token| Token {
            key: catalog::token_key(&token),
            fingerprint: fingerprint(&targets),
        });
        self.ask(|reply| Request::Transaction(targets, token, reply)).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page> {
        let entry = self.entry(&table.name)?;
        read::query(&entry, &self.0.shared.view.snapshot()?, &query, self.now_seconds())
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<Page> {
        let entry = self.entry(&table.name)?;
        read::scan(&entry, &self.0.shared.view.snapshot()?, &scan, self.now_seconds())
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<Page> {
        let entry = self.entry(&table.name)?;
        read::merge(&entry, &self.0.shared.view.snapshot()?, &merge, self.now_seconds())
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<Shard>> {
        self.entry(&table.name).map(|_| stream::shards())
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        let entry = self.entry(&table.name)?;
        stream::read(&self.0.shared, &entry, read).await
    }
}
