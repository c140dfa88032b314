//! A backend that yields before every operation, and again before it returns. A caller stopped
//! there has done everything up to that operation, or that operation as well.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_model::table::{
    Backend, BackendDecorator, BatchGet, BatchWrite, Capacity, Delete, Get, GetManyOutput,
    GetOutput, ItemPage, Merge, Put, Query, Result, Scan, ShardInfo, SharedBackend, StreamPage,
    StreamRead, TableDefinition, TableGet, Transaction, Update, Walk, WalkPage, WriteOutput,
};

#[derive(Clone, Debug)]
pub struct YieldingBackend(SharedBackend);

impl YieldingBackend {
    pub fn new(backend: impl Backend) -> Self {
        Self(Arc::new(backend))
    }

    pub const fn shared(backend: SharedBackend) -> Self {
        Self(backend)
    }
}

async fn yielding<T>(operation: impl Future<Output = T>) -> T {
    tokio::task::yield_now().await;
    let done = operation.await;
    tokio::task::yield_now().await;
    done
}

#[async_trait]
impl BackendDecorator for YieldingBackend {
    fn inner(&self) -> &dyn Backend {
        &*self.0
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<GetOutput> {
        yielding(self.0.get(table, get)).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<GetManyOutput> {
        yielding(self.0.batch_get(table, batch)).await
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<GetManyOutput> {
        yielding(self.0.transact_get(gets)).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        yielding(self.0.put(table, put)).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        yielding(self.0.update(table, update)).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
        yielding(self.0.delete(table, delete)).await
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        yielding(self.0.batch_write(table, writes)).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        yielding(self.0.transact_write(transaction)).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        yielding(self.0.query(table, query)).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<ItemPage> {
        yielding(self.0.scan(table, scan)).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<ItemPage> {
        yielding(self.0.merge(table, merge)).await
    }

    async fn walk(&self, table: &TableDefinition, walk: Walk<'_>) -> Result<WalkPage> {
        yielding(self.0.walk(table, walk)).await
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<ShardInfo>> {
        yielding(self.0.stream_shards(table)).await
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        yielding(self.0.stream_read(table, read)).await
    }
}
