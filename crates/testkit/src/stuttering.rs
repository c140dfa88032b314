//! A store whose stream comes late, in pieces, and again: what a reader may meet on any backend.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_model::table::{
    Backend, BatchGet, BatchWrite, Capabilities, Capacity, Delete, Found, FoundMany, Get, Merge,
    Page, Put, Query, Result, Scan, Sequence, Shard, SharedBackend, StreamPage, StreamRead,
    StreamStart, TableDefinition, TableGet, Transaction, Update, Written,
};

/// How many changes back a reader can be thrown.
const AGAIN_MAX: usize = 20;

/// A backend with a stream that stutters.
#[derive(Debug)]
pub struct Stuttering {
    backend: SharedBackend,
    random: Mutex<SmallRng>,
    /// The changes of each shard that were shown, by their sequences.
    shown: Mutex<HashMap<String, BTreeSet<Sequence>>>,
}

impl Stuttering {
    /// `backend`, whose stream stutters as `seed` has it.
    pub fn new(backend: SharedBackend, seed: u64) -> Self {
        let random = Mutex::new(SmallRng::seed_from_u64(seed));
        Self { backend, random, shown: Mutex::default() }
    }

    /// What is read instead of what was asked for; `None` for nothing yet.
    fn stuttered(&self, mut read: StreamRead) -> Option<StreamRead> {
        let mut random = self.random.lock();
        match random.random_range(0..6) {
            0 => return None,
            1 => read.limit = random.random_range(1..=read.limit),
            2 => {
                if let StreamStart::After(sequence) = &read.start
                    && let Some(shown) = self.shown.lock().get(&read.shard)
                    && let back = random.random_range(0..AGAIN_MAX)
                    && let Some(earlier) = shown.range(..sequence).nth_back(back)
                {
                    read.start = StreamStart::After(earlier.clone());
                }
            }
            _ => {}
        }
        Some(read)
    }
}

#[async_trait]
impl Backend for Stuttering {
    fn capabilities(&self) -> Capabilities {
        self.backend.capabilities()
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        self.backend.create_table(definition).await
    }

    async fn describe_table(&self, name: &str) -> Result<TableDefinition> {
        self.backend.describe_table(name).await
    }

    async fn list_tables(&self) -> Result<Vec<String>> {
        self.backend.list_tables().await
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        self.backend.delete_table(name).await
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<Found> {
        self.backend.get(table, get).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<FoundMany> {
        self.backend.batch_get(table, batch).await
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<FoundMany> {
        self.backend.transact_get(gets).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<Written> {
        self.backend.put(table, put).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written> {
        self.backend.update(table, update).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<Written> {
        self.backend.delete(table, delete).await
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        self.backend.batch_write(table, writes).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        self.backend.transact_write(transaction).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page> {
        self.backend.query(table, query).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<Page> {
        self.backend.scan(table, scan).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<Page> {
        self.backend.merge(table, merge).await
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<Shard>> {
        self.backend.stream_shards(table).await
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        match self.stuttered(read) {
            Some(read) => {
                let shard = read.shard.clone();
                let page = self.backend.stream_read(table, read).await?;
                let sequences = page.changes.iter().map(|change| change.sequence.clone());
                self.shown.lock().entry(shard).or_default().extend(sequences);
                Ok(page)
            }
            None => Ok(StreamPage::default()),
        }
    }
}
