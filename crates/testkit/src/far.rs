//! A store far away: what is not read strongly may be old, and a transaction may take its time, as both
//! may on DynamoDB.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_conformance::Reference;
use roundtable_model::table::{
    Around, Backend, BatchGet, BatchWrite, Capabilities, Capacity, Delete, Found, FoundMany, Get,
    ManualClock, Merge, Page, Put, Query, Result, Scan, SharedBackend, Store, TableDefinition,
    Transaction, Update, Written,
};

use crate::Town;

/// A backend whose indexes, and whatever else is not read strongly, can fall behind.
#[derive(Clone, Debug)]
pub struct Far(Arc<Both>);

#[derive(Debug)]
struct Both {
    now: SharedBackend,
    /// What is read where nobody asks for more.
    copy: SharedBackend,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What the copy has not heard of yet; `None` while it hears of everything at once.
    unheard: Option<Vec<Late>>,
    /// How many reads of the copy are left until it hears of everything.
    reads_left: usize,
    /// Whether only indexes are behind.
    only_indexes: bool,
    delay: Duration,
}

/// A write that the copy hears of later.
#[derive(Debug)]
enum Late {
    Put(TableDefinition, Put),
    Update(TableDefinition, Update),
    Delete(TableDefinition, Delete),
    Batch(TableDefinition, Vec<BatchWrite>),
    Transaction(Transaction),
}

impl Town {
    /// A town of these people, in a store far away.
    pub async fn far_away<const N: usize>(names: [&str; N]) -> (Self, Far) {
        let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
        let far = Far(Arc::new(Both {
            now: Arc::new(Reference::new(clock.clone())),
            copy: Arc::new(Reference::new(clock.clone())),
            state: Mutex::default(),
        }));
        let town = Self::on(Store::new(far.clone()), clock, Self::settings(), 0).await;
        for name in names {
            town.move_in(name, |_| {}).await;
        }
        (town, far)
    }
}

impl Far {
    /// From now on what is not read strongly stays as it is, for so many reads.
    pub fn fall_behind(&self, reads: usize) {
        let mut state = self.0.state.lock();
        (state.unheard, state.reads_left) = (Some(Vec::new()), reads);
        state.only_indexes = false;
    }

    /// From now on what indexes tell stays as it is, until they catch up.
    pub fn indexes_fall_behind(&self) {
        self.fall_behind(usize::MAX);
        self.0.state.lock().only_indexes = true;
    }

    /// Whatever is behind hears of everything before it is read again.
    pub fn catch_up(&self) {
        self.0.state.lock().reads_left = 0;
    }

    /// Whether a question about the table or an index is answered as things are now, whether it asks for
    /// that or not.
    fn is_now(&self, index: Option<&String>) -> bool {
        index.is_none() && self.0.state.lock().only_indexes
    }

    /// From now on a transaction takes this long.
    pub fn delay(&self, delay: Duration) {
        self.0.state.lock().delay = delay;
    }

    /// The copy hears of a write that has been done.
    async fn hear(&self, write: Late) -> Result<()> {
        if let Some(unheard) = &mut self.0.state.lock().unheard {
            unheard.push(write);
            return Ok(());
        }
        self.copied(write).await
    }

    async fn copied(&self, write: Late) -> Result<()> {
        let copy = &self.0.copy;
        match write {
            Late::Put(table, put) => copy.put(&table, put).await.map(drop),
            Late::Update(table, update) => copy.update(&table, update).await.map(drop),
            Late::Delete(table, delete) => copy.delete(&table, delete).await.map(drop),
            Late::Batch(table, writes) => copy.batch_write(&table, writes).await.map(drop),
            Late::Transaction(transaction) => copy.transact_write(transaction).await.map(drop),
        }
    }

    /// Where to read.
    async fn read(&self, strong: bool) -> Result<&SharedBackend> {
        if strong {
            return Ok(&self.0.now);
        }
        let late = {
            let mut state = self.0.state.lock();
            match state.reads_left.checked_sub(1) {
                Some(left) => {
                    state.reads_left = left;
                    None
                }
                None => state.unheard.take(),
            }
        };
        for write in late.into_iter().flatten() {
            self.copied(write).await?;
        }
        Ok(&self.0.copy)
    }
}

#[async_trait]
impl Around for Far {
    fn inner(&self) -> &dyn Backend {
        &*self.0.now
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { strong_index_reads: false, ..self.0.now.capabilities() }
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        self.0.copy.create_table(definition).await?;
        self.0.now.create_table(definition).await
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        self.0.copy.delete_table(name).await?;
        self.0.now.delete_table(name).await
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<Found> {
        self.read(get.strong || self.is_now(None)).await?.get(table, get).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<FoundMany> {
        self.read(batch.strong || self.is_now(None)).await?.batch_get(table, batch).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<Written> {
        let written = self.0.now.put(table, put.clone()).await?;
        self.hear(Late::Put(table.clone(), put)).await?;
        Ok(written)
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written> {
        let written = self.0.now.update(table, update.clone()).await?;
        self.hear(Late::Update(table.clone(), update)).await?;
        Ok(written)
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<Written> {
        let written = self.0.now.delete(table, delete.clone()).await?;
        self.hear(Late::Delete(table.clone(), delete)).await?;
        Ok(written)
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        let capacity = self.0.now.batch_write(table, writes.clone()).await?;
        self.hear(Late::Batch(table.clone(), writes)).await?;
        Ok(capacity)
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        let delay = self.0.state.lock().delay;
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let capacity = self.0.now.transact_write(transaction.clone()).await?;
        self.hear(Late::Transaction(transaction)).await?;
        Ok(capacity)
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page> {
        let strong = query.strong || self.is_now(query.index.as_ref());
        self.read(strong).await?.query(table, query).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<Page> {
        self.read(scan.strong).await?.scan(table, scan).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<Page> {
        self.read(self.is_now(merge.index.as_ref())).await?.merge(table, merge).await
    }
}
