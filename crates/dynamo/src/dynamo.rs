//! The backend: two clients, its configuration, and the caches kept between calls.

use std::fmt;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodbstreams::Client as StreamClient;
use roundtable_table::{
    Backend, BatchGet, BatchWrite, Capabilities, Capacity, Delete, Get, GetManyOutput, GetOutput,
    ItemPage, Merge, Put, Query, Result, Scan, ShardInfo, StreamPage, StreamRead, TableDefinition,
    TableGet, Transaction, Update, WriteOutput,
};

use crate::Config;
use crate::retry::RequestBackoff;
use crate::streams::StreamCache;
use crate::transactions::TokenCache;

/// A [`Backend`] over DynamoDB's API.
pub struct Dynamo {
    pub(crate) client: Client,
    pub(crate) stream_client: StreamClient,
    pub(crate) config: Config,
    pub(crate) streams: StreamCache,
    pub(crate) tokens: TokenCache,
}

impl Dynamo {
    /// A backend on the server that `config` names; the first request connects.
    pub fn connect(config: Config) -> Self {
        let sdk = config.sdk();
        Self {
            client: Client::new(&sdk),
            stream_client: StreamClient::new(&sdk),
            config,
            streams: StreamCache::default(),
            tokens: TokenCache::default(),
        }
    }

    pub(crate) fn now_seconds(&self) -> u64 {
        self.config.clock.now_seconds()
    }

    pub(crate) const fn backoff(&self) -> RequestBackoff {
        RequestBackoff::new(self.config.retries)
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
        Capabilities {
            strong_index_reads: false,
            single_process: false,
            transaction_conflicts: true,
            walks: false,
        }
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

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<GetOutput> {
        self.read_one(table, get).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<GetManyOutput> {
        self.read_batch(table, batch).await
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<GetManyOutput> {
        self.read_transaction(gets).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        self.write_put(table, &put).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        self.write_update(table, &update).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
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
        self.write_transaction(transaction).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        self.query_page(table, &query).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<ItemPage> {
        self.scan_page(table, &scan).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<ItemPage> {
        self.merge_page(table, &merge).await
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<ShardInfo>> {
        self.shards_of(table).await
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        self.read_shard(table, &read).await
    }
}
