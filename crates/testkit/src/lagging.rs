//! A backend with stale reads and slow transactions, like DynamoDB's.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_conformance::Reference;
use roundtable_model::table::{
    Backend, BackendDecorator, BatchGet, BatchWrite, CancelReason, Capabilities, Capacity, Delete,
    Error, Get, GetManyOutput, GetOutput, ItemPage, ManualClock, Merge, Put, Query, Result, Scan,
    SharedBackend, Store, TableDefinition, Transaction, Update, WriteOutput,
};

use crate::Town;

/// A backend whose indexes and eventually consistent reads can fall behind.
#[derive(Clone, Debug)]
pub struct LaggingBackend(Arc<Replicas>);

#[derive(Debug)]
struct Replicas {
    primary: SharedBackend,
    /// The replica for eventually consistent reads.
    copy: SharedBackend,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Writes that the copy lacks; `None` while it is up to date.
    pending: Option<Vec<PendingWrite>>,
    /// Reads of the copy until it catches up.
    reads_left: usize,
    /// True if only indexes are behind.
    indexes_only: bool,
    delay: Duration,
    /// The faults of the next transactions.
    faults: VecDeque<TransactionFault>,
    /// The beginning of partitions whose items cannot be read, and the reads until then.
    unreadable: Option<(&'static str, usize)>,
}

#[derive(Clone, Copy, Debug)]
enum TransactionFault {
    Conflict,
    Throttled,
    LostAnswer,
}

/// A write that the copy applies later.
#[derive(Debug)]
enum PendingWrite {
    Put(TableDefinition, Put),
    Update(TableDefinition, Update),
    Delete(TableDefinition, Delete),
    Batch(TableDefinition, Vec<BatchWrite>),
    Transaction(Transaction),
}

impl Town {
    pub async fn on_lagging_store<const N: usize>(names: [&str; N]) -> (Self, LaggingBackend) {
        let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
        let far = LaggingBackend(Arc::new(Replicas {
            primary: Arc::new(Reference::new(clock.clone())),
            copy: Arc::new(Reference::new(clock.clone())),
            state: Mutex::default(),
        }));
        let town = Self::on(Store::new(far.clone()), clock, Self::settings(), 0).await;
        for name in names {
            town.add_user(name, |_| {}).await;
        }
        (town, far)
    }
}

impl LaggingBackend {
    /// Stops the copy from being updated, for this many reads.
    pub fn fall_behind(&self, reads: usize) {
        let mut state = self.0.state.lock();
        (state.pending, state.reads_left) = (Some(Vec::new()), reads);
        state.indexes_only = false;
    }

    /// Stops indexes from being updated until [`LaggingBackend::catch_up`].
    pub fn indexes_fall_behind(&self) {
        self.fall_behind(usize::MAX);
        self.0.state.lock().indexes_only = true;
    }

    /// Updates the copy before its next read.
    pub fn catch_up(&self) {
        self.0.state.lock().reads_left = 0;
    }

    /// Returns `true` if even an eventually consistent read must be current.
    fn must_be_current(&self, index: Option<&String>) -> bool {
        index.is_none() && self.0.state.lock().indexes_only
    }

    /// Makes every transaction take this long.
    pub fn delay(&self, delay: Duration) {
        self.0.state.lock().delay = delay;
    }

    /// Makes this many transactions conflict with others.
    pub fn conflict(&self, transactions: usize) {
        self.0.state.lock().faults = vec![TransactionFault::Conflict; transactions].into();
    }

    /// Throttles this many transactions.
    pub fn throttle(&self, transactions: usize) {
        self.0.state.lock().faults = vec![TransactionFault::Throttled; transactions].into();
    }

    /// Writes this many transactions and loses the answers.
    pub fn lose_answers(&self, transactions: usize) {
        self.0.state.lock().faults = vec![TransactionFault::LostAnswer; transactions].into();
    }

    /// Fails all reads of single items in partitions that begin with this, after some more.
    pub fn fail_reads(&self, partition: &'static str, after: usize) {
        self.0.state.lock().unreadable = Some((partition, after));
    }

    fn check_readable(&self, get: &Get) -> Result<()> {
        let mut state = self.0.state.lock();
        let Some((partition, left)) = &mut state.unreadable else { return Ok(()) };
        if !get.key.partition.as_text().is_some_and(|of| of.starts_with(*partition)) {
            return Ok(());
        }
        match left.checked_sub(1) {
            Some(fewer) => *left = fewer,
            None => return Err(Error::Unavailable { detail: String::from("unreadable") }),
        }
        Ok(())
    }

    /// Applies a write to the copy, now or later.
    async fn replicate(&self, write: PendingWrite) -> Result<()> {
        if let Some(pending) = &mut self.0.state.lock().pending {
            pending.push(write);
            return Ok(());
        }
        self.apply(write).await
    }

    async fn apply(&self, write: PendingWrite) -> Result<()> {
        let copy = &self.0.copy;
        match write {
            PendingWrite::Put(table, put) => copy.put(&table, put).await.map(drop),
            PendingWrite::Update(table, update) => copy.update(&table, update).await.map(drop),
            PendingWrite::Delete(table, delete) => copy.delete(&table, delete).await.map(drop),
            PendingWrite::Batch(table, writes) => copy.batch_write(&table, writes).await.map(drop),
            PendingWrite::Transaction(transaction) => {
                copy.transact_write(transaction).await.map(drop)
            }
        }
    }

    async fn read(&self, strong: bool) -> Result<&SharedBackend> {
        if strong {
            return Ok(&self.0.primary);
        }
        let pending = {
            let mut state = self.0.state.lock();
            match state.reads_left.checked_sub(1) {
                Some(left) => {
                    state.reads_left = left;
                    None
                }
                None => state.pending.take(),
            }
        };
        for write in pending.into_iter().flatten() {
            self.apply(write).await?;
        }
        Ok(&self.0.copy)
    }
}

#[async_trait]
impl BackendDecorator for LaggingBackend {
    fn inner(&self) -> &dyn Backend {
        &*self.0.primary
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { strong_index_reads: false, ..self.0.primary.capabilities() }
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        self.0.copy.create_table(definition).await?;
        self.0.primary.create_table(definition).await
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        self.0.copy.delete_table(name).await?;
        self.0.primary.delete_table(name).await
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<GetOutput> {
        self.check_readable(&get)?;
        self.read(get.strong || self.must_be_current(None)).await?.get(table, get).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<GetManyOutput> {
        self.read(batch.strong || self.must_be_current(None)).await?.batch_get(table, batch).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        let written = self.0.primary.put(table, put.clone()).await?;
        self.replicate(PendingWrite::Put(table.clone(), put)).await?;
        Ok(written)
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        let written = self.0.primary.update(table, update.clone()).await?;
        self.replicate(PendingWrite::Update(table.clone(), update)).await?;
        Ok(written)
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
        let written = self.0.primary.delete(table, delete.clone()).await?;
        self.replicate(PendingWrite::Delete(table.clone(), delete)).await?;
        Ok(written)
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        let capacity = self.0.primary.batch_write(table, writes.clone()).await?;
        self.replicate(PendingWrite::Batch(table.clone(), writes)).await?;
        Ok(capacity)
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        let delay = self.0.state.lock().delay;
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let fault = self.0.state.lock().faults.pop_front();
        let cancelled = |reason: CancelReason| {
            let reasons = transaction.writes.iter().map(|_| Some(reason.clone())).collect();
            Err(Error::Cancelled { reasons })
        };
        match fault {
            Some(TransactionFault::Conflict) => return cancelled(CancelReason::Conflict),
            Some(TransactionFault::Throttled) => return cancelled(CancelReason::Throttled),
            Some(TransactionFault::LostAnswer) | None => {}
        }
        let capacity = self.0.primary.transact_write(transaction.clone()).await?;
        self.replicate(PendingWrite::Transaction(transaction)).await?;
        match fault {
            None => Ok(capacity),
            Some(_) => Err(Error::Unavailable { detail: String::from("the answer was lost") }),
        }
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        let strong = query.strong || self.must_be_current(query.index.as_ref());
        self.read(strong).await?.query(table, query).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<ItemPage> {
        self.read(scan.strong).await?.scan(table, scan).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<ItemPage> {
        self.read(self.must_be_current(merge.index.as_ref())).await?.merge(table, merge).await
    }
}
