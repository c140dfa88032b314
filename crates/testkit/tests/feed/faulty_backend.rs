//! A backend on which fan-out fails: its worker dies, its writes are refused, and the index of
//! followers is behind.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_model::table::{
    Backend, BackendDecorator, BatchWrite, Capabilities, Capacity, Clock, Delete, Error, Item,
    ItemPage, Key, ManualClock, Merge, Put, Query, Result, SharedBackend, TableDefinition,
    Transaction, Update, Write, WriteOutput,
};
use tokio::sync::Notify;

/// The lag of the index of followers.
pub(crate) const LAG_MS: u64 = 400;
/// The index's partition key attribute.
const LISTED: &str = "GSI1SK";

/// The store as servers reach it, or as the worker does, which meets the faults.
#[derive(Clone, Debug)]
pub(crate) struct FaultyBackend {
    inner: SharedBackend,
    clock: Arc<ManualClock>,
    is_workers: bool,
    /// True if it reports that other processes write to it.
    is_shared: bool,
    /// True if it drops copies, but reports success.
    is_lossy: bool,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    plan: Mutex<Plan>,
    died: Notify,
    /// The time each follow was created or accepted.
    follows: Mutex<HashMap<Key, u64>>,
}

/// The planned fault of the worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Plan {
    #[default]
    Nothing,
    /// Dies after this many writes into feeds.
    Dies(usize),
    /// Fails all writes into feeds after this many.
    Refused(usize),
}

/// The fate of some writes into feeds.
enum Verdict {
    Go,
    /// This many are done; the worker dies before the response.
    Die(usize),
    /// This many are done; the worker gets an error.
    Refuse(usize),
}

impl FaultyBackend {
    pub(crate) fn on(inner: SharedBackend, clock: Arc<ManualClock>) -> Self {
        let (is_workers, is_shared, is_lossy) = (false, false, false);
        Self { inner, clock, is_workers, is_shared, is_lossy, shared: Arc::default() }
    }

    pub(crate) fn shared(self) -> Self {
        Self { is_shared: true, ..self }
    }

    /// Loses copies, so that tests must fail.
    pub(crate) fn lossy(self) -> Self {
        Self { is_lossy: true, ..self }
    }

    pub(crate) fn for_worker(&self) -> Self {
        Self { is_workers: true, ..self.clone() }
    }

    /// Runs the worker; returns `None` if it dies after `writes` writes into feeds.
    pub(crate) async fn dying<F: Future>(&self, writes: usize, work: F) -> Option<F::Output> {
        *self.shared.plan.lock() = Plan::Dies(writes);
        let done = tokio::select! {
            done = work => Some(done),
            () = self.shared.died.notified() => None,
        };
        *self.shared.plan.lock() = Plan::Nothing;
        done
    }

    /// Runs the worker; its writes into feeds fail after `writes`.
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
            // A worker that dies after these writes dies before the response.
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

    /// The result of an atomic write with this many writes into feeds.
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

    /// Records a new or accepted follow, which the index will list.
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

    /// Removes follows that the index does not list yet.
    fn late(&self, table: &TableDefinition, index: Option<&str>, mut page: ItemPage) -> ItemPage {
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

/// Returns `true` for keys that fan-out writes: a copy, a horizon, a watermark.
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
impl BackendDecorator for FaultyBackend {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        Capabilities {
            strong_index_reads: inner.strong_index_reads && !self.is_workers && !self.is_shared,
            single_process: inner.single_process && !self.is_shared,
            ..inner
        }
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        let write = put.clone().into();
        let written = self.whole(of_feeds(table, &write), self.inner.put(table, put)).await?;
        self.note_follow(table, &write);
        Ok(written)
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        let write = update.clone().into();
        let written = self.whole(of_feeds(table, &write), self.inner.update(table, update)).await?;
        self.note_follow(table, &write);
        Ok(written)
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
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

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        let index = query.index.clone();
        Ok(self.late(table, index.as_deref(), self.inner.query(table, query).await?))
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<ItemPage> {
        let index = merge.index.clone();
        Ok(self.late(table, index.as_deref(), self.inner.merge(table, merge).await?))
    }
}
