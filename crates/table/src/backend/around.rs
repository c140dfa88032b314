//! A backend around another, which does differently what it wants to.

use std::fmt;

use async_trait::async_trait;

use super::{Backend, Capabilities, Found, FoundMany, Page, Written};
use crate::{
    BatchGet, BatchWrite, Capacity, Delete, Get, Merge, Put, Query, Result, Scan, Shard,
    StreamPage, StreamRead, TableDefinition, TableGet, Transaction, Update,
};

/// A backend that hands on to another whatever it does not do itself: all it has to say is which, and
/// what is different.
#[async_trait]
pub trait Around: Send + Sync + fmt::Debug + 'static {
    /// The backend inside.
    fn inner(&self) -> &dyn Backend;

    /// [`Backend::capabilities`].
    fn capabilities(&self) -> Capabilities {
        self.inner().capabilities()
    }

    /// [`Backend::create_table`].
    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        self.inner().create_table(definition).await
    }

    /// [`Backend::describe_table`].
    async fn describe_table(&self, name: &str) -> Result<TableDefinition> {
        self.inner().describe_table(name).await
    }

    /// [`Backend::list_tables`].
    async fn list_tables(&self) -> Result<Vec<String>> {
        self.inner().list_tables().await
    }

    /// [`Backend::delete_table`].
    async fn delete_table(&self, name: &str) -> Result<()> {
        self.inner().delete_table(name).await
    }

    /// [`Backend::get`].
    async fn get(&self, table: &TableDefinition, get: Get) -> Result<Found> {
        self.inner().get(table, get).await
    }

    /// [`Backend::batch_get`].
    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<FoundMany> {
        self.inner().batch_get(table, batch).await
    }

    /// [`Backend::transact_get`].
    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<FoundMany> {
        self.inner().transact_get(gets).await
    }

    /// [`Backend::put`].
    async fn put(&self, table: &TableDefinition, put: Put) -> Result<Written> {
        self.inner().put(table, put).await
    }

    /// [`Backend::update`].
    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written> {
        self.inner().update(table, update).await
    }

    /// [`Backend::delete`].
    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<Written> {
        self.inner().delete(table, delete).await
    }

    /// [`Backend::batch_write`].
    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        self.inner().batch_write(table, writes).await
    }

    /// [`Backend::transact_write`].
    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        self.inner().transact_write(transaction).await
    }

    /// [`Backend::query`].
    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page> {
        self.inner().query(table, query).await
    }

    /// [`Backend::scan`].
    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<Page> {
        self.inner().scan(table, scan).await
    }

    /// [`Backend::merge`].
    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<Page> {
        self.inner().merge(table, merge).await
    }

    /// [`Backend::stream_shards`].
    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<Shard>> {
        self.inner().stream_shards(table).await
    }

    /// [`Backend::stream_read`].
    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        self.inner().stream_read(table, read).await
    }
}

#[async_trait]
impl<A: Around> Backend for A {
    fn capabilities(&self) -> Capabilities {
        Around::capabilities(self)
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        Around::create_table(self, definition).await
    }

    async fn describe_table(&self, name: &str) -> Result<TableDefinition> {
        Around::describe_table(self, name).await
    }

    async fn list_tables(&self) -> Result<Vec<String>> {
        Around::list_tables(self).await
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        Around::delete_table(self, name).await
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<Found> {
        Around::get(self, table, get).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<FoundMany> {
        Around::batch_get(self, table, batch).await
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<FoundMany> {
        Around::transact_get(self, gets).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<Written> {
        Around::put(self, table, put).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written> {
        Around::update(self, table, update).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<Written> {
        Around::delete(self, table, delete).await
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        Around::batch_write(self, table, writes).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        Around::transact_write(self, transaction).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page> {
        Around::query(self, table, query).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<Page> {
        Around::scan(self, table, scan).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<Page> {
        Around::merge(self, table, merge).await
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<Shard>> {
        Around::stream_shards(self, table).await
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        Around::stream_read(self, table, read).await
    }
}
