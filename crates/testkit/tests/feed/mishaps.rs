//! A store on which fan-out goes wrong: its worker dies in the middle, its writes are refused, and the
//! index that lists followers is behind.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_model::table::{
    Around, Backend, BatchWrite, Capabilities, Capacity, Clock, Delete, Error, Item, Key,
    ManualClock, Merge, Page, Put, Query, Result, SharedBackend, TableDefinition, Transaction,
    Update, Write, Written,
};
use tokio::sync::Notify;

/// How far the index of followers is behind.
pub(crate) const LAG_MS: u64 = 400;
/// The attribute by which a follow is in that index.
const LISTED: &str = "GSI1SK";

/// A store as people reach it, or as the worker does, to whom mishaps happen.
#[derive(Clone, Debug)]
pub(crate) struct Mishaps {
    inner: SharedBackend,
    clock: Arc<ManualClock>,
    is_workers: bool,
    /// Whether other processes write to it as well, as far as anybody knows.
    is_shared: bool,
    /// Whether it says that copies are written, and they are not.
    is_lossy: bool,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    plan: Mutex<Plan>,
    died: Notify,
    /// When each follow was made or accepted.
    follows: Mutex<HashMap<Key, u64>>,
}

/// What is to happen to the worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Plan {
    #[default]
    Nothing,
    /// It dies after so many writes into feeds.
    Dies(usize),
    /// Writes into feeds are refused after so many.
    Refused(usize),
}

/// What becomes of some writes into feeds.
enum Verdict {
    Go,
    /// So many of them are done; the worker does not hear of it.
    Die(usize),
    /// So many of them are done; the worker hears that they are not.
    Refuse(usize),
}

impl Mishaps {
    /// A store as people reach it, living by this clock.
    pub(crate) fn on(inner: SharedBackend, clock: Arc<ManualClock>) -> Self {
        let (is_workers, is_shared, is_lossy) = (false, false, false);
        Self { inner, clock, is_workers, is_shared, is_lossy, shared: Arc::default() }
    }

    /// The same, to which other processes write as well.
    pub(crate) fn shared(self) -> Self {
        Self { is_shared: true, ..self }
    }

    /// The same, which loses copies: nothing can be right then, and a test that is worth anything says
    /// so.
    pub(crate) fn lossy(self) -> Self {
        Self { is_lossy: true, ..self }
    }

    /// The same as the worker reaches it.
    pub(crate) fn for_worker(&self) -> Self {
        Self { is_workers: true, ..self.clone() }
    }

    /// The worker's work, which ends early if it dies after `writes` writes into feeds: `None` then.
    pub(crate) async fn dying<F: Future>(&self, writes: usize, work: F) -> Option<F::Output> {
        *self.shared.plan.lock() = Plan::Dies(writes);
        let done = tokio::select! {
            done = work => Some(done),
            () = self.shared.died.notified() => None,
        };
        *self.shared.plan.lock() = Plan::Nothing;
        done
    }

    /// The worker's work, whose writes into feeds are refused after `writes`.
    pub(crate) async fn refused<F: Future>(&self, writes: usize, work: F) -> F::Output {
        *self.shared.plan.lock() = Plan::Refused(writes);
        let done = work.await;
        *self.shared.plan.lock() = Plan::Nothing;
        done
    }

    fn verdict(&self, writes: usize) -> Verdict {
        if !self.is_workers || writes == 0 {
            return Verdict::Go;
        }
        match &mut *self.shared.plan.lock() {
            Plan::Nothing => Verdict::Go,
            // Whoever is to die after these dies before hearing that they are done.
            Plan::Dies(left) if writes >= *left => Verdict::Die(std::mem::take(left)),
            Plan::Refused(left) if writes > *left => Verdict::Refuse(std::mem::take(left)),
            Plan::Dies(left) | Plan::Refused(left) => {
                *left -= writes;
                Verdict::Go
            }
        }
    }

    async fn die<T>(&self) -> T {
        self.shared.died.notify_one();
        std::future::pending().await
    }

    /// What comes of a write that is done as a whole, so many of its parts into feeds.
    async fn whole<T>(
        &self,
        into_feeds: usize,
        write: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        match self.verdict(into_feeds) {
            Verdict::Go => write.await,
            Verdict::Die(done) => {
                if done >= into_feeds {
                    let _ = write.await;
                }
                self.die().await
            }
            Verdict::Refuse(_) => refused(),
        }
    }

    /// Notes a follow that is made or accepted: from now on the index would list it.
    fn note_follow(&self, table: &TableDefinition, write: &Write) {
        let is_listed = match write {
            Write::Put(_) => true,
            Write::Update(update) => update.actions.iter().any(|one| one.path().name() == LISTED),
            Write::Delete(_) | Write::Check(_) => false,
        };
        if let Some(key) = write.key(table).filter(|_| is_listed)
            && sort(&key).starts_with("FOLLOWING#")
        {
            self.shared.follows.lock().insert(key, self.clock.now_ms());
        }
    }

    /// The worker does not see what the index has not heard of yet.
    fn late(&self, table: &TableDefinition, index: Option<&str>, mut page: Page) -> Page {
        if self.is_workers && index.is_some() {
            let (now, follows) = (self.clock.now_ms(), self.shared.follows.lock());
            let is_new = |item: &Item| {
                let at = table.key.read(item).and_then(|key| follows.get(&key).copied());
                at.is_some_and(|at| now < at + LAG_MS)
            };
            page.items.retain(|item| !is_new(item));
        }
        page
    }
}

fn refused<T>() -> Result<T> {
    Err(Error::Unexpected { detail: "nothing can be written into feeds".into() })
}

fn sort(key: &Key) -> &str {
    key.sort.as_ref().and_then(|sort| sort.as_text()).unwrap_or_default()
}

/// Whether this is what fan-out writes: a copy, a horizon, a watermark.
fn is_of_feeds(key: &Key) -> bool {
    let partition = key.partition.as_text().unwrap_or_default();
    partition.starts_with("FEED#") || partition.starts_with("PROMO#")
}

fn of_feeds(table: &TableDefinition, write: &Write) -> usize {
    usize::from(write.key(table).is_some_and(|key| is_of_feeds(&key)))
}

fn of_feeds_in_batch(table: &TableDefinition, write: &BatchWrite) -> usize {
    let key = match write {
        BatchWrite::Put(item) => table.key.read(item),
        BatchWrite::Delete(key) => Some(key.clone()),
    };
    usize::from(key.is_some_and(|key| is_of_feeds(&key)))
}

#[async_trait]
impl Around for Mishaps {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        Capabilities {
            strong_index_reads: inner.strong_index_reads && !self.is_workers && !self.is_shared,
            one_process: inner.one_process && !self.is_shared,
            ..inner
        }
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<Written> {
        let write = put.clone().into();
        let written = self.whole(of_feeds(table, &write), self.inner.put(table, put)).await?;
        self.note_follow(table, &write);
        Ok(written)
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written> {
        let write = update.clone().into();
        let written = self.whole(of_feeds(table, &write), self.inner.update(table, update)).await?;
        self.note_follow(table, &write);
        Ok(written)
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<Written> {
        let into_feeds = of_feeds(table, &delete.clone().into());
        self.whole(into_feeds, self.inner.delete(table, delete)).await
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        let into_feeds = writes.iter().map(|write| of_feeds_in_batch(table, write)).sum();
        if self.is_lossy && into_feeds > 0 {
            return Ok(Capacity::default());
        }
        let first = |done: usize| writes.iter().take(done).cloned().collect::<Vec<_>>();
        match self.verdict(into_feeds) {
            Verdict::Go => self.inner.batch_write(table, writes).await,
            Verdict::Die(done) => {
                if done > 0 {
                    self.inner.batch_write(table, first(done)).await?;
                }
                self.die().await
            }
            Verdict::Refuse(done) => {
                if done > 0 {
                    self.inner.batch_write(table, first(done)).await?;
                }
                refused()
            }
        }
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        let writes = transaction.writes.clone();
        let into_feeds = writes.iter().map(|write| of_feeds(&write.table, &write.write)).sum();
        let capacity = self.whole(into_feeds, self.inner.transact_write(transaction)).await?;
        for write in &writes {
            self.note_follow(&write.table, &write.write);
        }
        Ok(capacity)
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page> {
        let index = query.index.clone();
        Ok(self.late(table, index.as_deref(), self.inner.query(table, query).await?))
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<Page> {
        let index = merge.index.clone();
        Ok(self.late(table, index.as_deref(), self.inner.merge(table, merge).await?))
    }
}
