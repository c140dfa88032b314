//! The checkpointed tree: LMDB, with a checksum on every value.
//!
//! Three databases: `items` (items by key), `entries` (index entries), `meta` (the applied position of
//! the log, and engine rows). The checksum covers key and value.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use bytes::Bytes;
use heed::types::Bytes as Raw;
use heed::{
    CommitOrAbort, CompactionOption, Database, Env, EnvFlags, EnvOpenOptions, RoTxn, RwTxn,
    WithoutTls,
};
use roundtable_table::{Error, Order, Result};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use crate::disk::{Disk, is_temporary};
use crate::keys::{self, KeyRange};
use crate::log::LogPosition;
use crate::memtable::StoredValue;
use xxhash_rust::xxh3::xxh3_64;

pub(crate) const FILE: &str = "tree.mdb";
const LOCK_FILE: &str = "tree.mdb-lock";
const APPLIED: &[u8] = b"applied";
const APPLYING: &[u8] = b"applying";
const FORMAT: &[u8] = b"format";
/// A tree whose tables have no order.
const FORMAT_PLAIN: &[u8] = b"1";
/// A tree that may have an order. Programs that know only the format before refuse it: they would
/// leave their items out of the order, and nothing would tell.
const FORMAT_ORDERED: &[u8] = b"2";
const CHECKSUM_BYTES: usize = 4;
/// Less free space than this explains a write that was cut short.
const NEARLY_FULL_BYTES: u64 = 1 << 20;
/// Read transactions at the same time.
const READERS_MAX: u32 = 4096;
/// At least 64 bytes for each reader, and as much as LMDB has before them.
const LOCK_FILE_BYTES: u64 = READERS_MAX as u64 * 64 + 4096;
/// Address space, not memory or disk; halved until the operating system grants it.
const MAP_BYTES: usize = 1 << 42;
const MAP_BYTES_MIN: usize = 1 << 30;

type TreeDatabase = Database<'static, Raw, Raw>;

#[derive(Debug)]
pub(crate) struct Tree {
    env: Env<WithoutTls>,
    items: TreeDatabase,
    entries: TreeDatabase,
    meta: TreeDatabase,
    /// True if commits are synced.
    sync: bool,
}

/// A read transaction has a slot of its own. If threads had slots, LMDB would write to a thread's slot when
/// the thread ends, also in the moment in which another one closes the tree and unmaps the slots.
pub(crate) type ReadTxn<'a> = RoTxn<'a, WithoutTls>;

/// Names a failed action. On a full disk nothing of a transaction is in the tree, which can be written again
/// later.
fn fault(action: &str) -> impl Fn(heed::Error) -> Error {
    move |error| match &error {
        heed::Error::Io(cause) if is_temporary(cause) => {
            Error::WritesPaused { reason: format!("cannot {action} the tree: {error}") }
        }
        _ => lasting_fault(action)(error),
    }
}

/// Names a failed action after which the state of the disk is unknown, whatever the cause.
fn lasting_fault(action: &str) -> impl Fn(heed::Error) -> Error {
    move |error| Error::Io {
        action: format!("cannot {action} the tree"),
        detail: error.to_string(),
    }
}

/// Allocates the lock file before LMDB opens it. LMDB maps the file and leaves it sparse, and on a full disk the
/// first write to a hole would end the process. Not after it is open: closing a second handle would release
/// LMDB's locks.
fn allocate_lock_file(path: &Path) {
    let file = File::options().create(true).truncate(false).write(true).open(path);
    let allocated = file.and_then(|file| {
        Ok(rustix::fs::fallocate(file, FallocateFlags::empty(), 0, LOCK_FILE_BYTES)?)
    });
    if let Err(error) = allocated {
        tracing::warn!(%error, path = %path.display(), "cannot allocate the lock file of the tree");
    }
}

fn open_env(path: &Path, sync: bool) -> Result<Env<WithoutTls>> {
    let mut map_bytes = MAP_BYTES;
    loop {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(map_bytes).max_dbs(3).max_readers(READERS_MAX);
        let mut flags = EnvFlags::NO_SUB_DIR | EnvFlags::NO_READ_AHEAD;
        // A commit syncs its pages, then writes the root. After a power loss the root may be one
        // commit behind, which is fine: replay starts where the root says.
        flags |= if sync { EnvFlags::NO_META_SYNC } else { EnvFlags::NO_SYNC };
        #[expect(
            unsafe_code,
            reason = "LMDB maps the file: no other process may write it meanwhile"
        )]
        // SAFETY: the directory's lock file keeps other processes out, the engine opens the tree
        // once, and the flags above do not turn locking off.
        let opened = unsafe {
            options.flags(flags);
            options.open(path)
        };
        match opened {
            Ok(env) => return Ok(env),
            Err(heed::Error::Io(error))
                if error.kind() == std::io::ErrorKind::OutOfMemory && map_bytes > MAP_BYTES_MIN =>
            {
                map_bytes /= 2;
            }
            Err(error) => return Err(fault("open")(error)),
        }
    }
}

/// Fails if the tree has an unknown format; marks a new tree.
fn check_format(env: &Env<WithoutTls>, meta: TreeDatabase) -> Result<()> {
    let mut txn = env.write_txn().map_err(fault("open"))?;
    match meta.get(&txn, FORMAT).map_err(fault("read"))? {
        Some(FORMAT_PLAIN | FORMAT_ORDERED) => return Ok(()),
        Some(other) => {
            return Err(Error::Damaged {
                location: FILE.to_owned(),
                detail: format!(
                    "its format is {:?}, this program reads {:?} and {:?}",
                    String::from_utf8_lossy(other),
                    String::from_utf8_lossy(FORMAT_PLAIN),
                    String::from_utf8_lossy(FORMAT_ORDERED)
                ),
            });
        }
        None => meta.put(&mut txn, FORMAT, FORMAT_PLAIN).map_err(fault("write"))?,
    }
    txn.commit().map_err(fault("commit"))
}

impl Tree {
    /// Opens the tree in `directory`, creating it if needed.
    pub(crate) fn open(directory: &Path, sync: bool) -> Result<Self> {
        allocate_lock_file(&directory.join(LOCK_FILE));
        let env = open_env(&directory.join(FILE), sync)?;
        if env.max_key_size() < keys::TREE_KEY_BYTES_MAX {
            let detail = format!("LMDB limits keys to {} bytes", env.max_key_size());
            return Err(Error::Unexpected { detail });
        }
        let txn = env.write_txn().map_err(fault("open"))?;
        let created = env.create_databases_and_commit(txn, |opener, txn| {
            let mut database = |name| opener.create_database::<Raw, Raw>(txn, Some(name));
            let all = (database("items")?, database("entries")?, database("meta")?);
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(all))
        });
        let (items, entries, meta) = created.map_err(fault("open"))?.unwrap_commit();
        check_format(&env, meta)?;
        Ok(Self { env, items, entries, meta, sync })
    }

    /// Marks the tree as one that may have an order, durably: before the log has the definition of
    /// the first table with one.
    pub(crate) fn mark_ordered(&self) -> Result<()> {
        let mut txn = self.env.write_txn().map_err(fault("write"))?;
        let format = self.meta.get(&txn, FORMAT).map_err(fault("read"))?;
        if format != Some(FORMAT_ORDERED) {
            self.meta.put(&mut txn, FORMAT, FORMAT_ORDERED).map_err(fault("write"))?;
            txn.commit().map_err(fault("commit"))?;
        }
        // Even if it was marked before: the sync may be what failed then.
        if self.sync { self.sync() } else { Ok(()) }
    }

    /// Begins a read transaction.
    pub(crate) fn read(&self) -> Result<ReadTxn<'_>> {
        self.env.read_txn().map_err(fault("read"))
    }

    fn database(&self, key: &[u8]) -> &TreeDatabase {
        match (keys::table_of(key), keys::space_of(key)) {
            (0, _) => &self.meta,
            (_, keys::ITEMS) => &self.items,
            _ => &self.entries,
        }
    }

    pub(crate) fn get(&self, txn: &ReadTxn<'_>, key: &[u8]) -> Result<StoredValue> {
        let found = self.database(key).get(txn, key).map_err(fault("read"))?;
        found.map(|stored| verify(key, stored).map(Bytes::copy_from_slice)).transpose()
    }

    /// Iterates over `range` in `order`.
    pub(crate) fn walk<'t>(
        &self,
        txn: &'t ReadTxn<'_>,
        range: &KeyRange,
        order: Order,
    ) -> Result<TreeIterator<'t>> {
        if range.low >= range.high {
            return Ok(TreeIterator::Empty);
        }
        let database = self.database(&range.low);
        let bounds = (
            std::ops::Bound::Included(range.low.as_slice()),
            std::ops::Bound::Excluded(range.high.as_slice()),
        );
        match order {
            Order::Ascending => database.range(txn, &bounds).map(TreeIterator::Forward),
            Order::Descending => database.rev_range(txn, &bounds).map(TreeIterator::Reverse),
        }
        .map_err(fault("read"))
    }

    /// Returns the position up to which the log is applied.
    pub(crate) fn applied(&self) -> Result<Option<LogPosition>> {
        self.position(APPLIED)
    }

    /// Returns the last sequence of which anything may be in the tree, counting a run that is only
    /// partly applied.
    pub(crate) fn last_sequence(&self) -> Result<u64> {
        let reached = [self.applied()?, self.position(APPLYING)?];
        Ok(reached.into_iter().flatten().map(|position| position.sequence).max().unwrap_or(0))
    }

    fn position(&self, key: &[u8]) -> Result<Option<LogPosition>> {
        let txn = self.read()?;
        let stored = self.meta.get(&txn, key).map_err(fault("read"))?;
        let position = stored.map(|stored| {
            let position = verify(key, stored)?;
            LogPosition::decode(position).ok_or_else(|| damaged(key))
        });
        position.transpose()
    }

    /// Applies `writes` of the run that ends at `through` in one durable transaction. The last
    /// transaction of a run marks the log as applied up to `through`.
    pub(crate) fn apply(
        &self,
        writes: &[(Bytes, StoredValue)],
        through: LogPosition,
        is_last: bool,
        disk: &dyn Disk,
    ) -> Result<()> {
        let mut txn = self.env.write_txn().map_err(fault("write"))?;
        let mut buffer = Vec::with_capacity(1024);
        for (key, value) in writes {
            self.apply_one(&mut txn, &mut buffer, key, value.as_deref())?;
        }
        let key = if is_last { APPLIED } else { APPLYING };
        seal(&mut buffer, key, &through.encode());
        self.meta.put(&mut txn, key, &buffer).map_err(fault("write"))?;
        disk.before_tree_commit().map_err(|error| fault("commit")(heed::Error::Io(error)))?;
        txn.commit().map_err(|error| {
            // LMDB reports a write that a full disk cut short as an input/output error.
            let is_full = || disk.free_bytes().is_ok_and(|free| free < NEARLY_FULL_BYTES);
            match error {
                heed::Error::Io(error)
                    if Errno::from_io_error(&error) == Some(Errno::IO) && is_full() =>
                {
                    fault("commit")(heed::Error::Io(Errno::NOSPC.into()))
                }
                error => fault("commit")(error),
            }
        })
    }

    fn apply_one(
        &self,
        txn: &mut RwTxn<'_>,
        buffer: &mut Vec<u8>,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> Result<()> {
        let database = self.database(key);
        let Some(value) = value else {
            return database.delete(txn, key).map(|_| ()).map_err(fault("write"));
        };
        // In memory an entry shares its item's key; here it stores the offset of that key in its own.
        let is_entry = keys::table_of(key) != 0 && keys::space_of(key) != keys::ITEMS;
        let value =
            if is_entry { Cow::Owned(keys::entry_value(key, value)) } else { Cow::Borrowed(value) };
        seal(buffer, key, &value);
        database.put(txn, key, buffer).map_err(fault("write"))
    }

    /// Puts everything committed on stable storage, including the root.
    pub(crate) fn sync(&self) -> Result<()> {
        self.env.force_sync().map_err(lasting_fault("sync"))
    }

    /// Writes a compact copy into `directory`.
    pub(crate) fn copy_to(&self, directory: &Path) -> Result<()> {
        let path = directory.join(FILE);
        let file = self.env.copy_to_path(path, CompactionOption::Enabled).map_err(fault("copy"))?;
        file.sync_all().map_err(|error| fault("copy")(heed::Error::Io(error)))
    }

    pub(crate) fn disk_bytes(&self) -> u64 {
        self.env.real_disk_size().unwrap_or(0)
    }
}

/// Replaces `buffer` with the checksum and the value.
fn seal(buffer: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    buffer.clear();
    buffer.extend_from_slice(&checksum(key, value).to_le_bytes());
    buffer.extend_from_slice(value);
}

/// Covers the key too, so that a value under the wrong key is detected. Not the log's checksum: this one
/// is computed for each item of each page, and is faster on so few bytes.
#[expect(clippy::cast_possible_truncation, reason = "half of the hash is enough")]
fn checksum(key: &[u8], value: &[u8]) -> u32 {
    (xxh3_64(value) ^ xxh3_64(key).rotate_left(32)) as u32
}

/// Verifies the checksum and returns the value without it.
pub(crate) fn verify<'a>(key: &[u8], stored: &'a [u8]) -> Result<&'a [u8]> {
    match stored.split_first_chunk::<CHECKSUM_BYTES>() {
        Some((sum, value)) if u32::from_le_bytes(*sum) == checksum(key, value) => Ok(value),
        _ => Err(damaged(key)),
    }
}

fn damaged(key: &[u8]) -> Error {
    Error::Damaged {
        location: format!("the tree at key {:?}", Bytes::copy_from_slice(key)),
        detail: String::from("the value does not match its checksum; restore from a backup"),
    }
}

pub(crate) enum TreeIterator<'t> {
    Empty,
    Forward(heed::RoRange<'t, Raw, Raw>),
    Reverse(heed::RoRevRange<'t, Raw, Raw>),
}

impl<'t> TreeIterator<'t> {
    /// Returns the next key and its stored value, without verifying the checksum.
    pub(crate) fn step(&mut self) -> Result<Option<(&'t [u8], &'t [u8])>> {
        match self {
            Self::Empty => None,
            Self::Forward(range) => range.next(),
            Self::Reverse(range) => range.next(),
        }
        .transpose()
        .map_err(fault("read"))
    }
}

#[cfg(test)]
impl Tree {
    pub(crate) fn format(&self) -> Option<String> {
        let txn = self.read().ok()?;
        let format = self.meta.get(&txn, FORMAT).ok()??;
        Some(String::from_utf8_lossy(format).into_owned())
    }

    pub(crate) fn set_format(&self, format: &str) -> Result<()> {
        let mut txn = self.env.write_txn().map_err(fault("write"))?;
        self.meta.put(&mut txn, FORMAT, format.as_bytes()).map_err(fault("write"))?;
        txn.commit().map_err(fault("commit"))
    }
}
