//! A store that keeps its caller waiting: before every operation, and after it has been done, before
//! the caller hears of it. What is stopped there has done everything up to that operation, or that
//! operation as well.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_model::table::{
    Around, Backend, BatchGet, BatchWrite, Capacity, Delete, Found, FoundMany, Get, Merge, Page,
    Put, Query, Result, Scan, Shard, SharedBackend, StreamPage, StreamRead, TableDefinition,
    TableGet, Transaction, Update, Written,
};

/// A backend whose callers wait at every operation.
#[derive(Clone, Debug)]
pub struct Yielding(SharedBackend);

impl Yielding {
    /// `backend`, with waits.
    pub fn new(backend: impl Backend) -> Self {
        Self(Arc::new(backend))
    }

    /// A backend that others hold, too, with waits.
    pub const fn shared(backend: SharedBackend) -> Self {
        Self(backend)
    }
}

async fn waiting<T>(operation: impl Future<Output = T>) -> T {
    tokio::task::yield_now().await;
    let done = operation.await;
    tokio::task::yield_now().await;
    done
}

#[async_trait]
impl Around for Yielding {
    fn inner(&self) -> &dyn Backend {
        &*self.0
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<Found> {
        waiting(self.0.get(table, get)).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<FoundMany> {
        waiting(self.0.batch_get(table, batch)).await
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<FoundMany> {
        waiting(self.0.transact_get(gets)).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<Written> {
        waiting(self.0.put(table, put)).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written> {
        waiting(self.0.update(table, update)).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<Written> {
        waiting(self.0.delete(table, delete)).await
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        waiting(self.0.batch_write(table, writes)).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        waiting(self.0.transact_write(transaction)).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page> {
        waiting(self.0.query(table, query)).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<Page> {
        waiting(self.0.scan(table, scan)).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<Page> {
        waiting(self.0.merge(table, merge)).await
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<Shard>> {
        waiting(self.0.stream_shards(table)).await
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        waiting(self.0.stream_read(table, read)).await
    }
}
