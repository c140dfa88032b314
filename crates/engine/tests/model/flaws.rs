//! Injected flaws: the engine with one fault that occurs now and then.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use roundtable_engine::{DirectoryDisk, Disk, DiskFile, Engine};
use roundtable_table::{
    Backend, BackendDecorator, Capacity, Delete, Get, Item, ItemPage, Key, Put, Query, Result,
    Returning, StreamPage, StreamRead, TableDefinition, Transaction, Update, WriteCost,
    WriteOutput, async_trait,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// An item whose index key changed is missing from the index.
    DroppedIndexMove,
    /// A query returns its previous result.
    StalePage,
    /// An item is visible for some seconds after it expired.
    ShownThoughExpired,
    /// A delete is acknowledged but not done.
    LostDelete,
    /// The last write of a transaction is missing.
    HalfTransaction,
    /// A token does not prevent a repeated transaction.
    ForgottenToken,
    /// A change is in the stream twice.
    DoubledChange,
    /// A change is not in the stream.
    MissingChange,
    /// An expiry appears as a delete.
    UnmarkedExpiry,
    /// A page in descending order lacks its last item.
    ShortPage,
    /// A record of the log is acknowledged but not written.
    ForgetfulLog,
}

impl Flaw {
    pub(crate) const ALL: [Self; 11] = [
        Self::DroppedIndexMove,
        Self::StalePage,
        Self::ShownThoughExpired,
        Self::LostDelete,
        Self::HalfTransaction,
        Self::ForgottenToken,
        Self::DoubledChange,
        Self::MissingChange,
        Self::UnmarkedExpiry,
        Self::ShortPage,
        Self::ForgetfulLog,
    ];
}

#[derive(Debug)]
pub(crate) struct Flawed {
    inner: Engine,
    flaw: Flaw,
    chances: AtomicUsize,
    moved: Mutex<HashSet<(String, Key)>>,
    pages: Mutex<HashMap<String, ItemPage>>,
}

impl Flawed {
    pub(crate) fn new(inner: Engine, flaw: Flaw) -> Self {
        Self {
            inner,
            flaw,
            chances: AtomicUsize::new(0),
            moved: Mutex::default(),
            pages: Mutex::default(),
        }
    }

    /// Returns whether `flaw` occurs this time: at every second opportunity.
    fn strikes(&self, flaw: Flaw) -> bool {
        self.flaw == flaw && self.chances.fetch_add(1, Ordering::SeqCst).is_multiple_of(2)
    }

    async fn peek(&self, table: &TableDefinition, key: &Key) -> Option<Item> {
        self.inner.get(table, Get::new(key.clone())).await.ok()?.item
    }
}

/// Returns whether some index has both items under different keys.
fn moves(table: &TableDefinition, old: Option<&Item>, new: Option<&Item>) -> bool {
    let (Some(old), Some(new)) = (old, new) else { return false };
    table.indexes.iter().any(|index| {
        let (before, after) = (index.key_of(old).ok().flatten(), index.key_of(new).ok().flatten());
        before.is_some() && after.is_some() && before != after
    })
}

#[async_trait]
impl BackendDecorator for Flawed {
    fn inner(&self) -> &dyn Backend {
        &self.inner
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        let key = table.key.read(&put.item);
        let item = put.item.clone();
        let before = match &key {
            Some(key) => self.peek(table, key).await,
            None => None,
        };
        let written = self.inner.put(table, put).await?;
        if let Some(key) = key
            && moves(table, before.as_ref(), Some(&item))
            && self.strikes(Flaw::DroppedIndexMove)
        {
            self.moved.lock().insert((table.name.clone(), key));
        }
        Ok(written)
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        let key = update.key.clone();
        let before = self.peek(table, &key).await;
        let written = self.inner.update(table, update).await?;
        let after = self.peek(table, &key).await;
        if moves(table, before.as_ref(), after.as_ref()) && self.strikes(Flaw::DroppedIndexMove) {
            self.moved.lock().insert((table.name.clone(), key));
        }
        Ok(written)
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
        if delete.condition.is_none() && self.strikes(Flaw::LostDelete) {
            self.inner.describe_table(&table.name).await?;
            let old = self.peek(table, &delete.key).await;
            let capacity = WriteCost::change(table, old.as_ref(), None)?.standalone();
            let item = old.filter(|_| delete.returning == Returning::Old);
            return Ok(WriteOutput { item, capacity });
        }
        self.inner.delete(table, delete).await
    }

    async fn transact_write(&self, mut transaction: Transaction) -> Result<Capacity> {
        if self.flaw == Flaw::ForgottenToken {
            transaction.token = None;
        }
        if transaction.writes.len() > 1 && self.strikes(Flaw::HalfTransaction) {
            // The cost is that of the whole transaction.
            let whole = self.inner.transact_write(transaction.clone()).await?;
            let last = transaction.writes.pop();
            if let Some(last) = last
                && let Some(key) = last.write.key(&last.table)
            {
                self.inner.delete(&last.table, Delete::new(key)).await?;
            }
            return Ok(whole);
        }
        self.inner.transact_write(transaction).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        let asked = format!("{} {query:?}", table.name);
        let known = self.pages.lock().get(&asked).cloned();
        if let Some(page) = known
            && self.strikes(Flaw::StalePage)
        {
            return Ok(page);
        }
        let is_index = query.index.is_some();
        let is_falling = query.order == roundtable_table::Order::Descending;
        let mut page = self.inner.query(table, query).await?;
        if is_index {
            let moved = self.moved.lock();
            let stays = |item: &Item| {
                let key = table.key.read(item);
                !key.is_some_and(|key| moved.contains(&(table.name.clone(), key)))
            };
            page.items.retain(stays);
        }
        if is_falling && page.items.len() > 1 && self.strikes(Flaw::ShortPage) {
            page.items.pop();
        }
        self.pages.lock().insert(asked, page.clone());
        Ok(page)
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        let mut page = self.inner.stream_read(table, read).await?;
        if let Some(last) = page.changes.last().cloned() {
            if self.strikes(Flaw::DoubledChange) {
                page.changes.push(last);
                page.evaluated += 1;
            } else if self.strikes(Flaw::MissingChange) {
                page.changes.pop();
            }
        }
        if self.flaw == Flaw::UnmarkedExpiry {
            page.changes.iter_mut().for_each(|change| change.expired = false);
        }
        Ok(page)
    }
}

/// Writes to the log before one is lost.
const REMEMBERED_WRITES: usize = 17;

/// A log directory that loses a write.
pub(crate) fn forgetful(directory: &Path) -> Arc<dyn Disk> {
    let inner = DirectoryDisk::open(directory.join("log")).unwrap();
    Arc::new(Forgetful { inner, writes: Arc::new(AtomicUsize::new(0)) })
}

#[derive(Debug)]
struct Forgetful<T> {
    inner: T,
    writes: Arc<AtomicUsize>,
}

impl<T> Forgetful<T> {
    fn around(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(Forgetful { inner: file, writes: Arc::clone(&self.writes) })
    }
}

impl Disk for Forgetful<DirectoryDisk> {
    fn list(&self) -> io::Result<Vec<String>> {
        self.inner.list()
    }

    fn create(&self, name: &str, len: u64) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.around(self.inner.create(name, len)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.around(self.inner.open(name)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)
    }
}

impl DiskFile for Forgetful<Arc<dyn DiskFile>> {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.writes.fetch_add(1, Ordering::SeqCst) == REMEMBERED_WRITES {
            return Ok(());
        }
        self.inner.write_at(bytes, offset)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.inner.read_at(buffer, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.inner.truncate(len)
    }

    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }
}
