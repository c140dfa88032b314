//! The trait a store implements to serve tables. [`crate::Table`] checks requests before they reach it.

mod decorator;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

pub use decorator::BackendDecorator;

use crate::{
    BatchGet, BatchWrite, Capacity, Delete, Get, Invalid, Item, Merge, Position, Put, Query,
    Result, Scan, ShardInfo, StreamPage, StreamRead, TableDefinition, TableGet, Transaction,
    Update, Walk,
};

/// The optional guarantees of a backend.
#[expect(clippy::struct_excessive_bools, reason = "each is a guarantee of its own")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Index reads can be strongly consistent.
    pub strong_index_reads: bool,
    /// All access goes through this process, so caches in it cannot be stale.
    pub single_process: bool,
    /// A transaction can be cancelled because it conflicts with a concurrent one.
    pub transaction_conflicts: bool,
    /// Keeps the [orders](crate::SortOrder) of tables, and reads down them.
    pub walks: bool,
}

/// The result of reading one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetOutput {
    pub item: Option<Item>,
    pub capacity: Capacity,
}

/// The result of reading several items, in the order of the requested keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetManyOutput {
    pub items: Vec<Option<Item>>,
    pub capacity: Capacity,
}

/// The result of a single write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteOutput {
    /// The image that [`crate::Returning`] selected, if it exists.
    pub item: Option<Item>,
    pub capacity: Capacity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemPage {
    pub items: Vec<Item>,
    /// The position after which the next page starts; `None` at the end.
    pub next: Option<Position>,
    /// Number of items read, before the filter.
    pub evaluated: usize,
    pub capacity: Capacity,
}

/// The result of a [`Walk`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkPage {
    /// The wanted items, from the greatest sort key down.
    pub items: Vec<Item>,
    /// The last sort key passed: of it and all above, no wanted item is missing. `None` if nothing is
    /// left.
    pub down_to: Option<String>,
    pub capacity: Capacity,
}

/// A store of tables. Every method treats expired items as absent.
#[async_trait]
pub trait Backend: Send + Sync + fmt::Debug + 'static {
    fn capabilities(&self) -> Capabilities;

    /// Creates a table and waits until it can be used. Creating it again with the same definition does
    /// nothing; with another definition it fails with [`crate::Error::TableExists`].
    async fn create_table(&self, definition: &TableDefinition) -> Result<()>;

    async fn describe_table(&self, name: &str) -> Result<TableDefinition>;

    /// Returns the names of all tables, sorted.
    async fn list_tables(&self) -> Result<Vec<String>>;

    /// Deletes a table with everything in it.
    async fn delete_table(&self, name: &str) -> Result<()>;

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<GetOutput>;

    /// Reads up to 100 items, each at its own point in time.
    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<GetManyOutput>;

    /// Reads up to 100 items of 4 MB in total, including unprojected parts, at one point in time.
    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<GetManyOutput>;

    /// Writes a whole item, replacing the old one.
    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput>;

    /// Changes parts of an item, creating it if it is absent.
    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput>;

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput>;

    /// Performs up to 25 puts and deletes, each independent of the others. After an error, any of
    /// them may have happened; they can be repeated.
    ///
    /// In the embedded engine's stream, a put over an expired item is a removal and an insert. In
    /// DynamoDB's it is one modification, because its batches take no conditions.
    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity>;

    /// Performs all writes atomically, or none.
    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity>;

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage>;

    /// Reads a page of the whole table or index.
    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<ItemPage>;

    /// Reads the first items, by sort key, across partitions.
    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<ItemPage>;

    /// Reads down the order of a table, if [`Capabilities::walks`].
    async fn walk(&self, table: &TableDefinition, _: Walk<'_>) -> Result<WalkPage> {
        let detail = format!("this store does not keep the order of table {:?}", table.name);
        Err(Invalid::Rejected { detail }.into())
    }

    /// Returns the shards of the table's stream, parents before children.
    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<ShardInfo>>;

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage>;
}

pub type SharedBackend = Arc<dyn Backend>;
