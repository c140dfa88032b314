//! Jobs run a page at a time, by one worker at a time, through failures and crashes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_domain::Context;
use roundtable_model::Entity;
use roundtable_model::Queue;
use roundtable_model::entities::Job;
use roundtable_streams::{
    DeadLetterSubject, JobHandler, PageOutcome, ProcessingError, Runner, new_job,
};
use roundtable_testkit::stop_at;

use crate::facts::bookkeeping;
use crate::test_store::{ATTEMPTS_MAX, TestStore, retries};

const QUEUE: Queue = Queue::from_static("errands");
/// Longer than the claim of a worker.
const LONG_MS: u64 = 61_000;

/// A handler of a few pages that records each.
#[derive(Clone, Debug, Default)]
struct PagedJob {
    done: Arc<Mutex<Vec<u32>>>,
    /// The number of times the third page fails.
    failures: Arc<AtomicUsize>,
}

#[async_trait]
impl JobHandler for PagedJob {
    fn queue(&self) -> Queue {
        QUEUE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome, ProcessingError> {
        let pages: u32 = job.payload.decode()?;
        let page = job.cursor.as_ref().map_or(0, |cursor| cursor.parse().unwrap());
        tokio::task::yield_now().await;
        let fails = |left: usize| left.checked_sub(1);
        if page == 2
            && self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails).is_ok()
        {
            return Err(ProcessingError::unprocessable("the shop is closed"));
        }
        self.done.lock().push(page);
        Ok(if page + 1 == pages {
            PageOutcome::Done
        } else {
            PageOutcome::Continue((page + 1).to_string())
        })
    }
}

fn runner(context: &Context, handler: &PagedJob) -> Runner {
    Runner::builder(context.clone(), [0; 32])
        .with_job_handler(handler.clone())
        .with_retries(retries())
        .build()
}

async fn enqueue(context: &Context, id: &str, pages: u32) {
    let job = new_job(QUEUE, id.parse().unwrap(), context.now(), &pages).unwrap();
    context.ops().table().put(job.put()).await.unwrap();
}

#[tokio::test]
async fn a_job_is_done_page_by_page_and_removed() {
    let (store, handler) = (TestStore::reference().await, PagedJob::default());
    enqueue(&store.context, "one", 4).await;
    enqueue(&store.context, "one", 4).await;
    let runner = runner(&store.context, &handler);
    runner.drain().await.unwrap();
    assert_eq!(*handler.done.lock(), [0, 1, 2, 3]);
    assert!(bookkeeping(&store.context, "JOB#errands").await.is_empty());
    let queues = runner.metrics().queues;
    assert_eq!((queues[0].pages, queues[0].finished), (4, 1));
}

/// A large job does not delay a small one.
/// A handler whose jobs do one page now, and the other in a minute.
#[derive(Clone, Debug, Default)]
struct DelayedJob {
    pages: Arc<AtomicUsize>,
}

#[async_trait]
impl JobHandler for DelayedJob {
    fn queue(&self) -> Queue {
        QUEUE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome, ProcessingError> {
        self.pages.fetch_add(1, Ordering::SeqCst);
        Ok(match job.cursor {
            None => PageOutcome::ContinueLater("again".into(), Duration::from_mins(1)),
            Some(_) => PageOutcome::Done,
        })
    }
}

/// More jobs than are read at once, all of which continue later: a drain does the first page of
/// each.
#[tokio::test]
async fn jobs_that_continue_later_do_not_hide_those_behind_them() {
    const JOBS: usize = 25;
    let (store, handler) = (TestStore::reference().await, DelayedJob::default());
    for number in 0..JOBS {
        enqueue(&store.context, &format!("job{number}"), 2).await;
    }
    let runner =
        Runner::builder(store.context.clone(), [0; 32]).with_job_handler(handler.clone()).build();
    runner.drain().await.unwrap();
    assert_eq!(handler.pages.load(Ordering::SeqCst), JOBS);
    store.clock.advance_ms(LONG_MS);
    runner.drain().await.unwrap();
    assert_eq!(handler.pages.load(Ordering::SeqCst), 2 * JOBS);
    assert!(bookkeeping(&store.context, "JOB#errands").await.is_empty());
}

#[tokio::test]
async fn jobs_take_turns() {
    let (store, handler) = (TestStore::reference().await, PagedJob::default());
    enqueue(&store.context, "large", 120).await;
    store.clock.advance_ms(1);
    enqueue(&store.context, "small", 1).await;
    runner(&store.context, &handler).drain().await.unwrap();
    let done = handler.done.lock();
    let zeros: Vec<usize> = (0..done.len()).filter(|at| done[*at] == 0).collect();
    assert_eq!((done.len(), zeros), (121, vec![0, 50]));
}

#[tokio::test]
async fn two_workers_do_no_page_twice() {
    for store in
        [TestStore::reference().await, TestStore::split().await.0, TestStore::dynoxide().await]
    {
        let handler = PagedJob::default();
        for id in ["one", "two", "three"] {
            enqueue(&store.context, id, 5).await;
        }
        let (one, other) = (store.slow().await, store.slow().await);
        let (one, other) = (runner(&one, &handler), runner(&other, &handler));
        let (first, second) = tokio::join!(one.drain(), other.drain());
        first.unwrap();
        second.unwrap();
        let mut done = handler.done.lock().clone();
        done.sort_unstable();
        assert_eq!(done, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
    }
}

/// The next worker resumes the job of a dead one at its page.
#[tokio::test]
async fn a_dead_workers_job_resumes_at_its_page() {
    let mut stops = 0;
    loop {
        let (store, handler) = (TestStore::reference().await, PagedJob::default());
        enqueue(&store.context, "one", 4).await;
        let slow = runner(&store.slow().await, &handler);
        let done = stop_at(stops, slow.drain()).await;
        if done.is_none() {
            runner(&store.context, &handler).drain().await.unwrap();
            store.clock.advance_ms(LONG_MS);
            runner(&store.context, &handler).drain().await.unwrap();
        }
        let mut pages = handler.done.lock().clone();
        assert!(pages.len() <= 5, "at most one page is done twice: {pages:?}");
        pages.dedup();
        assert_eq!(pages, [0, 1, 2, 3]);
        assert!(bookkeeping(&store.context, "JOB#errands").await.is_empty());
        if done.is_some() {
            break;
        }
        stops += 1;
    }
    assert!(stops > 20, "{stops} await points are too few to be all");
}

/// Jobs of one subject have one id: the creation of a quest and its end. A worker died with one of them, and
/// in the same millisecond another worker took the other, which it stored in the first one's place.
#[tokio::test]
async fn two_jobs_with_one_id_are_both_done() {
    let mut stops = 0;
    loop {
        let (store, handler) = (TestStore::reference().await, PagedJob::default());
        enqueue(&store.context, "one", 4).await;
        store.clock.advance_ms(1);
        enqueue(&store.context, "one", 3).await;
        let slow = runner(&store.slow().await, &handler);
        let done = stop_at(stops, slow.drain()).await;
        runner(&store.context, &handler).drain().await.unwrap();
        store.clock.advance_ms(LONG_MS);
        runner(&store.context, &handler).drain().await.unwrap();
        let times = |page: u32| handler.done.lock().iter().filter(|done| **done == page).count();
        let enough = times(0) >= 2 && times(1) >= 2 && times(2) >= 2 && times(3) >= 1;
        assert!(enough, "after {stops} stops: {:?}", handler.done.lock());
        assert!(bookkeeping(&store.context, "JOB#errands").await.is_empty());
        if done.is_some() {
            break;
        }
        stops += 1;
    }
    assert!(stops > 20, "{stops} await points are too few to be all");
}

/// R32: retries, here without delays.
#[tokio::test]
async fn a_failing_job_is_retried_then_parked_then_redriven() {
    let (store, handler) = (TestStore::reference().await, PagedJob::default());
    handler.failures.store(2, Ordering::SeqCst);
    enqueue(&store.context, "one", 4).await;
    let worker = runner(&store.context, &handler);
    worker.drain().await.unwrap();
    assert_eq!(*handler.done.lock(), [0, 1, 2, 3]);
    assert_eq!(worker.metrics().queues[0].retried, 2);

    handler.done.lock().clear();
    handler.failures.store(100, Ordering::SeqCst);
    enqueue(&store.context, "two", 4).await;
    worker.drain().await.unwrap();
    assert_eq!(*handler.done.lock(), [0, 1]);
    let letters = worker.dead_letters();
    let parked = letters.list(&QUEUE, None, None).await.unwrap().items;
    assert_eq!((parked.len(), parked[0].attempts), (1, u64::from(ATTEMPTS_MAX)));
    assert_eq!(parked[0].error, "the shop is closed");
    let shown = letters.get(&QUEUE, parked[0].failed_at, &parked[0].id).await.unwrap();
    let Some((_, DeadLetterSubject::Job { cursor, .. })) = shown else {
        panic!("the dead letter exists")
    };
    assert_eq!(cursor.as_deref(), Some("2"));

    handler.failures.store(0, Ordering::SeqCst);
    assert!(letters.redrive(&QUEUE, parked[0].failed_at, &parked[0].id).await.unwrap());
    worker.drain().await.unwrap();
    assert_eq!(*handler.done.lock(), [0, 1, 2, 3]);
    assert_eq!(letters.count().await.unwrap(), 0);
}

/// A handler whose page never ends.
#[derive(Debug)]
struct Endless;

#[async_trait]
impl JobHandler for Endless {
    fn queue(&self) -> Queue {
        QUEUE
    }

    async fn run_page(&self, _: &Job) -> Result<PageOutcome, ProcessingError> {
        loop {
            tokio::task::yield_now().await;
        }
    }
}

/// A job that kills its worker every time, without an error, is parked as well.
#[tokio::test]
async fn a_job_that_kills_its_workers_is_parked() {
    let store = TestStore::reference().await;
    enqueue(&store.context, "one", 2).await;
    let worker = || {
        let builder = Runner::builder(store.context.clone(), [0; 32]).with_job_handler(Endless);
        builder.with_retries(retries()).build()
    };
    for _ in 0..ATTEMPTS_MAX {
        assert!(stop_at(50, worker().drain()).await.is_none());
        store.clock.advance_ms(LONG_MS);
    }
    let worker = worker();
    worker.drain().await.unwrap();
    assert_eq!(worker.dead_letters().count().await.unwrap(), 1);
    assert_eq!(worker.metrics().queues[0].parked, 1);
}
