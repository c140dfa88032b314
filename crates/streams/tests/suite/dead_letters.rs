//! Changes that cannot be processed are parked, inspected, redriven and discarded, and never block
//! other changes.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_domain::Context;
use roundtable_model::entities::{DeadLetter, PostCounter};
use roundtable_model::table::{Delete, Key, Put, item};
use roundtable_model::{Entity, PostId, ProcessorName as Name, Queue};
use roundtable_streams::{
    Batch, CounterUpdater, DeadLetterSubject, DeadLetters, Delivery, Effects, ProcessingError,
    Processor, RedriveSummary, Runner,
};
use roundtable_testkit::stop_at;

use crate::facts::{Facts, assert_counted, like_key};
use crate::late_reader::LateReader;
use crate::test_store::{ATTEMPTS_MAX, TestStore, retries};

const PARKED: Queue = Queue::from_static("stream.counters");

/// Counters that fail at some items.
#[derive(Clone, Debug)]
struct FailingCounters {
    counters: CounterUpdater,
    failing: FailingKeys,
}

pub(crate) type FailingKeys = Arc<Mutex<HashSet<Key>>>;

#[async_trait]
impl Processor for FailingCounters {
    fn name(&self) -> Name {
        self.counters.name()
    }

    fn entity_types(&self) -> &'static [&'static str] {
        self.counters.entity_types()
    }

    fn may_overtake(&self) -> bool {
        self.counters.may_overtake()
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, ProcessingError> {
        let failing = self.failing.lock().clone();
        assert!(!failing.contains(&like_key("p1", "panic")), "injected panic");
        let parking = batch.delivery == Delivery::Skipped;
        if !parking && batch.changes.iter().any(|change| failing.contains(&change.key)) {
            return Err(ProcessingError::unprocessable("injected failure"));
        }
        self.counters.effects(batch).await
    }
}

/// A runner with counters that fail at some items.
pub(crate) fn failing_runner(context: &Context, failing: &FailingKeys) -> Runner {
    let (counters, failing) = (CounterUpdater::new(context.clone()), Arc::clone(failing));
    let scores = roundtable_streams::ScoreUpdater::new(context.clone());
    let builder = Runner::builder(context.clone(), [0; 32])
        .with(FailingCounters { counters, failing })
        .with(scores);
    builder.with_retries(retries()).build()
}

async fn likes(context: &Context, post: &str) -> u64 {
    let post: PostId = post.parse().unwrap();
    let counters = context.core().post_counters(&[post]).strong().get().await.unwrap();
    counters.into_iter().flatten().next().map_or(0, |counter: PostCounter| counter.likes)
}

async fn parked(letters: &DeadLetters) -> Vec<DeadLetter> {
    letters.list(&PARKED, None, None).await.unwrap().items
}

/// An unreadable change is parked with its item and error, and the rest is counted. It fails again
/// when redriven, and can be discarded.
#[tokio::test]
async fn an_unreadable_change_is_parked_and_the_rest_continues() {
    let store = TestStore::reference().await;
    let (facts, core) = (Facts(&store.context), store.context.core().table());
    facts.post("p1").await;
    facts.like("p1", "ana").await;
    let poison = item! { "PK" => "POST#p1", "SK" => "LIKE#eve", "type" => "Like" };
    core.put(Put::new(poison)).await.unwrap();
    facts.like("p1", "bo").await;
    let runner = store.runner();
    runner.drain().await.unwrap();
    assert_eq!(likes(&store.context, "p1").await, 2);

    let letters = runner.dead_letters();
    assert_eq!(letters.count().await.unwrap(), 1);
    let letter = &parked(&letters).await[0];
    assert_eq!(letter.attempts, u64::from(ATTEMPTS_MAX));
    assert!(letter.error.contains("postId"), "{}", letter.error);
    let shown = letters.get(&PARKED, letter.failed_at, &letter.id).await.unwrap();
    let Some((_, DeadLetterSubject::Change(change))) = shown else {
        panic!("the dead letter exists")
    };
    assert_eq!((change.entity.as_str(), change.processor.as_str()), ("Like", "counters"));
    assert_eq!(change.change.key, like_key("p1", "eve"));
    assert!(change.change.new.is_some() && change.has_images());

    // The removal of the unreadable item cannot be counted either, and is parked behind it.
    core.delete(Delete::new(("POST#p1", "LIKE#eve"))).await.unwrap();
    runner.drain().await.unwrap();
    assert_eq!(letters.count().await.unwrap(), 2);
    let redriven = letters.redrive_all(10).await.unwrap();
    assert_eq!(redriven, RedriveSummary { done: 0, failed: 2 });
    let again = parked(&letters).await;
    assert_eq!(again[0].attempts, u64::from(ATTEMPTS_MAX) + 1);
    for letter in again {
        assert!(letters.discard(&PARKED, letter.failed_at, &letter.id).await.unwrap());
        assert!(!letters.discard(&PARKED, letter.failed_at, &letter.id).await.unwrap());
    }
    facts.like("p1", "cleo").await;
    runner.drain().await.unwrap();
    assert_counted(&store.context).await;
    let lanes = runner.metrics().lanes;
    let counters = lanes.iter().find(|lane| lane.processor == "counters").unwrap();
    assert_eq!((counters.parked, counters.processed), (2, 3));
}

/// R57: the lag by checkpoints is the age of the oldest change that a processor has not completed.
#[tokio::test]
async fn the_lag_is_known_without_a_running_processor() {
    for store in [TestStore::reference().await, TestStore::split().await.0] {
        let runner = store.runner();
        assert_eq!(runner.unread_ms().await.unwrap(), 0);
        let facts = Facts(&store.context);
        facts.post("p1").await;
        store.clock.advance_ms(7_000);
        assert_eq!(runner.unread_ms().await.unwrap(), 7_000);
        runner.drain().await.unwrap();
        assert_eq!(runner.unread_ms().await.unwrap(), 0);
        facts.like("p1", "ana").await;
        store.clock.advance_ms(2_000);
        facts.like("p1", "bo").await;
        store.clock.advance_ms(1_000);
        assert_eq!(runner.unread_ms().await.unwrap(), 3_000);
    }
}

/// R57: all dead letters are listed in pages, whatever queue they are in.
#[tokio::test]
async fn the_dead_letters_of_all_queues_are_listed_in_pages() {
    let store = TestStore::reference().await;
    let runner = failing_runner(&store.context, &FailingKeys::default());
    let letters = runner.dead_letters();
    let mut expected = Vec::new();
    for (number, queue) in letters.queues().into_iter().enumerate() {
        for second in 0..=number {
            let id = format!("letter-{second}").parse().unwrap();
            let letter =
                DeadLetter { queue: queue.clone(), id, ..roundtable_model::samples::dead_letter() };
            store.context.ops().table().put(letter.put()).await.unwrap();
            expected.push((letter.queue, letter.id));
        }
    }
    for limit in 1..=expected.len() + 1 {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let (page, next) = letters.page(limit, after).await.unwrap();
            assert!(page.len() <= limit);
            found.extend(page.into_iter().map(|(letter, _)| (letter.queue, letter.id)));
            after = next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, expected, "{limit}");
    }
}

#[tokio::test]
async fn only_the_failing_change_of_a_batch_is_parked() {
    for store in [TestStore::reference().await, TestStore::split().await.0] {
        let (facts, failing) = (Facts(&store.context), FailingKeys::default());
        facts.post("p1").await;
        for number in 0..60 {
            facts.like("p1", &format!("user{number}")).await;
        }
        failing.lock().insert(like_key("p1", "user31"));
        let runner = failing_runner(&store.context, &failing);
        runner.drain().await.unwrap();
        assert_eq!(likes(&store.context, "p1").await, 59);
        assert_eq!(runner.dead_letters().count().await.unwrap(), 1);
        failing.lock().clear();
        let redriven = runner.dead_letters().redrive_all(10).await.unwrap();
        assert_eq!(redriven, RedriveSummary { done: 1, failed: 0 });
        runner.drain().await.unwrap();
        assert_counted(&store.context).await;
    }
}

/// Without the parked change, the number of likes would be negative. Redriven changes are counted
/// in order.
#[tokio::test]
async fn later_changes_of_a_parked_item_wait_behind_it() {
    for store in [TestStore::reference().await, TestStore::split().await.0] {
        let (facts, failing) = (Facts(&store.context), FailingKeys::default());
        facts.post("p1").await;
        failing.lock().insert(like_key("p1", "ana"));
        let runner = failing_runner(&store.context, &failing);
        facts.like("p1", "ana").await;
        facts.like("p1", "bo").await;
        runner.drain().await.unwrap();
        facts.unlike("p1", "bo").await;
        // The cause is fixed; the order still matters.
        failing.lock().clear();
        facts.unlike("p1", "ana").await;
        facts.like("p1", "ana").await;
        facts.like("p1", "cleo").await;
        runner.drain().await.unwrap();
        let letters = runner.dead_letters();
        let waiting = parked(&letters).await;
        assert_eq!(waiting.len(), 3);
        assert!(waiting[1].error.contains("earlier"), "{}", waiting[1].error);
        assert_eq!(likes(&store.context, "p1").await, 1);

        // Redriving the last one redrives the earlier ones first.
        assert!(letters.redrive(&PARKED, waiting[2].failed_at, &waiting[2].id).await.unwrap());
        assert_eq!(letters.count().await.unwrap(), 0);
        facts.unlike("p1", "ana").await;
        runner.drain().await.unwrap();
        assert_eq!(letters.count().await.unwrap(), 0, "nothing is parked any more");
        assert_counted(&store.context).await;
    }
}

/// A reader that lost its shard in the middle of a batch resumes after another reader has parked
/// the change. It must not count the change, or redriving would count it twice.
#[tokio::test]
async fn a_late_reader_does_not_count_a_parked_change() {
    for counted_before in [false, true] {
        let store = TestStore::split().await.0;
        let (facts, failing) = (Facts(&store.context), FailingKeys::default());
        facts.post("p1").await;
        if counted_before {
            facts.like("p1", "bo").await;
            store.runner().drain().await.unwrap();
        }
        facts.like("p1", "ana").await;
        let late =
            LateReader::start(&store.context, CounterUpdater::new(store.context.clone())).await;
        failing.lock().insert(like_key("p1", "ana"));
        let other = failing_runner(&store.context, &failing);
        // Parking marks the counter, also if the processor fails at everything else.
        other.drain().await.unwrap();
        assert_eq!(other.dead_letters().count().await.unwrap(), 1);
        late.resume().await;
        assert_eq!(likes(&store.context, "p1").await, u64::from(counted_before));
        failing.lock().clear();
        let redriven = other.dead_letters().redrive_all(1).await.unwrap();
        assert_eq!(redriven, RedriveSummary { done: 1, failed: 0 });
        store.runner().drain().await.unwrap();
        assert_counted(&store.context).await;
    }
}

#[tokio::test]
async fn a_panicking_processor_parks_the_change() {
    let store = TestStore::reference().await;
    let (facts, failing) = (Facts(&store.context), FailingKeys::default());
    facts.post("p1").await;
    facts.like("p1", "ana").await;
    failing.lock().insert(like_key("p1", "panic"));
    let runner = failing_runner(&store.context, &failing);
    runner.drain().await.unwrap();
    assert_eq!(runner.dead_letters().count().await.unwrap(), 1);
    failing.lock().clear();
    runner.dead_letters().redrive_all(1).await.unwrap();
    runner.drain().await.unwrap();
    assert_counted(&store.context).await;
}

/// Stopped at any point while a change is being parked: it is parked once, and counted once in the
/// end.
#[tokio::test]
async fn parking_interrupted_anywhere_counts_each_change_once() {
    for split in [false, true] {
        let mut stops = 0;
        loop {
            let store =
                if split { TestStore::split().await.0 } else { TestStore::reference().await };
            let (facts, failing) = (Facts(&store.context), FailingKeys::default());
            facts.post("p1").await;
            facts.like("p1", "ana").await;
            facts.like("p1", "bo").await;
            facts.unlike("p1", "ana").await;
            facts.like("p1", "cleo").await;
            failing.lock().insert(like_key("p1", "ana"));
            let slow = failing_runner(&store.slow().await, &failing);
            let done = stop_at(stops, slow.drain()).await;
            failing_runner(&store.context, &failing).drain().await.unwrap();
            let letters = failing_runner(&store.context, &failing).dead_letters();
            assert_eq!(letters.count().await.unwrap(), 2, "stopped after {stops}");
            assert_eq!(likes(&store.context, "p1").await, 2);
            failing.lock().clear();
            assert_eq!(
                letters.redrive_all(10).await.unwrap(),
                RedriveSummary { done: 2, failed: 0 }
            );
            failing_runner(&store.context, &failing).drain().await.unwrap();
            assert_counted(&store.context).await;
            if done.is_some() {
                break;
            }
            stops += 1;
        }
        assert!(stops > 30, "{stops} await points are too few to be all");
    }
}

/// Stopped at any point while two callers redrive the same dead letters: each change is counted
/// once.
#[tokio::test]
async fn redriving_interrupted_anywhere_counts_each_change_once() {
    for split in [false, true] {
        let mut stops = 0;
        loop {
            let store =
                if split { TestStore::split().await.0 } else { TestStore::reference().await };
            let (facts, failing) = (Facts(&store.context), FailingKeys::default());
            facts.post("p1").await;
            for user in ["ana", "bo"] {
                failing.lock().insert(like_key("p1", user));
                facts.like("p1", user).await;
            }
            facts.unlike("p1", "ana").await;
            failing_runner(&store.context, &failing).drain().await.unwrap();
            failing.lock().clear();
            facts.like("p1", "cleo").await;
            let (one, other) = (store.slow().await, store.slow().await);
            let letters = failing_runner(&one, &failing).dead_letters();
            let runner = failing_runner(&other, &failing);
            let work = async {
                tokio::join!(letters.redrive_all(10), letters.redrive_all(10), runner.drain())
            };
            let done = stop_at(stops, work).await;
            let letters = failing_runner(&store.context, &failing).dead_letters();
            letters.redrive_all(10).await.unwrap();
            failing_runner(&store.context, &failing).drain().await.unwrap();
            assert_eq!(letters.count().await.unwrap(), 0);
            assert_counted(&store.context).await;
            if done.is_some() {
                break;
            }
            stops += 1;
        }
    }
}
