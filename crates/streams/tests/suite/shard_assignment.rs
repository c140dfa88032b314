//! Several processes share a stream by leases: parents before children, and nothing is lost in a
//! handover (I4).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use roundtable_domain::Context;
use roundtable_model::Entity;
use roundtable_model::ProcessorName as Name;
use roundtable_model::entities::{Comment, Like};
use roundtable_model::table::{Change, Clock, Item, Key, ManualClock, StreamRead, StreamStart};
use roundtable_streams::{
    Batch, CounterUpdater, Effects, LeaseConfig, Leases, ProcessingError, Processor, Runner,
    RunnerBuilder, ShardWorker,
};

use crate::facts::{Facts, assert_counted};
use crate::running::until;
use crate::test_store::{TestStore, retries};

const LEASE_MS: u64 = 10_000;

/// Assignment by leases, with short rounds.
fn leased(context: &Context, clock: &Arc<ManualClock>, owner: &str) -> ShardWorker {
    let keeper = LeaseConfig {
        stream: context.settings().tables.core.clone(),
        consumer: "workers".into(),
        owner: owner.into(),
        duration: Duration::from_millis(LEASE_MS),
    };
    let clock = Arc::clone(clock) as Arc<dyn Clock>;
    ShardWorker::new(Leases::new(context.ops().table().clone(), clock, keeper))
        .with_interval(Duration::from_millis(5))
}

fn worker(context: &Context, clock: &Arc<ManualClock>, owner: &str) -> Runner {
    let setup = RunnerBuilder::with_all_processors_undelayed(context)
        .with_shard_assignment(leased(context, clock, owner));
    setup.with_retries(retries()).build()
}

/// One process reads and falls silent; another continues at its position.
#[tokio::test]
async fn a_silent_worker_is_replaced() {
    for store in [TestStore::split().await.0, TestStore::dynoxide().await] {
        let facts = Facts(&store.context);
        facts.history(5, 30).await;
        let ana = worker(&store.context, &store.clock, "ana");
        ana.drain().await.unwrap();
        assert_counted(&store.context).await;
        facts.like("p1", "zoe").await;
        let bo = worker(&store.context, &store.clock, "bo");
        bo.drain().await.unwrap();
        assert!(bo.metrics().lanes.is_empty(), "ana still holds the lease");
        store.clock.advance_ms(LEASE_MS);
        bo.drain().await.unwrap();
        assert!(bo.metrics().lanes.iter().any(|lane| lane.processed > 0));
        assert_counted(&store.context).await;
    }
}

/// Two processes work while shards split and facts are written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_share_a_stream_that_splits() {
    let (store, splitter) = TestStore::split().await;
    let facts = Facts(&store.context);
    facts.history(6, 10).await;
    let (ana, bo) =
        (worker(&store.context, &store.clock, "ana"), worker(&store.context, &store.clock, "bo"));
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let run = |runner: &Runner| {
        let (runner, mut stopped) = (runner.clone(), stopped.clone());
        tokio::spawn(async move {
            runner
                .run(async move {
                    let _ = stopped.wait_for(|set| *set).await;
                })
                .await;
        })
    };
    let running = [run(&ana), run(&bo)];
    let mut random = SmallRng::seed_from_u64(7);
    for round in 0..60 {
        facts.step(&mut random).await;
        if round % 20 == 10 {
            splitter.split(store.context.core().table().definition()).await;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // Both have worked once the last shards are open.
    until(|| {
        let lanes: Vec<_> = [&ana, &bo].into_iter().flat_map(|each| each.metrics().lanes).collect();
        ["g3-0", "g3-1"].iter().all(|shard| lanes.iter().any(|lane| lane.shard == *shard))
    })
    .await;
    stop.send(true).unwrap();
    for each in running {
        each.await.unwrap();
    }
    worker(&store.context, &store.clock, "cleo").drain().await.unwrap();
    assert_counted(&store.context).await;
}

/// No processor lags on a shard that was read to its end, also if it did not want the last changes.
#[tokio::test]
async fn the_checkpoint_reaches_the_end_of_an_ended_shard() {
    let (store, splitter) = TestStore::split().await;
    let facts = Facts(&store.context);
    facts.post("p1").await;
    facts.like("p1", "ana").await;
    // Counters want likes, and not posts.
    facts.post("p2").await;
    let core = store.context.core().table();
    splitter.split(core.definition()).await;
    worker(&store.context, &store.clock, "ana").drain().await.unwrap();
    let start = StreamStart::Oldest;
    let read = StreamRead::new("g0", start).limit(10);
    let end = core.stream_read(read).await.unwrap().next.unwrap();
    let checkpoints = store.context.ops().checkpoints(&CounterUpdater::NAME).all().await.unwrap();
    let first = checkpoints.iter().find(|each| each.stream_shard.as_str() == "g0").unwrap();
    assert_eq!(first.sequence, end.as_str());
}

/// Records the changes it receives.
#[derive(Clone, Debug, Default)]
struct ChangeRecorder(Arc<Mutex<Vec<Change>>>);

#[async_trait]
impl Processor for ChangeRecorder {
    fn name(&self) -> Name {
        Name::from_static("recorder")
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const { &[Like::SHAPE.name, Comment::SHAPE.name] }
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, ProcessingError> {
        self.0.lock().extend_from_slice(batch.changes);
        Ok(Effects::new())
    }
}

/// I4: the changes of one item arrive in order across shards.
#[tokio::test]
async fn changes_of_each_item_arrive_in_order() {
    let (store, splitter) = TestStore::split().await;
    let (facts, recorder) = (Facts(&store.context), ChangeRecorder::default());
    facts.history(8, 10).await;
    let mut random = SmallRng::seed_from_u64(9);
    for _ in 0..4 {
        for _ in 0..60 {
            facts.step(&mut random).await;
        }
        splitter.split(store.context.core().table().definition()).await;
    }
    let runner = Runner::builder(store.context.clone(), [0; 32]).with(recorder.clone()).build();
    runner.drain().await.unwrap();
    let mut last: HashMap<Key, Option<Item>> = HashMap::new();
    let seen = recorder.0.lock().clone();
    assert!(seen.len() > 60, "{}", seen.len());
    for change in seen {
        let before = last.insert(change.key.clone(), change.new.clone()).unwrap_or_default();
        assert_eq!(change.old, before, "{}", change.key);
    }
}
