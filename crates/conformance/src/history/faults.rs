//! Planted faults: backends that are wrong in one known way each, to show that a checker sees it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_table::{
    Around, Backend, Capacity, Delete, Error, Found, FoundMany, Get, Item, Key, Page, Put, Query,
    Result, Returning, SharedBackend, TableDefinition, TableGet, Transaction, Update, Written,
};

/// How long a fault stays open, in turns of the other tasks.
const YIELDS: usize = 6;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: every request is passed on.
    None,
    /// Now and then a strong read answers what an earlier one saw.
    StaleRead,
    /// Now and then an acknowledged put is not done.
    LostWrite,
    /// Now and then a put is acknowledged before it is done.
    EarlyAnswer,
    /// A conditional put reads, thinks, and then writes whatever has come in between.
    DoubleWin,
    /// Now and then a transaction is done in two halves.
    HalfTransaction,
    /// Now and then a read over several items takes them one by one.
    TornSnapshot,
    /// Now and then a page after the first lacks its first item.
    SkipAtBoundary,
    /// Now and then a page after the first begins with the last item of the page before.
    RepeatAtBoundary,
    /// Now and then nobody learns whether a write was done: it was, it was not, or it will be. Not
    /// wrong; a checker must not hold it against the store.
    LostAnswer,
    /// Every call takes its time before or after it is done, so that impatient callers leave while
    /// it is under way. Not wrong either.
    Slow,
}

/// A backend with a planted fault.
#[derive(Debug)]
pub struct Planted {
    inner: SharedBackend,
    fault: Fault,
    turn: AtomicU64,
    reads: Mutex<HashMap<(String, Key), Option<Item>>>,
}

impl Planted {
    /// `inner`, with `fault` before it.
    pub fn new(inner: SharedBackend, fault: Fault) -> Self {
        Self { inner, fault, turn: AtomicU64::new(0), reads: Mutex::default() }
    }

    /// Whether `fault` is planted and its turn has come, once in `every` times.
    fn strikes(&self, fault: Fault, every: u64) -> bool {
        self.fault == fault && self.turn.fetch_add(1, Ordering::Relaxed) % every == every - 1
    }

    async fn hesitate(&self) {
        if self.strikes(Fault::Slow, 2) {
            dawdle().await;
        }
    }

    async fn linger(&self) {
        if self.fault == Fault::Slow {
            dawdle().await;
        }
    }

    /// Whether to leave the answer out, and if so, what happens instead.
    fn silence(&self) -> Option<Silence> {
        self.strikes(Fault::LostAnswer, 12).then(|| {
            match self.turn.load(Ordering::Relaxed) / 12 % 3 {
                0 => Silence::Undone,
                1 => Silence::Done,
                _ => Silence::DoneLater,
            }
        })
    }

    /// What is there, as the answer to a write that is not done now.
    async fn pretend(&self, table: &TableDefinition, put: &Put) -> Result<Written> {
        let item = match table.key.read(&put.item) {
            Some(key) => self.inner.get(table, Get::new(key).strong()).await?.item,
            None => None,
        };
        let item = if put.returning == Returning::Old { item } else { None };
        Ok(Written { item, capacity: Capacity::ZERO })
    }

    async fn put_late(&self, table: &TableDefinition, put: Put) -> Result<Written> {
        let answer = self.pretend(table, &put).await?;
        let (inner, table) = (SharedBackend::clone(&self.inner), table.clone());
        tokio::spawn(async move {
            dawdle().await;
            inner.put(&table, put).await
        });
        Ok(answer)
    }

    async fn put_unguarded(&self, table: &TableDefinition, mut put: Put) -> Result<Written> {
        let Some(condition) = put.condition.take() else {
            return self.inner.put(table, put).await;
        };
        let key = table.key.read(&put.item).unwrap_or_else(|| Key::single(""));
        let before = self.inner.get(table, Get::new(key).strong()).await?.item;
        let shown = if put.returning == Returning::Old { before.clone() } else { None };
        if !condition.holds(before.as_ref()) {
            return Err(Error::ConditionFailed { item: shown.map(Box::new) });
        }
        dawdle().await;
        let written = self.inner.put(table, put).await?;
        Ok(Written { item: shown, ..written })
    }

    async fn transact_in_halves(&self, transaction: Transaction) -> Result<Capacity> {
        let Transaction { mut writes, token } = transaction.clone();
        let second = writes.split_off(writes.len() / 2);
        let first = Transaction { writes, token: None };
        let done_before = first.writes.len();
        let Ok(capacity) = self.inner.transact_write(first).await else {
            return self.inner.transact_write(transaction).await;
        };
        dawdle().await;
        match self.inner.transact_write(Transaction { writes: second, token }).await {
            Ok(more) => Ok(capacity + more),
            Err(Error::Cancelled { mut reasons }) => {
                reasons.splice(0..0, vec![None; done_before]);
                Err(Error::Cancelled { reasons })
            }
            Err(error) => Err(error),
        }
    }

    async fn torn_get(&self, gets: Vec<TableGet>) -> Result<FoundMany> {
        let mut all = FoundMany { items: Vec::new(), capacity: Capacity::ZERO };
        for get in gets {
            let one = self.inner.transact_get(vec![get]).await?;
            all.items.extend(one.items);
            all.capacity += one.capacity;
            dawdle().await;
        }
        Ok(all)
    }
}

/// What happens to a write nobody hears of again.
enum Silence {
    Undone,
    Done,
    DoneLater,
}

async fn dawdle() {
    for _ in 0..YIELDS {
        tokio::task::yield_now().await;
    }
}

/// Lets a write happen as the silence says, and answers nothing.
macro_rules! silent {
    ($self:ident, $silence:expr, |$inner:ident| $write:expr) => {{
        let $inner = SharedBackend::clone(&$self.inner);
        match $silence {
            Silence::Undone => {}
            Silence::Done => drop($write.await),
            Silence::DoneLater => drop(tokio::spawn(async move {
                dawdle().await;
                drop($write.await);
            })),
        }
        return Err(Error::Unavailable { detail: String::from("planted silence") });
    }};
}

#[async_trait]
impl Around for Planted {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<Found> {
        let place = (table.name.clone(), get.key.clone());
        let stale = self.reads.lock().get(&place).cloned();
        if let Some(item) = stale
            && self.strikes(Fault::StaleRead, 6)
        {
            return Ok(Found { item, capacity: Capacity::ZERO });
        }
        let found = self.inner.get(table, get).await?;
        self.reads.lock().insert(place, found.item.clone());
        Ok(found)
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<FoundMany> {
        if self.strikes(Fault::TornSnapshot, 2) {
            return self.torn_get(gets).await;
        }
        self.inner.transact_get(gets).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<Written> {
        self.hesitate().await;
        if let Some(silence) = self.silence() {
            let table = table.clone();
            silent!(self, silence, |inner| inner.put(&table, put));
        }
        let unconditional = put.condition.is_none();
        if unconditional && self.strikes(Fault::LostWrite, 10) {
            return self.pretend(table, &put).await;
        }
        if unconditional && self.strikes(Fault::EarlyAnswer, 5) {
            return self.put_late(table, put).await;
        }
        if self.fault == Fault::DoubleWin {
            return self.put_unguarded(table, put).await;
        }
        let done = self.inner.put(table, put).await;
        self.linger().await;
        done
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written> {
        self.hesitate().await;
        if let Some(silence) = self.silence() {
            let table = table.clone();
            silent!(self, silence, |inner| inner.update(&table, update));
        }
        let done = self.inner.update(table, update).await;
        self.linger().await;
        done
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<Written> {
        self.hesitate().await;
        if let Some(silence) = self.silence() {
            let table = table.clone();
            silent!(self, silence, |inner| inner.delete(&table, delete));
        }
        let done = self.inner.delete(table, delete).await;
        self.linger().await;
        done
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        self.hesitate().await;
        if let Some(silence) = self.silence() {
            silent!(self, silence, |inner| inner.transact_write(transaction));
        }
        if self.strikes(Fault::HalfTransaction, 3) {
            return self.transact_in_halves(transaction).await;
        }
        let done = self.inner.transact_write(transaction).await;
        self.linger().await;
        done
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page> {
        let start = query.start.clone();
        let mut page = self.inner.query(table, query).await?;
        let Some(start) = start else {
            return Ok(page);
        };
        if !page.items.is_empty() && self.strikes(Fault::SkipAtBoundary, 8) {
            page.items.remove(0);
        }
        if self.strikes(Fault::RepeatAtBoundary, 8) {
            let again = self.inner.get(table, Get::new(start.base).strong()).await?;
            page.items.splice(0..0, again.item);
        }
        Ok(page)
    }
}
