//! What a store must do to serve tables. Requests reach it checked by [`crate::Table`].

mod around;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

pub use around::Around;

use crate::{
    BatchGet, BatchWrite, Capacity, Delete, Get, Item, Merge, Position, Put, Query, Result, Scan,
    Shard, StreamPage, StreamRead, TableDefinition, TableGet, Transaction, Update,
};

/// What a backend can do beyond the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether an index read can be strong.
    pub strong_index_reads: bool,
    /// Whether all access goes through this process, so that its caches cannot be behind.
    pub one_process: bool,
    /// Whether a transaction can meet another one under way and be cancelled for it.
    pub transaction_conflicts: bool,
}

/// What a read of one item found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The item.
    pub item: Option<Item>,
    /// What it cost.
    pub capacity: Capacity,
}

/// What a read of several items found, in the order they were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundMany {
    /// The items.
    pub items: Vec<Option<Item>>,
    /// What it cost.
    pub capacity: Capacity,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The image asked for, if there is one.
    pub item: Option<Item>,
    /// What it cost.
    pub capacity: Capacity,
}

/// A page of items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The items.
    pub items: Vec<Item>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<Position>,
    /// How many items were looked at, before the filter.
    pub evaluated: usize,
    /// What it cost.
    pub capacity: Capacity,
}

/// A store of tables. Every method sees expired items as absent.
#[async_trait]
pub trait Backend: Send + Sync + fmt::Debug + 'static {
    /// What this backend can do.
    fn capabilities(&self) -> Capabilities;

    /// Makes a table and waits until it can be used. Making it again with the same definition does
    /// nothing; with another one, it is [`crate::Error::TableExists`].
    async fn create_table(&self, definition: &TableDefinition) -> Result<()>;

    /// A table's definition.
    async fn describe_table(&self, name: &str) -> Result<TableDefinition>;

    /// The names of all tables, rising.
    async fn list_tables(&self) -> Result<Vec<String>>;

    /// Takes a table away with everything in it.
    async fn delete_table(&self, name: &str) -> Result<()>;

    /// Reads one item.
    async fn get(&self, table: &TableDefinition, get: Get) -> Result<Found>;

    /// Reads up to 100 items, each at its own moment.
    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<FoundMany>;

    /// Reads up to 100 items of 4 MB in all, their unprojected parts included, at one moment.
    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<FoundMany>;

    /// Writes a whole item.
    async fn put(&self, table: &TableDefinition, put: Put) -> Result<Written>;

    /// Changes parts of an item.
    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written>;

    /// Takes an item away.
    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<Written>;

    /// Does up to 25 puts and deletes, each for itself. After an error, any of them may have
    /// happened; they can be repeated.
    ///
    /// A put over an expired item is a removal and an insert in the stream of the embedded engine.
    /// DynamoDB's batches take no conditions, so that there it is one modification.
    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity>;

    /// Does all writes at one moment, or none.
    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity>;

    /// Reads a page of a partition.
    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page>;

    /// Reads a page of everything.
    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<Page>;

    /// Reads the first items across partitions.
    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<Page>;

    /// The shards of the table's stream, parents before children.
    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<Shard>>;

    /// Reads a part of a shard.
    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage>;
}

/// A backend shared by handles.
pub type SharedBackend = Arc<dyn Backend>;
