//! A store that will not write into some partitions, as one with a flaw in a single place does.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_model::table::{
    Backend, BatchGet, BatchWrite, Capabilities, Capacity, Delete, Error, Found, FoundMany, Get,
    Merge, Page, Put, Query, Result, Scan, Shard, SharedBackend, StreamPage, StreamRead,
    TableDefinition, TableGet, Transaction, Update, Written,
};

/// What is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Puts,
    Deletes,
}

/// A backend that refuses batches with a write of this kind into this partition.
#[derive(Clone, Debug)]
pub(crate) struct Refusing {
    inner: SharedBackend,
    refused: Arc<Mutex<Vec<(Refused, String)>>>,
}

impl Refusing {
    pub(crate) fn new(inner: SharedBackend) -> Self {
        Self { inner, refused: Arc::default() }
    }

    pub(crate) fn refuse(&self, kind: Refused, partition: &str) {
        self.refused.lock().push((kind, partition.to_owned()));
    }

    /// Everything is written again.
    pub(crate) fn heal(&self) {
        self.refused.lock().clear();
    }

    fn is_refused(&self, write: &BatchWrite) -> bool {
        let (kind, partition) = match write {
            BatchWrite::Put(item) => (Refused::Puts, item.text("PK")),
            BatchWrite::Delete(key) => (Refused::Deletes, key.partition.as_text()),
        };
        let refused = self.refused.lock();
        refused.iter().any(|(known, place)| *known == kind && Some(place.as_str()) == partition)
    }
}

#[async_trait]
impl Backend for Refusing {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn batch_write(&self, t: &TableDefinition, writes: Vec<BatchWrite>) -> Result<Capacity> {
        if writes.iter().any(|write| self.is_refused(write)) {
            return Err(Error::Unexpected { detail: "a flaw in this place".into() });
        }
        self.inner.batch_write(t, writes).await
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        self.inner.create_table(definition).await
    }

    async fn describe_table(&self, name: &str) -> Result<TableDefinition> {
        self.inner.describe_table(name).await
    }

    async fn list_tables(&self) -> Result<Vec<String>> {
        self.inner.list_tables().await
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        self.inner.delete_table(name).await
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<Found> {
        self.inner.get(table, get).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<FoundMany> {
        self.inner.batch_get(table, batch).await
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<FoundMany> {
        self.inner.transact_get(gets).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<Written> {
        self.inner.put(table, put).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written> {
        self.inner.update(table, update).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<Written> {
        self.inner.delete(table, delete).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        self.inner.transact_write(transaction).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page> {
        self.inner.query(table, query).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<Page> {
        self.inner.scan(table, scan).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<Page> {
        self.inner.merge(table, merge).await
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<Shard>> {
        self.inner.stream_shards(table).await
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        self.inner.stream_read(table, read).await
    }
}
