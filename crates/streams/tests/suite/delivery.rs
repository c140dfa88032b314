//! Changes that come again, doubled, late, or to two readers at once (I4, I6).

use async_trait::async_trait;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_domain::Ground;
use roundtable_model::entities::{Checkpoint, Like, PostCounter};
use roundtable_model::table::{Put, Sequence, Update};
use roundtable_model::{Answer, Entity, Processor as Name};
use roundtable_streams::{Batch, Counters, Effects, Failure, Processor, Runner, Scores};
use roundtable_testkit::stop_at;

use crate::facts::{Facts, all, assert_counted, bookkeeping, everything};
use crate::faults::Faults;
use crate::late::Late;
use crate::stage::{Stage, retries, runner};

/// I6: redelivery changes nothing.
#[tokio::test]
async fn changes_that_come_again_doubled_and_late_count_once() {
    for seed in 0..5 {
        let (split, _) = Stage::split().await;
        for stage in [Stage::reference().await, split] {
            let facts = Facts(&stage.ground);
            let unruly = stage.through(Faults::unruly(&stage.backend, seed)).await;
            facts.history(seed, 30).await;
            let mut random = SmallRng::seed_from_u64(seed);
            for _ in 0..5 {
                runner(&unruly).drain().await.unwrap();
                for _ in 0..10 {
                    facts.step(&mut random).await;
                }
            }
            // What had not arrived has by now.
            stage.runner().drain().await.unwrap();
            assert_counted(&stage.ground).await;
        }
    }
}

/// I6: with its checkpoint gone, a processor reads everything again, and changes nothing.
#[tokio::test]
async fn everything_read_again_changes_nothing() {
    for stage in [Stage::reference().await, Stage::split().await.0, Stage::engine().await] {
        let facts = Facts(&stage.ground);
        facts.history(1, 80).await;
        stage.runner().drain().await.unwrap();
        let before: Vec<PostCounter> = all(&everything(&stage.ground).await);
        for processor in ["counters", "scores", "privacy", "purge"] {
            for item in bookkeeping(&stage.ground, &format!("CHECKPOINT#{processor}")).await {
                let checkpoint = Checkpoint::from_item(&item).unwrap();
                stage.ground.ops().table().delete(checkpoint.key().delete()).await.unwrap();
            }
        }
        stage.runner().drain().await.unwrap();
        let after: Vec<PostCounter> = all(&everything(&stage.ground).await);
        assert_eq!(before, after);
        assert_counted(&stage.ground).await;
    }
}

/// I6: counters that are gone are counted anew from the facts.
#[tokio::test]
async fn counters_are_rebuilt_from_the_stream() {
    let stage = Stage::reference().await;
    Facts(&stage.ground).history(2, 80).await;
    stage.runner().drain().await.unwrap();
    let core = stage.ground.core().table();
    for item in everything(&stage.ground).await {
        if item.text("type").is_some_and(|kind| kind.ends_with("Counter")) {
            let key = core.definition().key.read(&item).unwrap();
            core.delete(roundtable_model::table::Delete::new(key)).await.unwrap();
        }
    }
    for item in bookkeeping(&stage.ground, "CHECKPOINT#counters").await {
        let checkpoint = Checkpoint::from_item(&item).unwrap();
        stage.ground.ops().table().delete(checkpoint.key().delete()).await.unwrap();
    }
    stage.runner().drain().await.unwrap();
    assert_counted(&stage.ground).await;
}

/// Two readers of the same shard, step by step in every order that the waits bring about.
#[tokio::test]
async fn two_readers_at_once_count_once() {
    for seed in 0..6 {
        let (split, _) = Stage::split().await;
        for stage in [Stage::reference().await, split] {
            Facts(&stage.ground).history(seed, 60).await;
            let (one, other) = (stage.slow().await, stage.slow().await);
            let (one, other) = (runner(&one), runner(&other));
            let late = async {
                for _ in 0..seed * 7 {
                    tokio::task::yield_now().await;
                }
                other.drain().await
            };
            let (first, second) = tokio::join!(one.drain(), late);
            first.unwrap();
            second.unwrap();
            assert_counted(&stage.ground).await;
        }
    }
}

/// Counts likes with no guard at all.
#[derive(Debug)]
struct Trusting(Ground);

#[async_trait]
impl Processor for Trusting {
    fn name(&self) -> Name {
        Name::named("trusting")
    }

    fn wants(&self) -> &'static [&'static str] {
        const { &[Like::SHAPE.name] }
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        let more = i32::try_from(batch.changes.len()).unwrap();
        let tally = Update::new(("TALLY", "likes")).add("changes", more);
        effects.write(self.0.ops().table(), tally);
        Ok(effects)
    }
}

/// Where effects commit with their checkpoint, that alone makes them exactly once.
#[tokio::test]
async fn a_checkpoint_and_its_effects_are_one() {
    for seed in 0..8 {
        for stage in [Stage::reference().await, Stage::engine().await] {
            Facts(&stage.ground).post("p1").await;
            for number in 0..250 {
                Facts(&stage.ground).like("p1", &format!("user{number}")).await;
            }
            let trusting = |ground: &Ground| {
                let setup = Runner::on(ground.clone(), [0; 32]).with(Trusting(ground.clone()));
                setup.retrying(retries()).build()
            };
            let mut random = SmallRng::seed_from_u64(seed);
            for _ in 0..6 {
                let (one, other) = (stage.slow().await, stage.slow().await);
                let (one, other) = (trusting(&one), trusting(&other));
                let both = async { tokio::join!(one.drain(), other.drain()) };
                let _ = stop_at(random.random_range(0..40), both).await;
            }
            trusting(&stage.ground).drain().await.unwrap();
            let tally = bookkeeping(&stage.ground, "TALLY").await;
            assert_eq!(tally[0].number("changes"), Some(250.into()));
        }
    }
}

/// A reader that comes back late with a score of long ago must not write it, although the post is as it
/// was: what the counter says has changed, and changed back, in between.
#[tokio::test]
async fn a_score_of_long_ago_is_not_written() {
    let stage = Stage::split().await.0;
    let facts = Facts(&stage.ground);
    facts.post("p1").await;
    let count = async || {
        let counters = Counters::new(stage.ground.clone());
        let only = Runner::on(stage.ground.clone(), [0; 32]).with(counters);
        only.retrying(retries()).build().drain().await.unwrap();
    };
    for user in ["ana", "bo"] {
        facts.share("p1", user).await;
    }
    count().await;
    let late = Late::start(&stage.ground, Scores::new(stage.ground.clone())).await;
    facts.unshare("p1", "bo").await;
    stage.runner().drain().await.unwrap();
    late.go_on().await;
    stage.runner().drain().await.unwrap();
    assert_counted(&stage.ground).await;
}

/// The same on the embedded engine and on DynamoDB's API, with facts still being written.
#[tokio::test]
async fn two_readers_at_once_count_once_on_real_stores() {
    for stage in [Stage::engine().await, Stage::dynoxide().await] {
        let facts = Facts(&stage.ground);
        facts.history(3, 20).await;
        let (one, other) = (stage.runner(), stage.runner());
        let writing = async {
            let mut random = SmallRng::seed_from_u64(4);
            for _ in 0..20 {
                facts.step(&mut random).await;
            }
        };
        let ((), first, second) = tokio::join!(writing, one.drain(), other.drain());
        first.unwrap();
        second.unwrap();
        stage.runner().drain().await.unwrap();
        assert_counted(&stage.ground).await;
    }
}

/// R32: while the store is away everything waits; nothing is parked, lost or counted twice, also when a
/// write had happened before the store went away.
#[tokio::test]
async fn a_store_that_is_away_now_and_then_costs_time_only() {
    for seed in 0..6 {
        let (split, _) = Stage::split().await;
        for stage in [Stage::reference().await, split] {
            Facts(&stage.ground).history(seed, 40).await;
            let flaky = stage.through(Faults::flaky(&stage.backend, seed)).await;
            let flaky = runner(&flaky);
            // What it cannot even begin with, it leaves to whoever runs it.
            while flaky.drain().await.is_err() {}
            assert_counted(&stage.ground).await;
            assert_eq!(stage.runner().dead_letters().count().await.unwrap(), 0);
        }
    }
}

/// A checkpoint that the stream no longer holds is a gap: it is told, and reading goes on.
#[tokio::test]
async fn a_gap_is_told_and_passed() {
    let stage = Stage::engine().await;
    let facts = Facts(&stage.ground);
    facts.post("p1").await;
    let beyond = Checkpoint {
        processor: Counters::NAME,
        stream_shard: "log".parse().unwrap(),
        sequence: Sequence::from(1_000_000).as_str().to_owned(),
        updated_at: stage.ground.now(),
    };
    stage.ground.ops().table().put(Put::new(beyond.item())).await.unwrap();
    facts.like("p1", "ana").await;
    let runner = stage.runner();
    runner.drain().await.unwrap();
    let lanes = runner.figures().lanes;
    let counters = lanes.iter().find(|lane| lane.processor == "counters").unwrap();
    assert_eq!((counters.gaps, counters.processed), (1, 1));
    assert_counted(&stage.ground).await;
}
