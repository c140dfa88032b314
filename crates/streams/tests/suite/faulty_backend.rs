//! A store that misbehaves within its contract: it delivers changes again, twice or late, or is
//! briefly unavailable, sometimes after an operation has succeeded.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_model::table::{
    Backend, BackendDecorator, BatchGet, BatchWrite, Capacity, Delete, Error, Get, GetManyOutput,
    GetOutput, ItemPage, Merge, Put, Query, Result, Scan, ShardInfo, SharedBackend, StreamPage,
    StreamRead, StreamStart, TableDefinition, TableGet, Transaction, Update, WriteOutput,
};

#[derive(Debug)]
pub(crate) struct FaultyBackend {
    inner: SharedBackend,
    random: Mutex<SmallRng>,
    /// The percentage of operations that fail as unavailable.
    unavailable: u32,
    /// The percentage of reads that return changes again or late.
    unruly: u32,
}

impl FaultyBackend {
    pub(crate) fn unruly(inner: &SharedBackend, seed: u64) -> Self {
        Self::new(inner, seed, 0, 60)
    }

    pub(crate) fn flaky(inner: &SharedBackend, seed: u64) -> Self {
        Self::new(inner, seed, 8, 0)
    }

    fn new(inner: &SharedBackend, seed: u64, unavailable: u32, unruly: u32) -> Self {
        let random = Mutex::new(SmallRng::seed_from_u64(seed));
        Self { inner: Arc::clone(inner), random, unavailable, unruly }
    }

    fn happens(&self, percent: u32) -> bool {
        self.random.lock().random_range(0..100) < percent
    }

    fn up_to(&self, max: usize) -> usize {
        self.random.lock().random_range(0..=max)
    }

    async fn unless_unavailable<T>(&self, operation: impl Future<Output = Result<T>>) -> Result<T> {
        let unavailable = || Err(Error::Unavailable { detail: "briefly unavailable".into() });
        if self.happens(self.unavailable) {
            return unavailable();
        }
        let done = operation.await;
        if self.happens(self.unavailable) { unavailable() } else { done }
    }

    /// A page that starts too early, repeats some changes, or ends early.
    async fn unruly_page(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        let page = self.inner.stream_read(table, read.clone()).await?;
        let StreamStart::After(after) = &read.start else { return Ok(page) };
        if self.happens(30) {
            return Ok(StreamPage { next: Some(after.clone()), ..StreamPage::default() });
        }
        let oldest = StreamRead { start: StreamStart::Oldest, ..read.clone() };
        let all = self.inner.stream_read(table, oldest).await?.changes;
        let before: Vec<_> = all.into_iter().filter(|change| change.sequence <= *after).collect();
        let again = before.len() - self.up_to(before.len());
        let mut changes: Vec<_> = before.into_iter().skip(again).collect();
        let new = page.changes.len();
        let taken = new - self.up_to(new / 2);
        let partial = taken < new;
        for change in page.changes.into_iter().take(taken) {
            for _ in 0..=self.up_to(1) {
                changes.push(change.clone());
            }
        }
        let last = changes.last().map(|change| change.sequence.clone());
        let last = last.filter(|last| last > after);
        let next = if partial { last.or(Some(after.clone())) } else { page.next };
        let unwanted = page.evaluated - new;
        let evaluated = changes.len() + if partial { 0 } else { unwanted };
        Ok(StreamPage { changes, evaluated, next, ended: page.ended && !partial })
    }
}

#[async_trait]
impl BackendDecorator for FaultyBackend {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        if self.happens(self.unruly) {
            return self.unruly_page(table, read).await;
        }
        self.unless_unavailable(self.inner.stream_read(table, read)).await
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<ShardInfo>> {
        self.unless_unavailable(self.inner.stream_shards(table)).await
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<GetOutput> {
        self.unless_unavailable(self.inner.get(table, get)).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<GetManyOutput> {
        self.unless_unavailable(self.inner.batch_get(table, batch)).await
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<GetManyOutput> {
        self.unless_unavailable(self.inner.transact_get(gets)).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        self.unless_unavailable(self.inner.put(table, put)).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        self.unless_unavailable(self.inner.update(table, update)).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
        self.unless_unavailable(self.inner.delete(table, delete)).await
    }

    async fn batch_write(&self, t: &TableDefinition, writes: Vec<BatchWrite>) -> Result<Capacity> {
        self.unless_unavailable(self.inner.batch_write(t, writes)).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        self.unless_unavailable(self.inner.transact_write(transaction)).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        self.unless_unavailable(self.inner.query(table, query)).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<ItemPage> {
        self.unless_unavailable(self.inner.scan(table, scan)).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<ItemPage> {
        self.unless_unavailable(self.inner.merge(table, merge)).await
    }
}
