//! Opens a data directory: takes its lock, opens its log and replays it.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use roundtable_table::{Error, Order, Result};

use super::LOG_DIRECTORY;
use crate::catalog::{self, Catalog};
use crate::checkpoint;
use crate::disk::{self, DirectoryDisk, Disk};
use crate::evaluate;
use crate::holds::StreamHolds;
use crate::keys::KeyRange;
use crate::log::LogPosition;
use crate::memtable::RunWrite;
use crate::options::Options;
use crate::record::{EngineRow, Record};
use crate::tree::Tree;
use crate::view::View;

const LOCK_FILE: &str = "lock";
/// Number of full runs a replay leaves to the checkpointer.
const RUNS_WAITING_MAX: usize = 2;
/// The same on a full disk, where the tree takes none: as many as a running engine may have in memory, and
/// some more because a replay may cut them differently.
const RUNS_ON_FULL_DISK_MAX: usize = 8;

/// The held lock file of a data directory.
#[derive(Debug)]
pub(super) struct DirectoryLock(File);

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // Explicit, because a child process that is just being spawned may still have the file open.
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "cannot unlock the data directory; it stays locked until this process ends");
        }
    }
}

/// Locks a data directory against other processes.
pub(super) fn lock(path: &Path) -> Result<DirectoryLock> {
    let fault = |error: &std::io::Error| Error::Io {
        action: format!("cannot open the data directory {}", path.display()),
        detail: error.to_string(),
    };
    disk::create_private(path).map_err(|error| fault(&error))?;
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
                    "another process (pid {}) has it open; stop that one first",
                    owner.trim()
                ),
            });
        }
        Err(TryLockError::Error(error)) => return Err(fault(&error)),
    }
    // The owner's pid, for the message above. The lock does not depend on it, and the disk may be full.
    let note = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    if let Err(error) = note {
        tracing::warn!(%error, "cannot write the process id into the lock file");
    }
    Ok(DirectoryLock(file))
}

/// Syncs the names of the data directory and the tree's file, so that they survive a power loss.
pub(super) fn sync_names(path: &Path) -> Result<()> {
    let synced = disk::sync_parent(path).and_then(|()| disk::sync_directory(path));
    synced.map_err(|error| Error::Io {
        action: format!("cannot sync the data directory {}", path.display()),
        detail: error.to_string(),
    })
}

pub(super) fn open_log_directory(path: &Path) -> Result<Arc<dyn Disk>> {
    let path: PathBuf = path.join(LOG_DIRECTORY);
    let directory = DirectoryDisk::open(&path).map_err(|error| Error::Io {
        action: format!("cannot open {}", path.display()),
        detail: error.to_string(),
    })?;
    Ok(Arc::new(directory))
}

/// Rebuilds the state in memory from the engine rows in the tree and from the log.
pub(super) struct Replay {
    pub(super) view: View,
    pub(super) catalog: Catalog,
    pub(super) holds: StreamHolds,
    memtable_bytes: usize,
    disk: Arc<dyn Disk>,
    sync_tree: bool,
    pub(super) records: u64,
}

impl Replay {
    pub(super) fn new(tree: Tree, sequence: u64, disk: Arc<dyn Disk>, options: &Options) -> Self {
        Self {
            view: View::new(tree, sequence, options.memtable_bytes),
            catalog: Catalog::default(),
            holds: StreamHolds::new(options.awaits_consumers),
            memtable_bytes: options.memtable_bytes,
            disk,
            sync_tree: options.sync_tree,
            records: 0,
        }
    }

    /// Applies the engine rows in the tree.
    pub(super) fn load_rows(&mut self) -> Result<()> {
        let snapshot = self.view.snapshot()?;
        let range = KeyRange::of_prefix(catalog::all_rows());
        let mut cursor = snapshot.walk(&range, Order::Ascending, 1)?;
        while let Some(entry) = cursor.step()? {
            let key = Bytes::copy_from_slice(entry.key());
            let row: EngineRow = (key, Some(entry.into_value()));
            self.catalog.apply_row(&row)?;
            self.holds.apply(std::slice::from_ref(&row));
        }
        Ok(())
    }

    /// Applies one record of the log.
    pub(super) fn apply(&mut self, record: &Record, position: LogPosition) -> Result<()> {
        self.records += 1;
        for row in &record.rows {
            self.catalog.apply_row(row)?;
        }
        self.holds.apply(&record.rows);
        let mut writes = Vec::new();
        for (sequence, change) in (record.first..).zip(&record.changes) {
            // Changes of a deleted table are dropped.
            if let Some(entry) = self.catalog.by_number(change.table) {
                evaluate::derive(entry, change, sequence, &mut writes);
            }
        }
        writes.extend(record.rows.iter().map(|(key, value)| RunWrite {
            key: key.clone(),
            value: value.clone(),
            sequence: record.last(),
        }));
        self.view.publish(&writes, record.last());
        // Only between groups: recovery of a torn group depends on where it began.
        if record.ends_group && self.view.memory().0 >= self.memtable_bytes {
            self.view.freeze(position);
            self.make_room()?;
        }
        Ok(())
    }

    /// Applies runs to the tree at once if too many wait for the checkpointer: a restored store may
    /// have far more log than memory.
    fn make_room(&self) -> Result<()> {
        while self.view.frozen() > RUNS_WAITING_MAX
            && let Some(frozen) = self.view.oldest_frozen()
        {
            match checkpoint::apply(&self.view, &frozen, &*self.disk, self.sync_tree, || ()) {
                Ok(()) => self.view.drop_oldest_frozen(),
                // On a full disk, memory holds what it held before the restart.
                Err(Error::WritesPaused { .. }) if self.view.frozen() <= RUNS_ON_FULL_DISK_MAX => {
                    frozen.restart();
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
