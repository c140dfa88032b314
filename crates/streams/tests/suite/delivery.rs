//! Changes delivered again, twice, late, or to two readers at once (I4, I6).

use async_trait::async_trait;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_domain::Context;
use roundtable_model::entities::{Checkpoint, Like, PostCounter};
use roundtable_model::table::{Put, Sequence, Update};
use roundtable_model::{Entity, FromItem, ProcessorName as Name};
use roundtable_streams::{
    Batch, CounterUpdater, Effects, ProcessingError, Processor, Runner, ScoreUpdater,
};
use roundtable_testkit::stop_at;

use crate::facts::{Facts, all, assert_counted, bookkeeping, everything};
use crate::faulty_backend::FaultyBackend;
use crate::late_reader::LateReader;
use crate::test_store::{TestStore, retries, runner};

/// I6: redelivery changes nothing.
#[tokio::test]
async fn changes_delivered_repeatedly_or_late_count_once() {
    for seed in 0..5 {
        let (split, _) = TestStore::split().await;
        for store in [TestStore::reference().await, split] {
            let facts = Facts(&store.context);
            let unruly = store.through(FaultyBackend::unruly(&store.backend, seed)).await;
            facts.history(seed, 30).await;
            let mut random = SmallRng::seed_from_u64(seed);
            for _ in 0..5 {
                runner(&unruly).drain().await.unwrap();
                for _ in 0..10 {
                    facts.step(&mut random).await;
                }
            }
            // Late changes have arrived by now.
            store.runner().drain().await.unwrap();
            assert_counted(&store.context).await;
        }
    }
}

/// I6: without its checkpoint, a processor reads everything again and changes nothing.
#[tokio::test]
async fn reading_the_stream_again_changes_nothing() {
    for store in
        [TestStore::reference().await, TestStore::split().await.0, TestStore::engine().await]
    {
        let facts = Facts(&store.context);
        facts.history(1, 80).await;
        store.runner().drain().await.unwrap();
        let before: Vec<PostCounter> = all(&everything(&store.context).await);
        for processor in ["counters", "scores", "privacy", "purge"] {
            for item in bookkeeping(&store.context, &format!("CHECKPOINT#{processor}")).await {
                let checkpoint = Checkpoint::from_item(&item).unwrap();
                store.context.ops().table().delete(checkpoint.key().delete()).await.unwrap();
            }
        }
        store.runner().drain().await.unwrap();
        let after: Vec<PostCounter> = all(&everything(&store.context).await);
        assert_eq!(before, after);
        assert_counted(&store.context).await;
    }
}

/// I6: deleted counters are counted again from the stream.
#[tokio::test]
async fn counters_are_rebuilt_from_the_stream() {
    let store = TestStore::reference().await;
    Facts(&store.context).history(2, 80).await;
    store.runner().drain().await.unwrap();
    let core = store.context.core().table();
    for item in everything(&store.context).await {
        if item.text("type").is_some_and(|kind| kind.ends_with("Counter")) {
            let key = core.definition().key.read(&item).unwrap();
            core.delete(roundtable_model::table::Delete::new(key)).await.unwrap();
        }
    }
    for item in bookkeeping(&store.context, "CHECKPOINT#counters").await {
        let checkpoint = Checkpoint::from_item(&item).unwrap();
        store.context.ops().table().delete(checkpoint.key().delete()).await.unwrap();
    }
    store.runner().drain().await.unwrap();
    assert_counted(&store.context).await;
}

/// Two readers of the same shard, interleaved at every await point.
#[tokio::test]
async fn two_readers_at_once_count_once() {
    for seed in 0..6 {
        let (split, _) = TestStore::split().await;
        for store in [TestStore::reference().await, split] {
            Facts(&store.context).history(seed, 60).await;
            let (one, other) = (store.slow().await, store.slow().await);
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
            assert_counted(&store.context).await;
        }
    }
}

/// Counts likes without a guard.
#[derive(Debug)]
struct UnguardedCounter(Context);

#[async_trait]
impl Processor for UnguardedCounter {
    fn name(&self) -> Name {
        Name::from_static("unguarded")
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const { &[Like::SHAPE.name] }
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, ProcessingError> {
        let mut effects = Effects::new();
        let more = i32::try_from(batch.changes.len()).unwrap();
        let tally = Update::new(("TALLY", "likes")).add("changes", more);
        effects.write(self.0.ops().table(), tally);
        Ok(effects)
    }
}

/// The common transaction alone makes effects exactly once.
#[tokio::test]
async fn effects_commit_together_with_their_checkpoint() {
    for seed in 0..8 {
        for store in [TestStore::reference().await, TestStore::engine().await] {
            Facts(&store.context).post("p1").await;
            for number in 0..250 {
                Facts(&store.context).like("p1", &format!("user{number}")).await;
            }
            let unguarded = |context: &Context| {
                let setup = Runner::builder(context.clone(), [0; 32])
                    .with(UnguardedCounter(context.clone()));
                setup.with_retries(retries()).build()
            };
            let mut random = SmallRng::seed_from_u64(seed);
            for _ in 0..6 {
                let (one, other) = (store.slow().await, store.slow().await);
                let (one, other) = (unguarded(&one), unguarded(&other));
                let both = async { tokio::join!(one.drain(), other.drain()) };
                let _ = stop_at(random.random_range(0..40), both).await;
            }
            unguarded(&store.context).drain().await.unwrap();
            let tally = bookkeeping(&store.context, "TALLY").await;
            assert_eq!(tally[0].number("changes"), Some(250.into()));
        }
    }
}

/// A late reader must not write an old score although the post is unchanged: the counter has
/// changed and changed back in between.
#[tokio::test]
async fn an_outdated_score_is_not_written() {
    let store = TestStore::split().await.0;
    let facts = Facts(&store.context);
    facts.post("p1").await;
    let count = async || {
        let counters = CounterUpdater::new(store.context.clone());
        let only = Runner::builder(store.context.clone(), [0; 32]).with(counters);
        only.with_retries(retries()).build().drain().await.unwrap();
    };
    for user in ["ana", "bo"] {
        facts.share("p1", user).await;
    }
    count().await;
    let late = LateReader::start(&store.context, ScoreUpdater::new(store.context.clone())).await;
    facts.unshare("p1", "bo").await;
    store.runner().drain().await.unwrap();
    late.resume().await;
    store.runner().drain().await.unwrap();
    assert_counted(&store.context).await;
}

/// On the embedded engine and on DynamoDB's API, while facts are being written.
#[tokio::test]
async fn two_readers_at_once_count_once_on_real_stores() {
    for store in [TestStore::engine().await, TestStore::dynoxide().await] {
        let facts = Facts(&store.context);
        facts.history(3, 20).await;
        let (one, other) = (store.runner(), store.runner());
        let writing = async {
            let mut random = SmallRng::seed_from_u64(4);
            for _ in 0..20 {
                facts.step(&mut random).await;
            }
        };
        let ((), first, second) = tokio::join!(writing, one.drain(), other.drain());
        first.unwrap();
        second.unwrap();
        store.runner().drain().await.unwrap();
        assert_counted(&store.context).await;
    }
}

/// R32: while the store is unavailable everything waits. Nothing is parked, lost or counted twice,
/// even if a write had succeeded before the failure.
#[tokio::test]
async fn an_unavailable_store_only_delays_processing() {
    for seed in 0..6 {
        let (split, _) = TestStore::split().await;
        for store in [TestStore::reference().await, split] {
            Facts(&store.context).history(seed, 40).await;
            let flaky = store.through(FaultyBackend::flaky(&store.backend, seed)).await;
            let flaky = runner(&flaky);
            // Errors at the start are returned to the caller.
            while flaky.drain().await.is_err() {}
            assert_counted(&store.context).await;
            assert_eq!(store.runner().dead_letters().count().await.unwrap(), 0);
        }
    }
}

/// A checkpoint that the stream no longer covers is reported as a gap, and reading continues.
#[tokio::test]
async fn a_gap_in_the_stream_is_reported_and_skipped() {
    let store = TestStore::engine().await;
    let facts = Facts(&store.context);
    facts.post("p1").await;
    let beyond = Checkpoint {
        processor: CounterUpdater::NAME,
        stream_shard: "log".parse().unwrap(),
        sequence: Sequence::from(1_000_000).as_str().to_owned(),
        updated_at: store.context.now(),
    };
    store.context.ops().table().put(Put::new(beyond.item())).await.unwrap();
    facts.like("p1", "ana").await;
    let runner = store.runner();
    runner.drain().await.unwrap();
    let lanes = runner.metrics().lanes;
    let counters = lanes.iter().find(|lane| lane.processor == "counters").unwrap();
    assert_eq!((counters.gaps, counters.processed), (1, 1));
    assert_counted(&store.context).await;
}
