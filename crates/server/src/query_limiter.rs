//! A limit on concurrent queries.
//!
//! With an embedded store a query waits for nothing but the processor, and each running one holds about
//! a megabyte of fields. More queries than cores finish no sooner: they evict each other from the
//! caches, and an overloaded server would stay slower than before. So queries are admitted first come,
//! first served.

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use roundtable_graphql::OperationType;
use roundtable_table::Store;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Queries admitted per core: one runs, and one may be between two steps.
const QUERIES_PER_CORE: usize = 2;

/// Admits queries; unlimited if the store is remote.
#[derive(Clone, Debug)]
pub(crate) struct QueryLimiter(Option<Arc<Semaphore>>);

/// The state of a request when its time ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutPhase {
    /// It had not started.
    Queued,
    Running,
}

impl QueryLimiter {
    pub(crate) fn new(store: &Store) -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        let is_embedded = store.capabilities().single_process;
        Self(is_embedded.then(|| Arc::new(Semaphore::new(processors * QUERIES_PER_CORE))))
    }

    /// Waits for a permit and runs `work`, both within the time limit.
    pub(crate) async fn run<T>(
        &self,
        limit: Duration,
        operation: OperationType,
        work: impl Future<Output = T>,
    ) -> Result<T, TimeoutPhase> {
        let mut state = TimeoutPhase::Queued;
        let work = async {
            let _permit = self.acquire(operation).await;
            state = TimeoutPhase::Running;
            work.await
        };
        let done = timeout(limit, work).await;
        done.map_err(|_| state)
    }

    /// Waits for a permit. Only queries need one: mutations wait for the disk, and others can run
    /// meanwhile.
    async fn acquire(&self, operation: OperationType) -> Option<OwnedSemaphorePermit> {
        let is_query = operation == OperationType::Query;
        let permits = self.0.as_ref().filter(|_| is_query)?;
        Arc::clone(permits).acquire_owned().await.ok()
    }
}

#[cfg(test)]
impl QueryLimiter {
    pub(crate) async fn acquire_all(&self) -> OwnedSemaphorePermit {
        let permits = Arc::clone(self.0.as_ref().unwrap());
        let count = permits.available_permits().try_into().unwrap();
        permits.acquire_many_owned(count).await.unwrap()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    /// A waiting query starts as soon as another ends; mutations do not wait for queries.
    #[tokio::test]
    async fn queries_wait_for_permits_and_mutations_do_not() {
        let limiter = QueryLimiter(Some(Arc::new(Semaphore::new(1))));
        let query = OperationType::Query;
        let first = limiter.acquire(query).now_or_never().unwrap();
        assert!(first.is_some());
        let mut second = std::pin::pin!(limiter.acquire(query));
        assert!(second.as_mut().now_or_never().is_none());
        for other in [OperationType::Mutation, OperationType::Subscription] {
            assert!(limiter.acquire(other).now_or_never().unwrap().is_none());
        }
        drop(first);
        assert!(second.now_or_never().unwrap().is_some());
        assert!(QueryLimiter(None).acquire(query).now_or_never().unwrap().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_says_whether_work_had_started() {
        let limiter = QueryLimiter(Some(Arc::new(Semaphore::new(1))));
        let (query, limit) = (OperationType::Query, Duration::from_secs(1));
        assert_eq!(limiter.run(Duration::MAX, query, async { 7 }).await, Ok(7));
        let never = std::future::pending::<()>;
        assert_eq!(limiter.run(limit, query, never()).await, Err(TimeoutPhase::Running));
        let _permits = limiter.acquire_all().await;
        assert_eq!(limiter.run(limit, query, async {}).await, Err(TimeoutPhase::Queued));
    }
}
