//! How many queries are answered at the same time.
//!
//! Where the store is in this process, a query waits for nothing but the processor, and each one that is
//! under way has its fields in memory, about a megabyte of them. More of them than there are processors
//! finish no sooner: they only push each other out of the caches, and a server that is asked too much for a
//! moment would from then on answer less than before. So they take turns, first come, first served.

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use async_graphql::parser::types::OperationType;
use roundtable_table::Store;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Queries under way for each processor: one is worked on, one may be between two of its steps.
const EACH: usize = 2;

/// The turns of a process; as many as anybody wants where the store is elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Turns(Option<Arc<Semaphore>>);

/// Where something was when its time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutOfTime {
    /// It had not begun.
    Waiting,
    /// It was under way.
    Working,
}

impl Turns {
    /// The turns in front of this store.
    pub(crate) fn of(store: &Store) -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        let is_here = store.capabilities().one_process;
        Self(is_here.then(|| Arc::new(Semaphore::new(processors * EACH))))
    }

    /// Waits for a turn and does this, both within the time that it may take.
    pub(crate) async fn within<T>(
        &self,
        limit: Duration,
        kind: Option<OperationType>,
        work: impl Future<Output = T>,
    ) -> Result<T, OutOfTime> {
        let mut at = OutOfTime::Waiting;
        let both = async {
            let _turn = self.take(kind).await;
            at = OutOfTime::Working;
            work.await
        };
        let done = timeout(limit, both).await;
        done.map_err(|_| at)
    }

    /// Waits for a turn, which lasts until it is dropped. Only what reads needs one: whoever writes waits
    /// for the disk, and others can go on meanwhile.
    async fn take(&self, kind: Option<OperationType>) -> Option<OwnedSemaphorePermit> {
        let reads = kind == Some(OperationType::Query);
        let turns = self.0.as_ref().filter(|_| reads)?;
        Arc::clone(turns).acquire_owned().await.ok()
    }
}

#[cfg(test)]
impl Turns {
    /// All that there are.
    pub(crate) async fn all(&self) -> OwnedSemaphorePermit {
        let turns = Arc::clone(self.0.as_ref().unwrap());
        let count = turns.available_permits().try_into().unwrap();
        turns.acquire_many_owned(count).await.unwrap()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    /// Whoever comes when all are taken is served as soon as one of them is done; who writes does not
    /// wait for those who read.
    #[tokio::test]
    async fn queries_take_turns_and_changes_need_none() {
        let turns = Turns(Some(Arc::new(Semaphore::new(1))));
        let query = Some(OperationType::Query);
        let first = turns.take(query).now_or_never().unwrap();
        assert!(first.is_some());
        let mut second = std::pin::pin!(turns.take(query));
        assert!(second.as_mut().now_or_never().is_none());
        for other in [Some(OperationType::Mutation), Some(OperationType::Subscription), None] {
            assert!(turns.take(other).now_or_never().unwrap().is_none());
        }
        drop(first);
        assert!(second.now_or_never().unwrap().is_some());
        assert!(Turns(None).take(query).now_or_never().unwrap().is_none());
    }

    /// However long something may take, and whatever it waits for when that is over.
    #[tokio::test(start_paused = true)]
    async fn it_is_known_where_time_ran_out() {
        let turns = Turns(Some(Arc::new(Semaphore::new(1))));
        let (query, limit) = (Some(OperationType::Query), Duration::from_secs(1));
        assert_eq!(turns.within(Duration::MAX, query, async { 7 }).await, Ok(7));
        let endless = std::future::pending::<()>;
        assert_eq!(turns.within(limit, query, endless()).await, Err(OutOfTime::Working));
        let _others = turns.all().await;
        assert_eq!(turns.within(limit, query, async {}).await, Err(OutOfTime::Waiting));
    }
}
