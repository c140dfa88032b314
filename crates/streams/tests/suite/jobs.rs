//! Work done a page at a time: by one worker at a time, through failures and deaths.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_domain::Ground;
use roundtable_model::Entity;
use roundtable_model::Queue;
use roundtable_model::entities::Job;
use roundtable_streams::{Failure, Next, Runner, Subject, Work, job};
use roundtable_testkit::stop_at;

use crate::facts::bookkeeping;
use crate::stage::{ATTEMPTS_MAX, Stage, retries};

const QUEUE: Queue = Queue::named("errands");
/// Longer than a worker may be silent.
const LONG_MS: u64 = 61_000;

/// Work of a few pages, which notes each.
#[derive(Clone, Debug, Default)]
struct Errand {
    done: Arc<Mutex<Vec<u32>>>,
    /// How often the third page fails.
    failures: Arc<AtomicUsize>,
}

#[async_trait]
impl Work for Errand {
    fn queue(&self) -> Queue {
        QUEUE
    }

    async fn page(&self, job: &Job) -> Result<Next, Failure> {
        let pages: u32 = job.payload.to()?;
        let page = job.cursor.as_ref().map_or(0, |cursor| cursor.parse().unwrap());
        tokio::task::yield_now().await;
        let fails = |left: usize| left.checked_sub(1);
        if page == 2
            && self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails).is_ok()
        {
            return Err(Failure::broken("the shop is closed"));
        }
        self.done.lock().push(page);
        Ok(if page + 1 == pages { Next::Done } else { Next::Page((page + 1).to_string()) })
    }
}

fn runner(ground: &Ground, errand: &Errand) -> Runner {
    Runner::on(ground.clone(), [0; 32]).working(errand.clone()).retrying(retries()).build()
}

async fn ask(ground: &Ground, id: &str, pages: u32) {
    let asked = job(QUEUE, id.parse().unwrap(), ground.now(), &pages).unwrap();
    ground.ops().table().put(asked.put()).await.unwrap();
}

#[tokio::test]
async fn a_job_is_done_page_by_page_and_goes() {
    let (stage, errand) = (Stage::reference().await, Errand::default());
    ask(&stage.ground, "one", 4).await;
    ask(&stage.ground, "one", 4).await;
    let runner = runner(&stage.ground, &errand);
    runner.drain().await.unwrap();
    assert_eq!(*errand.done.lock(), [0, 1, 2, 3]);
    assert!(bookkeeping(&stage.ground, "JOB#errands").await.is_empty());
    let queues = runner.figures().queues;
    assert_eq!((queues[0].pages, queues[0].finished), (4, 1));
}

/// A large job does not keep a small one waiting.
#[tokio::test]
async fn jobs_take_turns() {
    let (stage, errand) = (Stage::reference().await, Errand::default());
    ask(&stage.ground, "large", 120).await;
    stage.clock.advance_ms(1);
    ask(&stage.ground, "small", 1).await;
    runner(&stage.ground, &errand).drain().await.unwrap();
    let done = errand.done.lock();
    let zeros: Vec<usize> = (0..done.len()).filter(|at| done[*at] == 0).collect();
    assert_eq!((done.len(), zeros), (121, vec![0, 50]));
}

#[tokio::test]
async fn two_workers_do_no_page_twice() {
    for stage in [Stage::reference().await, Stage::split().await.0, Stage::dynoxide().await] {
        let errand = Errand::default();
        for id in ["one", "two", "three"] {
            ask(&stage.ground, id, 5).await;
        }
        let (one, other) = (stage.slow().await, stage.slow().await);
        let (one, other) = (runner(&one, &errand), runner(&other, &errand));
        let (first, second) = tokio::join!(one.drain(), other.drain());
        first.unwrap();
        second.unwrap();
        let mut done = errand.done.lock().clone();
        done.sort_unstable();
        assert_eq!(done, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
    }
}

/// A worker that dies leaves its job to the next one, which goes on at the page it was at.
#[tokio::test]
async fn a_dead_workers_job_goes_on_at_its_page() {
    let mut stops = 0;
    loop {
        let (stage, errand) = (Stage::reference().await, Errand::default());
        ask(&stage.ground, "one", 4).await;
        let slow = runner(&stage.slow().await, &errand);
        let done = stop_at(stops, slow.drain()).await;
        if done.is_none() {
            runner(&stage.ground, &errand).drain().await.unwrap();
            stage.clock.advance_ms(LONG_MS);
            runner(&stage.ground, &errand).drain().await.unwrap();
        }
        let mut pages = errand.done.lock().clone();
        assert!(pages.len() <= 5, "at most one page is done twice: {pages:?}");
        pages.dedup();
        assert_eq!(pages, [0, 1, 2, 3]);
        assert!(bookkeeping(&stage.ground, "JOB#errands").await.is_empty());
        if done.is_some() {
            break;
        }
        stops += 1;
    }
    assert!(stops > 20, "{stops} await points are too few to be all");
}

/// R32: retries, with waits in between that are none here.
#[tokio::test]
async fn a_failing_job_is_tried_again_then_parked_then_redriven() {
    let (stage, errand) = (Stage::reference().await, Errand::default());
    errand.failures.store(2, Ordering::SeqCst);
    ask(&stage.ground, "one", 4).await;
    let worker = runner(&stage.ground, &errand);
    worker.drain().await.unwrap();
    assert_eq!(*errand.done.lock(), [0, 1, 2, 3]);
    assert_eq!(worker.figures().queues[0].retried, 2);

    errand.done.lock().clear();
    errand.failures.store(100, Ordering::SeqCst);
    ask(&stage.ground, "two", 4).await;
    worker.drain().await.unwrap();
    assert_eq!(*errand.done.lock(), [0, 1]);
    let letters = worker.dead_letters();
    let parked = letters.list(&QUEUE, None, None).await.unwrap().items;
    assert_eq!((parked.len(), parked[0].attempts), (1, u64::from(ATTEMPTS_MAX)));
    assert_eq!(parked[0].error, "the shop is closed");
    let shown = letters.show(&QUEUE, parked[0].failed_at, &parked[0].id).await.unwrap();
    let Some((_, Subject::Job { cursor, .. })) = shown else { panic!("it is there") };
    assert_eq!(cursor.as_deref(), Some("2"));

    errand.failures.store(0, Ordering::SeqCst);
    assert!(letters.redrive(&QUEUE, parked[0].failed_at, &parked[0].id).await.unwrap());
    worker.drain().await.unwrap();
    assert_eq!(*errand.done.lock(), [0, 1, 2, 3]);
    assert_eq!(letters.count().await.unwrap(), 0);
}

/// Work that never comes to its end.
#[derive(Debug)]
struct Endless;

#[async_trait]
impl Work for Endless {
    fn queue(&self) -> Queue {
        QUEUE
    }

    async fn page(&self, _: &Job) -> Result<Next, Failure> {
        loop {
            tokio::task::yield_now().await;
        }
    }
}

/// A job that ends its worker every time, before it can say why, is parked as well.
#[tokio::test]
async fn a_job_that_kills_its_workers_is_parked() {
    let stage = Stage::reference().await;
    ask(&stage.ground, "one", 2).await;
    let worker = || {
        let setup = Runner::on(stage.ground.clone(), [0; 32]).working(Endless);
        setup.retrying(retries()).build()
    };
    for _ in 0..ATTEMPTS_MAX {
        assert!(stop_at(50, worker().drain()).await.is_none());
        stage.clock.advance_ms(LONG_MS);
    }
    let worker = worker();
    worker.drain().await.unwrap();
    assert_eq!(worker.dead_letters().count().await.unwrap(), 1);
    assert_eq!(worker.figures().queues[0].parked, 1);
}
