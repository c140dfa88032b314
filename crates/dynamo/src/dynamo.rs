//! The backend itself: two clients, a clock, and what is remembered between calls.

use std::fmt;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodbstreams::Client as StreamClient;
use roundtable_table::{
    Backend, BatchGet, BatchWrite, Capabilities, Capacity, Delete, Found, FoundMany, Get, Merge,
    Page, Put, Query, Result, Scan, Shard, StreamPage, StreamRead, TableDefinition, TableGet,
    Transaction, Update, Written,
};

use crate::Config;
use crate::retry::Backoff;
use crate::streams::StreamMemory;
use crate::transactions::TokenMemory;

/// The table contract over DynamoDB's API.
pub struct Dynamo {
    pub(crate) client: Client,
    pub(crate) stream_client: StreamClient,
    pub(crate) config: Config,
    pub(crate) streams: StreamMemory,
    pub(crate) tokens: TokenMemory,
}

impl Dynamo {
    /// A backend over the server that `config` names; the first request connects.
    pub fn connect(config: Config) -> Self {
        let sdk = config.sdk();
        Self {
            client: Client::new(&sdk),
            stream_client: StreamClient::new(&sdk),
            config,
            streams: StreamMemory::default(),
            tokens: TokenMemory::default(),
        }
    }

    pub(crate) fn now_seconds(&self) -> u64 {
        self.config.clock.now_seconds()
    }

    pub(crate) const fn backoff(&self) -> Backoff {
        Backoff::new(self.config.retries)
    }
}

impl fmt::Debug for Dynamo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dynamo").field("config", &self.config).finish_non_exhaustive()
    }
}

#[async_trait]
impl Backend for Dynamo {
    fn capabilities(&self) -> Capabilities {
        Capabilities { strong_index_reads: false, one_process: false, transaction_conflicts: true }
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        self.make_table(definition).await
    }

    async fn describe_table(&self, name: &str) -> Result<TableDefinition> {
        self.definition_of(name).await
    }

    async fn list_tables(&self) -> Result<Vec<String>> {
        self.table_names().await
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        self.drop_table(name).await
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<Found> {
        self.read_one(table, get).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<FoundMany> {
        self.read_batch(table, batch).await
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<FoundMany> {
        self.read_together(gets).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<Written> {
        self.write_put(table, &put).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written> {
        self.write_update(table, &update).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<Written> {
        self.write_delete(table, delete).await
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        self.write_batch(table, writes).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        self.write_together(transaction).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page> {
        self.query_page(table, &query).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<Page> {
        self.scan_page(table, &scan).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<Page> {
        self.merge_page(table, &merge).await
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<Shard>> {
        self.shards_of(table).await
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        self.read_shard(table, &read).await
    }
}
