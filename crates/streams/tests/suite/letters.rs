//! Changes that cannot be processed: parked, looked at, redriven, discarded; and never in the way.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_domain::Ground;
use roundtable_model::entities::{DeadLetter, PostCounter};
use roundtable_model::table::{Delete, Key, Put, item};
use roundtable_model::{PostId, Processor as Name, Queue};
use roundtable_streams::{
    Batch, Counters, DeadLetters, Delivery, Effects, Failure, Processor, Redriven, Runner, Subject,
};
use roundtable_testkit::stop_at;

use crate::facts::{Facts, assert_counted, like_key};
use crate::late::Late;
use crate::stage::{ATTEMPTS_MAX, Stage, retries};

const PARKED: Queue = Queue::named("stream.counters");

/// The counters, which fail at some items.
#[derive(Clone, Debug)]
struct Picky {
    counters: Counters,
    refused: Refused,
}

/// The items it fails at.
pub(crate) type Refused = Arc<Mutex<HashSet<Key>>>;

#[async_trait]
impl Processor for Picky {
    fn name(&self) -> Name {
        self.counters.name()
    }

    fn wants(&self) -> &'static [&'static str] {
        self.counters.wants()
    }

    fn may_overtake(&self) -> bool {
        self.counters.may_overtake()
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let refused = self.refused.lock().clone();
        assert!(!refused.contains(&like_key("p1", "panic")), "as a careless processor would");
        let parking = batch.delivery == Delivery::PassedOver;
        if !parking && batch.changes.iter().any(|change| refused.contains(&change.key)) {
            return Err(Failure::broken("I do not like this one"));
        }
        self.counters.effects(batch).await
    }
}

/// A runner with counters that fail at some items.
pub(crate) fn picky(ground: &Ground, refused: &Refused) -> Runner {
    let (counters, refused) = (Counters::new(ground.clone()), Arc::clone(refused));
    let scores = roundtable_streams::Scores::new(ground.clone());
    let setup = Runner::on(ground.clone(), [0; 32]).with(Picky { counters, refused }).with(scores);
    setup.retrying(retries()).build()
}

async fn likes(ground: &Ground, post: &str) -> u64 {
    let post: PostId = post.parse().unwrap();
    let counters = ground.core().post_counters(&[post]).strong().get().await.unwrap();
    counters.into_iter().flatten().next().map_or(0, |counter: PostCounter| counter.likes)
}

async fn parked(letters: &DeadLetters) -> Vec<DeadLetter> {
    letters.list(&PARKED, None, None).await.unwrap().items
}

/// A change that cannot even be read is parked with its item and its error; the rest is counted. It
/// fails again when redriven, and can be discarded.
#[tokio::test]
async fn a_poisoned_change_is_parked_and_the_rest_goes_on() {
    let stage = Stage::reference().await;
    let (facts, core) = (Facts(&stage.ground), stage.ground.core().table());
    facts.post("p1").await;
    facts.like("p1", "ana").await;
    let poison = item! { "PK" => "POST#p1", "SK" => "LIKE#eve", "type" => "Like" };
    core.put(Put::new(poison)).await.unwrap();
    facts.like("p1", "bo").await;
    let runner = stage.runner();
    runner.drain().await.unwrap();
    assert_eq!(likes(&stage.ground, "p1").await, 2);

    let letters = runner.dead_letters();
    assert_eq!(letters.count().await.unwrap(), 1);
    let letter = &parked(&letters).await[0];
    assert_eq!(letter.attempts, u64::from(ATTEMPTS_MAX));
    assert!(letter.error.contains("postId"), "{}", letter.error);
    let shown = letters.show(&PARKED, letter.failed_at, &letter.id).await.unwrap();
    let Some((_, Subject::Change(change))) = shown else { panic!("it is there") };
    assert_eq!((change.entity.as_str(), change.processor.as_str()), ("Like", "counters"));
    assert_eq!(change.change.key, like_key("p1", "eve"));
    assert!(change.change.new.is_some() && change.is_whole());

    // That it goes away again is no easier to count, and waits behind it.
    core.delete(Delete::new(("POST#p1", "LIKE#eve"))).await.unwrap();
    runner.drain().await.unwrap();
    assert_eq!(letters.count().await.unwrap(), 2);
    let redriven = letters.redrive_all(10).await.unwrap();
    assert_eq!(redriven, Redriven { done: 0, failed: 2 });
    let again = parked(&letters).await;
    assert_eq!(again[0].attempts, u64::from(ATTEMPTS_MAX) + 1);
    for letter in again {
        assert!(letters.discard(&PARKED, letter.failed_at, &letter.id).await.unwrap());
        assert!(!letters.discard(&PARKED, letter.failed_at, &letter.id).await.unwrap());
    }
    facts.like("p1", "cleo").await;
    runner.drain().await.unwrap();
    assert_counted(&stage.ground).await;
    let lanes = runner.figures().lanes;
    let counters = lanes.iter().find(|lane| lane.processor == "counters").unwrap();
    assert_eq!((counters.parked, counters.processed), (2, 3));
}

/// Of many changes in one batch only the one at fault is parked.
#[tokio::test]
async fn one_of_many_is_found() {
    for stage in [Stage::reference().await, Stage::split().await.0] {
        let (facts, refused) = (Facts(&stage.ground), Refused::default());
        facts.post("p1").await;
        for number in 0..60 {
            facts.like("p1", &format!("user{number}")).await;
        }
        refused.lock().insert(like_key("p1", "user31"));
        let runner = picky(&stage.ground, &refused);
        runner.drain().await.unwrap();
        assert_eq!(likes(&stage.ground, "p1").await, 59);
        assert_eq!(runner.dead_letters().count().await.unwrap(), 1);
        refused.lock().clear();
        let redriven = runner.dead_letters().redrive_all(10).await.unwrap();
        assert_eq!(redriven, Redriven { done: 1, failed: 0 });
        runner.drain().await.unwrap();
        assert_counted(&stage.ground).await;
    }
}

/// Later changes of a parked item wait behind it: counted without it, the number of likes would be
/// below zero. Redriven, they are counted in order.
#[tokio::test]
async fn later_changes_of_a_parked_item_wait_behind_it() {
    for stage in [Stage::reference().await, Stage::split().await.0] {
        let (facts, refused) = (Facts(&stage.ground), Refused::default());
        facts.post("p1").await;
        refused.lock().insert(like_key("p1", "ana"));
        let runner = picky(&stage.ground, &refused);
        facts.like("p1", "ana").await;
        facts.like("p1", "bo").await;
        runner.drain().await.unwrap();
        facts.unlike("p1", "bo").await;
        // Whatever was wrong is mended; the order still matters.
        refused.lock().clear();
        facts.unlike("p1", "ana").await;
        facts.like("p1", "ana").await;
        facts.like("p1", "cleo").await;
        runner.drain().await.unwrap();
        let letters = runner.dead_letters();
        let waiting = parked(&letters).await;
        assert_eq!(waiting.len(), 3);
        assert!(waiting[1].error.contains("earlier"), "{}", waiting[1].error);
        assert_eq!(likes(&stage.ground, "p1").await, 1);

        // The last of them alone brings those before it along.
        assert!(letters.redrive(&PARKED, waiting[2].failed_at, &waiting[2].id).await.unwrap());
        assert_eq!(letters.count().await.unwrap(), 0);
        facts.unlike("p1", "ana").await;
        runner.drain().await.unwrap();
        assert_eq!(letters.count().await.unwrap(), 0, "nothing waits any more");
        assert_counted(&stage.ground).await;
    }
}

/// A reader that lost its shard in the middle of a batch comes back when another has parked that
/// change: it must not count it any more, or it would be counted twice when it is redriven.
#[tokio::test]
async fn a_late_reader_cannot_count_what_was_parked() {
    for known in [false, true] {
        let stage = Stage::split().await.0;
        let (facts, refused) = (Facts(&stage.ground), Refused::default());
        facts.post("p1").await;
        if known {
            facts.like("p1", "bo").await;
            stage.runner().drain().await.unwrap();
        }
        facts.like("p1", "ana").await;
        let late = Late::start(&stage.ground, Counters::new(stage.ground.clone())).await;
        refused.lock().insert(like_key("p1", "ana"));
        let other = picky(&stage.ground, &refused);
        // Parking marks the counter, also by a processor that fails at everything else.
        other.drain().await.unwrap();
        assert_eq!(other.dead_letters().count().await.unwrap(), 1);
        late.go_on().await;
        assert_eq!(likes(&stage.ground, "p1").await, u64::from(known));
        refused.lock().clear();
        let redriven = other.dead_letters().redrive_all(1).await.unwrap();
        assert_eq!(redriven, Redriven { done: 1, failed: 0 });
        stage.runner().drain().await.unwrap();
        assert_counted(&stage.ground).await;
    }
}

/// A processor that panics has failed, and nothing else.
#[tokio::test]
async fn a_panic_is_a_failure() {
    let stage = Stage::reference().await;
    let (facts, refused) = (Facts(&stage.ground), Refused::default());
    facts.post("p1").await;
    facts.like("p1", "ana").await;
    refused.lock().insert(like_key("p1", "panic"));
    let runner = picky(&stage.ground, &refused);
    runner.drain().await.unwrap();
    assert_eq!(runner.dead_letters().count().await.unwrap(), 1);
    refused.lock().clear();
    runner.dead_letters().redrive_all(1).await.unwrap();
    runner.drain().await.unwrap();
    assert_counted(&stage.ground).await;
}

/// Stopped anywhere while a change is being parked: it is parked once, and counted once in the end.
#[tokio::test]
async fn stopped_while_parking_nothing_is_lost_or_doubled() {
    for split in [false, true] {
        let mut stops = 0;
        loop {
            let stage = if split { Stage::split().await.0 } else { Stage::reference().await };
            let (facts, refused) = (Facts(&stage.ground), Refused::default());
            facts.post("p1").await;
            facts.like("p1", "ana").await;
            facts.like("p1", "bo").await;
            facts.unlike("p1", "ana").await;
            facts.like("p1", "cleo").await;
            refused.lock().insert(like_key("p1", "ana"));
            let slow = picky(&stage.slow().await, &refused);
            let done = stop_at(stops, slow.drain()).await;
            picky(&stage.ground, &refused).drain().await.unwrap();
            let letters = picky(&stage.ground, &refused).dead_letters();
            assert_eq!(letters.count().await.unwrap(), 2, "stopped after {stops}");
            assert_eq!(likes(&stage.ground, "p1").await, 2);
            refused.lock().clear();
            assert_eq!(letters.redrive_all(10).await.unwrap(), Redriven { done: 2, failed: 0 });
            picky(&stage.ground, &refused).drain().await.unwrap();
            assert_counted(&stage.ground).await;
            if done.is_some() {
                break;
            }
            stops += 1;
        }
        assert!(stops > 30, "{stops} await points are too few to be all");
    }
}

/// Stopped anywhere while letters are redriven, by two at once: each is counted once.
#[tokio::test]
async fn stopped_while_redriving_nothing_is_lost_or_doubled() {
    for split in [false, true] {
        let mut stops = 0;
        loop {
            let stage = if split { Stage::split().await.0 } else { Stage::reference().await };
            let (facts, refused) = (Facts(&stage.ground), Refused::default());
            facts.post("p1").await;
            for user in ["ana", "bo"] {
                refused.lock().insert(like_key("p1", user));
                facts.like("p1", user).await;
            }
            facts.unlike("p1", "ana").await;
            picky(&stage.ground, &refused).drain().await.unwrap();
            refused.lock().clear();
            facts.like("p1", "cleo").await;
            let (one, other) = (stage.slow().await, stage.slow().await);
            let letters = picky(&one, &refused).dead_letters();
            let runner = picky(&other, &refused);
            let work = async {
                tokio::join!(letters.redrive_all(10), letters.redrive_all(10), runner.drain())
            };
            let done = stop_at(stops, work).await;
            let letters = picky(&stage.ground, &refused).dead_letters();
            letters.redrive_all(10).await.unwrap();
            picky(&stage.ground, &refused).drain().await.unwrap();
            assert_eq!(letters.count().await.unwrap(), 0);
            assert_counted(&stage.ground).await;
            if done.is_some() {
                break;
            }
            stops += 1;
        }
    }
}
