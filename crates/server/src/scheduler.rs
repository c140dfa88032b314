//! Schedules executions: queries, selections of mutations, events of subscriptions, and the planning of
//! new documents.
//!
//! With an embedded store an execution waits for nothing but the processor, and more executions than
//! cores finish no sooner. So few run at the same time, and the others wait: signed-in clients first,
//! and among clients of a kind round-robin. Expensive work, questions about the schema, and all work of
//! anonymous clients, runs on threads of its own with a low priority ([`BackgroundThreads`]), so that it
//! uses what the others leave.

mod background_threads;
mod work_queue;

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use roundtable_graphql::{PreparedRequest, RequestCost};
use roundtable_interface::ClientInfo;
use roundtable_table::Store;
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::background_threads::BackgroundThreads;
use self::work_queue::{Waiting, WorkQueue};
use crate::client_key::ClientKey;
use crate::metrics::ServerMetrics;

/// Executions at the same time, per core: one runs, and one may be between two steps.
const EMBEDDED_PER_CORE: usize = 2;
/// Executions on a remote store mostly wait for it.
const REMOTE_PER_CORE: usize = 64;
/// The longest wait of a request for a permit. After that its client has likely given up, and a retry
/// finds the server less busy.
const WAIT_MAX: Duration = Duration::from_secs(1);
/// Work with more fields is expensive: about five feed pages.
const CHEAP_FIELDS_MAX: u64 = 4_000;
/// Work with more table operations is expensive, too: more than a page of fifty items with two lists each.
const CHEAP_OPERATIONS_MAX: u64 = 2_500;
/// A mutation whose selection reads more than this is scheduled as a whole.
const SMALL_ITEMS_MAX: u64 = 20;

/// The threads on which work runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkClass {
    /// Cheap work of signed-in clients.
    Interactive,
    Background,
}

/// Work did not get a permit in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overloaded;

#[derive(Clone, Debug)]
pub(crate) struct Scheduler(Arc<SchedulerParts>);

#[derive(Debug)]
struct SchedulerParts {
    interactive: Mutex<WorkQueue>,
    background: Mutex<WorkQueue>,
    threads: BackgroundThreads,
    metrics: Arc<ServerMetrics>,
}

/// Permits one execution, until it is dropped.
#[derive(Debug)]
pub(crate) struct WorkPermit {
    parts: Arc<SchedulerParts>,
    class: WorkClass,
    client: ClientKey,
}

impl WorkClass {
    /// Returns the class of a request by its client and the most that it may take.
    pub(crate) fn of(client: &ClientInfo, prepared: &PreparedRequest) -> Self {
        let RequestCost { fields, operations, .. } = *prepared.cost();
        let is_cheap = fields <= CHEAP_FIELDS_MAX && operations <= CHEAP_OPERATIONS_MAX;
        let is_cheap = is_cheap && !prepared.introspects();
        if client.caller.is_some() && is_cheap { Self::Interactive } else { Self::Background }
    }

    /// Returns the class of planning a new document.
    pub(crate) const fn of_planning(client: &ClientInfo) -> Self {
        if client.caller.is_some() { Self::Interactive } else { Self::Background }
    }
}

/// Returns whether a mutation reads so little that it need not wait for a permit: it waits for the disk,
/// and others can run meanwhile.
pub(crate) const fn is_small(cost: &RequestCost) -> bool {
    cost.items <= SMALL_ITEMS_MAX
}

impl Scheduler {
    pub(crate) fn new(store: &Store, metrics: Arc<ServerMetrics>) -> std::io::Result<Self> {
        let cores = available_parallelism().map_or(1, usize::from);
        let is_embedded = store.capabilities().single_process;
        let interactive = cores * if is_embedded { EMBEDDED_PER_CORE } else { REMOTE_PER_CORE };
        let background = if is_embedded { cores } else { interactive };
        Self::with_permits(interactive, background, cores, metrics)
    }

    fn with_permits(
        interactive: usize,
        background: usize,
        threads: usize,
        metrics: Arc<ServerMetrics>,
    ) -> std::io::Result<Self> {
        Ok(Self(Arc::new(SchedulerParts {
            interactive: Mutex::new(WorkQueue::new(interactive)),
            background: Mutex::new(WorkQueue::new(background)),
            threads: BackgroundThreads::start(threads)?,
            metrics,
        })))
    }

    /// Waits for a permit and runs `work`; refused if it waits too long.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        class: WorkClass,
        client: &ClientKey,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Overloaded> {
        let permit = timeout(WAIT_MAX, self.acquire(class, client)).await;
        let permit = permit.map_err(|_| {
            self.0.metrics.record_wait(WAIT_MAX);
            Overloaded
        })?;
        Ok(self.run_with(permit, work).await)
    }

    /// Waits for a permit, however long that takes, and runs `work`.
    pub(crate) async fn run_when_permitted<T: Send + 'static>(
        &self,
        class: WorkClass,
        client: &ClientKey,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let permit = self.acquire(class, client).await;
        self.run_with(permit, work).await
    }

    async fn run_with<T: Send + 'static>(
        &self,
        permit: WorkPermit,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        match permit.class {
            WorkClass::Interactive => {
                let _permit = permit;
                work.await
            }
            WorkClass::Background => {
                let work = async move {
                    let _permit = permit;
                    work.await
                };
                self.0.threads.run(work).await
            }
        }
    }

    async fn acquire(&self, class: WorkClass, client: &ClientKey) -> WorkPermit {
        let started = Instant::now();
        let waiting = {
            let mut queue = self.0.queue(class).lock();
            if queue.try_start(client) {
                None
            } else {
                let (permits, permit) = oneshot::channel();
                queue.wait(client, permits);
                Some(permit)
            }
        };
        let granted = match waiting {
            // A queue drops waiting work only with the scheduler.
            Some(permit) => permit.await.ok(),
            None => None,
        };
        self.0.metrics.record_wait(started.elapsed());
        granted.unwrap_or_else(|| self.0.permit(class, client.clone()))
    }
}

impl SchedulerParts {
    const fn queue(&self, class: WorkClass) -> &Mutex<WorkQueue> {
        match class {
            WorkClass::Interactive => &self.interactive,
            WorkClass::Background => &self.background,
        }
    }

    fn permit(self: &Arc<Self>, class: WorkClass, client: ClientKey) -> WorkPermit {
        WorkPermit { parts: Arc::clone(self), class, client }
    }
}

impl Drop for WorkPermit {
    fn drop(&mut self) {
        let next = self.parts.queue(self.class).lock().end(&self.client);
        // Outside the lock: if the receiver is gone, its permit is dropped here and passed on.
        if let Some(Waiting { client, permits }) = next {
            drop(permits.send(self.parts.permit(self.class, client)));
        }
    }
}

#[cfg(test)]
impl Scheduler {
    /// Takes all permits of a class.
    pub(crate) async fn acquire_all(&self, class: WorkClass) -> Vec<WorkPermit> {
        let mut permits = Vec::new();
        let mut number = 0;
        while self.0.queue(class).lock().is_free() {
            let client = ClientKey::Account(format!("user{number}").parse().unwrap());
            permits.push(self.acquire(class, &client).await);
            number += 1;
        }
        permits
    }
}

#[cfg(test)]
mod tests;
