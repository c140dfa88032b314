//! Planted faults: backends that are wrong in one known way each, to show that a checker finds it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_table::{
    Backend, BackendDecorator, Capacity, Delete, Error, Get, GetManyOutput, GetOutput, Item,
    ItemPage, Key, Put, Query, Result, Returning, SharedBackend, TableDefinition, TableGet,
    Transaction, Update, WriteOutput,
};

/// The duration of a fault, in yields to other tasks.
const YIELDS: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Some strong reads return the result of an earlier one.
    StaleRead,
    /// Some acknowledged puts are not done.
    LostWrite,
    /// Some puts are acknowledged before they are done.
    EarlyAnswer,
    /// A conditional put reads, pauses, and then writes regardless of changes in between.
    DoubleWin,
    /// Some transactions are done in two halves.
    HalfTransaction,
    /// Some reads of several items read them one by one.
    TornSnapshot,
    /// Some pages after the first lack their first item.
    SkipAtBoundary,
    /// Some pages after the first repeat the last item of the previous page.
    RepeatAtBoundary,
    /// Some writes have no response: they are done now, later or never. This is allowed; a checker
    /// must accept it.
    LostAnswer,
    /// Every call is delayed before or after it is done, so that impatient callers leave while it
    /// is in progress. This is allowed, too.
    Slow,
}

#[derive(Debug)]
pub struct FaultyBackend {
    inner: SharedBackend,
    fault: Fault,
    turn: AtomicU64,
    reads: Mutex<HashMap<(String, Key), Option<Item>>>,
}

impl FaultyBackend {
    pub fn new(inner: SharedBackend, fault: Fault) -> Self {
        Self { inner, fault, turn: AtomicU64::new(0), reads: Mutex::default() }
    }

    /// Returns `true` once in `every` calls if `fault` is planted.
    fn is_due(&self, fault: Fault, every: u64) -> bool {
        self.fault == fault && self.turn.fetch_add(1, Ordering::Relaxed) % every == every - 1
    }

    async fn delay_before(&self) {
        if self.is_due(Fault::Slow, 2) {
            yield_often().await;
        }
    }

    async fn delay_after(&self) {
        if self.fault == Fault::Slow {
            yield_often().await;
        }
    }

    /// Decides if the response is lost, and what happens to the write.
    fn lost_response(&self) -> Option<LostResponse> {
        self.is_due(Fault::LostAnswer, 12).then(|| {
            match self.turn.load(Ordering::Relaxed) / 12 % 3 {
                0 => LostResponse::Undone,
                1 => LostResponse::Done,
                _ => LostResponse::DoneLater,
            }
        })
    }

    /// Returns the old image, as the response to a write that is not done now.
    async fn read_old_image(&self, table: &TableDefinition, put: &Put) -> Result<WriteOutput> {
        let item = match table.key.read(&put.item) {
            Some(key) => self.inner.get(table, Get::new(key).strong()).await?.item,
            None => None,
        };
        let item = if put.returning == Returning::Old { item } else { None };
        Ok(WriteOutput { item, capacity: Capacity::ZERO })
    }

    async fn put_deferred(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        let answer = self.read_old_image(table, &put).await?;
        let (inner, table) = (SharedBackend::clone(&self.inner), table.clone());
        tokio::spawn(async move {
            yield_often().await;
            inner.put(&table, put).await
        });
        Ok(answer)
    }

    async fn put_unguarded(&self, table: &TableDefinition, mut put: Put) -> Result<WriteOutput> {
        let Some(condition) = put.condition.take() else {
            return self.inner.put(table, put).await;
        };
        let key = table.key.read(&put.item).unwrap_or_else(|| Key::single(""));
        let before = self.inner.get(table, Get::new(key).strong()).await?.item;
        let shown = if put.returning == Returning::Old { before.clone() } else { None };
        if !condition.holds(before.as_ref()) {
            return Err(Error::ConditionFailed { item: shown.map(Box::new) });
        }
        yield_often().await;
        let written = self.inner.put(table, put).await?;
        Ok(WriteOutput { item: shown, ..written })
    }

    async fn transact_in_halves(&self, transaction: Transaction) -> Result<Capacity> {
        let Transaction { mut writes, token } = transaction.clone();
        let second = writes.split_off(writes.len() / 2);
        let first = Transaction { writes, token: None };
        let done_before = first.writes.len();
        let Ok(capacity) = self.inner.transact_write(first).await else {
            return self.inner.transact_write(transaction).await;
        };
        yield_often().await;
        match self.inner.transact_write(Transaction { writes: second, token }).await {
            Ok(more) => Ok(capacity + more),
            Err(Error::Cancelled { mut reasons }) => {
                reasons.splice(0..0, vec![None; done_before]);
                Err(Error::Cancelled { reasons })
            }
            Err(error) => Err(error),
        }
    }

    async fn get_one_by_one(&self, gets: Vec<TableGet>) -> Result<GetManyOutput> {
        let mut all = GetManyOutput { items: Vec::new(), capacity: Capacity::ZERO };
        for get in gets {
            let one = self.inner.transact_get(vec![get]).await?;
            all.items.extend(one.items);
            all.capacity += one.capacity;
            yield_often().await;
        }
        Ok(all)
    }
}

/// The fate of a write without a response.
enum LostResponse {
    Undone,
    Done,
    DoneLater,
}

async fn yield_often() {
    for _ in 0..YIELDS {
        tokio::task::yield_now().await;
    }
}

/// Does a write now, later or never, and returns an error.
macro_rules! silent {
    ($self:ident, $lost_response:expr, |$inner:ident| $write:expr) => {{
        let $inner = SharedBackend::clone(&$self.inner);
        match $lost_response {
            LostResponse::Undone => {}
            LostResponse::Done => drop($write.await),
            LostResponse::DoneLater => drop(tokio::spawn(async move {
                yield_often().await;
                drop($write.await);
            })),
        }
        return Err(Error::Unavailable { detail: String::from("planted silence") });
    }};
}

#[async_trait]
impl BackendDecorator for FaultyBackend {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<GetOutput> {
        let place = (table.name.clone(), get.key.clone());
        let stale = self.reads.lock().get(&place).cloned();
        if let Some(item) = stale
            && self.is_due(Fault::StaleRead, 6)
        {
            return Ok(GetOutput { item, capacity: Capacity::ZERO });
        }
        let found = self.inner.get(table, get).await?;
        self.reads.lock().insert(place, found.item.clone());
        Ok(found)
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<GetManyOutput> {
        if self.is_due(Fault::TornSnapshot, 2) {
            return self.get_one_by_one(gets).await;
        }
        self.inner.transact_get(gets).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        self.delay_before().await;
        if let Some(lost_response) = self.lost_response() {
            let table = table.clone();
            silent!(self, lost_response, |inner| inner.put(&table, put));
        }
        let unconditional = put.condition.is_none();
        if unconditional && self.is_due(Fault::LostWrite, 10) {
            return self.read_old_image(table, &put).await;
        }
        if unconditional && self.is_due(Fault::EarlyAnswer, 5) {
            return self.put_deferred(table, put).await;
        }
        if self.fault == Fault::DoubleWin {
            return self.put_unguarded(table, put).await;
        }
        let done = self.inner.put(table, put).await;
        self.delay_after().await;
        done
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        self.delay_before().await;
        if let Some(lost_response) = self.lost_response() {
            let table = table.clone();
            silent!(self, lost_response, |inner| inner.update(&table, update));
        }
        let done = self.inner.update(table, update).await;
        self.delay_after().await;
        done
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
        self.delay_before().await;
        if let Some(lost_response) = self.lost_response() {
            let table = table.clone();
            silent!(self, lost_response, |inner| inner.delete(&table, delete));
        }
        let done = self.inner.delete(table, delete).await;
        self.delay_after().await;
        done
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        self.delay_before().await;
        if let Some(lost_response) = self.lost_response() {
            silent!(self, lost_response, |inner| inner.transact_write(transaction));
        }
        if self.is_due(Fault::HalfTransaction, 3) {
            return self.transact_in_halves(transaction).await;
        }
        let done = self.inner.transact_write(transaction).await;
        self.delay_after().await;
        done
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        let start = query.start.clone();
        let mut page = self.inner.query(table, query).await?;
        let Some(start) = start else {
            return Ok(page);
        };
        if !page.items.is_empty() && self.is_due(Fault::SkipAtBoundary, 8) {
            page.items.remove(0);
        }
        if self.is_due(Fault::RepeatAtBoundary, 8) {
            let again = self.inner.get(table, Get::new(start.base).strong()).await?;
            page.items.splice(0..0, again.item);
        }
        Ok(page)
    }
}
