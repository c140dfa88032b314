//! A backend that wraps another one and overrides some of its methods.

use std::fmt;

use async_trait::async_trait;

use super::{Backend, Capabilities, GetManyOutput, GetOutput, ItemPage, WalkPage, WriteOutput};
use crate::{
    BatchGet, BatchWrite, Capacity, Delete, Get, Merge, Put, Query, Result, Scan, ShardInfo,
    StreamPage, StreamRead, TableDefinition, TableGet, Transaction, Update, Walk,
};

/// A backend that forwards every method it does not override to `inner`.
#[async_trait]
pub trait BackendDecorator: Send + Sync + fmt::Debug + 'static {
    fn inner(&self) -> &dyn Backend;

    fn capabilities(&self) -> Capabilities {
        self.inner().capabilities()
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        self.inner().create_table(definition).await
    }

    async fn describe_table(&self, name: &str) -> Result<TableDefinition> {
        self.inner().describe_table(name).await
    }

    async fn list_tables(&self) -> Result<Vec<String>> {
        self.inner().list_tables().await
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        self.inner().delete_table(name).await
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<GetOutput> {
        self.inner().get(table, get).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<GetManyOutput> {
        self.inner().batch_get(table, batch).await
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<GetManyOutput> {
        self.inner().transact_get(gets).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        self.inner().put(table, put).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        self.inner().update(table, update).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
        self.inner().delete(table, delete).await
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        self.inner().batch_write(table, writes).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        self.inner().transact_write(transaction).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        self.inner().query(table, query).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<ItemPage> {
        self.inner().scan(table, scan).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<ItemPage> {
        self.inner().merge(table, merge).await
    }

    async fn walk(&self, table: &TableDefinition, walk: Walk<'_>) -> Result<WalkPage> {
        self.inner().walk(table, walk).await
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<ShardInfo>> {
        self.inner().stream_shards(table).await
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        self.inner().stream_read(table, read).await
    }
}

#[async_trait]
impl<A: BackendDecorator> Backend for A {
    fn capabilities(&self) -> Capabilities {
        BackendDecorator::capabilities(self)
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        BackendDecorator::create_table(self, definition).await
    }

    async fn describe_table(&self, name: &str) -> Result<TableDefinition> {
        BackendDecorator::describe_table(self, name).await
    }

    async fn list_tables(&self) -> Result<Vec<String>> {
        BackendDecorator::list_tables(self).await
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        BackendDecorator::delete_table(self, name).await
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<GetOutput> {
        BackendDecorator::get(self, table, get).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<GetManyOutput> {
        BackendDecorator::batch_get(self, table, batch).await
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<GetManyOutput> {
        BackendDecorator::transact_get(self, gets).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        BackendDecorator::put(self, table, put).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        BackendDecorator::update(self, table, update).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
        BackendDecorator::delete(self, table, delete).await
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        BackendDecorator::batch_write(self, table, writes).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        BackendDecorator::transact_write(self, transaction).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        BackendDecorator::query(self, table, query).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<ItemPage> {
        BackendDecorator::scan(self, table, scan).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<ItemPage> {
        BackendDecorator::merge(self, table, merge).await
    }

    async fn walk(&self, table: &TableDefinition, walk: Walk<'_>) -> Result<WalkPage> {
        BackendDecorator::walk(self, table, walk).await
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<ShardInfo>> {
        BackendDecorator::stream_shards(self, table).await
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        BackendDecorator::stream_read(self, table, read).await
    }
}
