//! The reference backend: tables in memory, written to be obviously correct rather than fast.
//!
//! Everything is behind one lock, indexes are computed at every read, and the stream is a vector.
//! It stores nothing on disk, and only rejects requests that depend on stored items; the table
//! handles validate the rest.

mod pages;
mod tables;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_table::{
    Backend, BatchGet, BatchWrite, CancelReason, Capabilities, Capacity, Clock, Delete, Error, Get,
    GetManyOutput, GetOutput, Invalid, ItemPage, Limit, Merge, Put, Query, ReadMode, Result, Scan,
    Sequence, ShardInfo, StreamPage, StreamRead, StreamStart, TableDefinition, TableGet,
    TableWrite, Transaction, Update, Walk, WalkPage, Write, WriteOutput, limits,
};
use tokio::sync::Notify;
use tokio::time::Instant;

use tables::{Effect, Refusal, TableState};

/// The only shard of every stream.
const SHARD: &str = "all";

/// The longest wait, thirty years, to avoid overflow.
const FAR_FUTURE: Duration = Duration::from_hours(30 * 365 * 24);

/// A backend in memory, the oracle of model-based tests.
#[derive(Debug)]
pub struct Reference {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    written: Notify,
}

#[derive(Clone, Debug, Default)]
struct State {
    tables: BTreeMap<String, TableState>,
    tokens: BTreeMap<String, DoneTransaction>,
    sequence: u64,
}

/// A transaction done with a token.
#[derive(Clone, Debug)]
struct DoneTransaction {
    writes: Vec<TableWrite>,
    at_ms: u64,
}

impl Reference {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Mutex::default(), written: Notify::new() }
    }

    /// Returns an independent copy with the same clock.
    #[must_use]
    pub fn fork(&self) -> Self {
        let state = Mutex::new(self.state.lock().clone());
        Self { clock: Arc::clone(&self.clock), state, written: Notify::new() }
    }

    /// Deletes every expired item, each with one change; returns their number.
    pub fn sweep(&self) -> usize {
        let now_ms = self.clock.now_ms();
        let mut state = self.state.lock();
        let State { tables, sequence, .. } = &mut *state;
        let swept = tables.values_mut().map(|table| table.sweep(now_ms, sequence)).sum();
        drop(state);
        self.written.notify_waiters();
        swept
    }

    fn now_seconds(&self) -> u64 {
        self.clock.now_seconds()
    }

    fn read<T>(&self, table: &str, read: impl FnOnce(&TableState) -> T) -> Result<T> {
        self.state.lock().table(table).map(read)
    }

    /// Does one write, or fails without a change.
    fn write(&self, table: &str, write: &Write) -> Result<WriteOutput> {
        let now_ms = self.clock.now_ms();
        let mut state = self.state.lock();
        let effect = match state.table(table)?.effect(write, now_ms / 1000) {
            Ok(effect) => effect,
            Err(Refusal::Condition(item)) => return Err(Error::ConditionFailed { item }),
            Err(Refusal::Invalid(invalid)) => return Err(invalid.into()),
        };
        let written = WriteOutput {
            item: effect.returned(write.returning()),
            capacity: effect.charge.standalone(),
        };
        state.commit(table, effect, now_ms);
        drop(state);
        self.written.notify_waiters();
        Ok(written)
    }
}

impl State {
    fn table(&self, name: &str) -> Result<&TableState> {
        self.tables.get(name).ok_or_else(|| Error::TableNotFound { table: name.to_owned() })
    }

    fn commit(&mut self, table: &str, effect: Effect, now_ms: u64) {
        if let Some(table) = self.tables.get_mut(table) {
            table.commit(effect, now_ms, &mut self.sequence);
        }
    }

    /// Returns `true` if the same transaction was done with its token before.
    fn repeats(&mut self, transaction: &Transaction, now_ms: u64) -> Result<bool> {
        self.tokens.retain(|_, done| now_ms < done.at_ms + limits::TOKEN_LIFETIME_MS);
        match transaction.token.as_ref().and_then(|token| self.tokens.get(token)) {
            None => Ok(false),
            Some(done) if done.writes == transaction.writes => Ok(true),
            Some(_) => Err(Error::TokenReused),
        }
    }
}

#[async_trait]
impl Backend for Reference {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            strong_index_reads: true,
            single_process: true,
            transaction_conflicts: false,
            walks: true,
        }
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        let mut state = self.state.lock();
        match state.tables.get_mut(&definition.name) {
            Some(table) if table.definition.is_same_but_order(definition) => {
                match (&table.definition.order, &definition.order) {
                    (_, None) => Ok(()),
                    (None, Some(order)) => {
                        table.definition.order = Some(order.clone());
                        Ok(())
                    }
                    (Some(kept), Some(wanted)) if kept == wanted => Ok(()),
                    _ => Err(Error::TableExists { table: definition.name.clone() }),
                }
            }
            Some(_) => Err(Error::TableExists { table: definition.name.clone() }),
            None => {
                let table = TableState::new(definition.clone());
                state.tables.insert(definition.name.clone(), table);
                Ok(())
            }
        }
    }

    async fn describe_table(&self, name: &str) -> Result<TableDefinition> {
        self.read(name, |table| table.definition.clone())
    }

    async fn list_tables(&self) -> Result<Vec<String>> {
        Ok(self.state.lock().tables.keys().cloned().collect())
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        match self.state.lock().tables.remove(name) {
            Some(_) => Ok(()),
            None => Err(Error::TableNotFound { table: name.to_owned() }),
        }
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<GetOutput> {
        let now = self.now_seconds();
        self.read(&table.name, |table| table.get(&get, now, ReadMode::of(get.strong)))
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<GetManyOutput> {
        let now = self.now_seconds();
        let BatchGet { keys, strong, projection } = batch;
        let gets = keys.into_iter().map(|key| Get { key, strong, projection: projection.clone() });
        self.read(&table.name, |table| {
            gets.map(|get| table.get(&get, now, ReadMode::of(strong))).fold(nothing(), also)
        })
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<GetManyOutput> {
        let now = self.now_seconds();
        let state = self.state.lock();
        let (mut all, mut actual) = (nothing(), 0);
        for get in &gets {
            let table = state.table(&get.table.name)?;
            actual += table.size_of(&get.get.key, now);
            all = also(all, table.get(&get.get, now, ReadMode::Transactional));
        }
        let max = limits::TRANSACTION_BYTES_MAX;
        if actual > max {
            let (limit, subject) =
                (Limit::TransactionBytes, String::from("one transactional read"));
            return Err(Invalid::OverLimit { limit, actual, max, subject }.into());
        }
        Ok(all)
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        self.write(&table.name, &Write::Put(put))
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        self.write(&table.name, &Write::Update(update))
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
        self.write(&table.name, &Write::Delete(delete))
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        let mut capacity = Capacity::ZERO;
        for write in writes {
            let write = match write {
                BatchWrite::Put(item) => Write::Put(Put::new(item)),
                BatchWrite::Delete(key) => Write::Delete(Delete::new(key)),
            };
            capacity += self.write(&table.name, &write)?.capacity;
        }
        Ok(capacity)
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        let now_ms = self.clock.now_ms();
        let mut state = self.state.lock();
        for write in &transaction.writes {
            state.table(&write.table.name)?;
        }
        if state.repeats(&transaction, now_ms)? {
            return transaction.writes.iter().try_fold(Capacity::ZERO, |sum, write| {
                let table = state.table(&write.table.name)?;
                Ok(sum + table.repetition(&write.write, now_ms / 1000))
            });
        }
        let mut effects = Vec::with_capacity(transaction.writes.len());
        let mut reasons = Vec::with_capacity(transaction.writes.len());
        for TableWrite { table, write } in &transaction.writes {
            match state.table(&table.name)?.effect(write, now_ms / 1000) {
                Ok(effect) => {
                    effects.push((table.name.clone(), effect));
                    reasons.push(None);
                }
                Err(Refusal::Condition(item)) => {
                    reasons.push(Some(CancelReason::ConditionFailed { item }));
                }
                Err(Refusal::Invalid(invalid)) => {
                    reasons.push(Some(CancelReason::Invalid(invalid)));
                }
            }
        }
        if reasons.iter().any(Option::is_some) {
            return Err(Error::Cancelled { reasons });
        }
        let mut capacity = Capacity::ZERO;
        for (table, effect) in effects {
            capacity += effect.charge.in_transaction();
            state.commit(&table, effect, now_ms);
        }
        if let Some(token) = transaction.token {
            state
                .tokens
                .insert(token, DoneTransaction { writes: transaction.writes, at_ms: now_ms });
        }
        drop(state);
        self.written.notify_waiters();
        Ok(capacity)
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        let now = self.now_seconds();
        Ok(self.read(&table.name, |table| table.query(&query, now))??)
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<ItemPage> {
        let now = self.now_seconds();
        Ok(self.read(&table.name, |table| table.scan(&scan, now))??)
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<ItemPage> {
        let now = self.now_seconds();
        Ok(self.read(&table.name, |table| table.merge(&merge, now))??)
    }

    async fn walk(&self, table: &TableDefinition, walk: Walk<'_>) -> Result<WalkPage> {
        let now = self.now_seconds();
        self.read(&table.name, |table| table.walk(&walk, now))
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<ShardInfo>> {
        self.read(&table.name, |_| vec![ShardInfo { id: SHARD.to_owned(), parent: None }])
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        if read.shard != SHARD {
            let detail = format!("the stream of {:?} has no shard {:?}", table.name, read.shard);
            return Err(Invalid::Rejected { detail }.into());
        }
        let latest = self.state.lock().sequence;
        let after = match &read.start {
            StreamStart::Oldest => Sequence::from(0),
            StreamStart::Latest => Sequence::from(latest),
            StreamStart::After(sequence) => sequence.clone(),
        };
        let now = Instant::now();
        let deadline = now.checked_add(read.wait).unwrap_or_else(|| now + FAR_FUTURE);
        loop {
            // Registered before reading, so that no write in between is missed.
            let written = self.written.notified();
            let mut changes =
                self.read(&table.name, |table| table.changes_after(&after, read.limit))?;
            let is_over = !changes.is_empty() || read.wait.is_zero();
            if is_over || tokio::time::timeout_at(deadline, written).await.is_err() {
                let last = changes.last().map(|change| change.sequence.clone());
                let evaluated = changes.len();
                changes.retain(|change| read.matches(change.old.as_ref(), change.new.as_ref()));
                return Ok(StreamPage {
                    changes,
                    evaluated,
                    next: last.or(Some(after)),
                    ended: false,
                });
            }
        }
    }
}

fn nothing() -> GetManyOutput {
    GetManyOutput { items: Vec::new(), capacity: Capacity::ZERO }
}

fn also(mut all: GetManyOutput, found: GetOutput) -> GetManyOutput {
    all.items.push(found.item);
    all.capacity += found.capacity;
    all
}
