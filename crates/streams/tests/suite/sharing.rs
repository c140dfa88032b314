//! Several processes share a stream by leases: parents before children, nothing lost on the way from
//! one to the other (I4).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use roundtable_domain::Ground;
use roundtable_dynamo::{Keeper, Leases, Worker};
use roundtable_model::Entity;
use roundtable_model::Processor as Name;
use roundtable_model::entities::{Comment, Like};
use roundtable_model::table::{
    Change, Clock, Item, Key, ManualClock, Result, Shard, StreamRead, StreamStart,
};
use roundtable_streams::{Batch, Counters, Effects, Failure, Processor, Runner, Setup, Sharing};

use crate::facts::{Facts, assert_counted};
use crate::running::until;
use crate::stage::{Stage, retries};

const LEASE_MS: u64 = 10_000;

/// Sharing by the leases of the DynamoDB backend, in rounds that a test need not wait for.
#[derive(Debug)]
struct Leased(Worker);

impl Leased {
    fn new(ground: &Ground, clock: &Arc<ManualClock>, owner: &str) -> Self {
        let keeper = Keeper {
            stream: ground.settings().tables.core.clone(),
            consumer: "workers".into(),
            owner: owner.into(),
            duration: Duration::from_millis(LEASE_MS),
        };
        let clock = Arc::clone(clock) as Arc<dyn Clock>;
        Self(Worker::new(Leases::new(ground.ops().table().clone(), clock, keeper)))
    }
}

#[async_trait]
impl Sharing for Leased {
    fn interval(&self) -> Duration {
        Duration::from_millis(5)
    }

    async fn share(&self, shards: &[Shard]) -> Result<Vec<String>> {
        self.0.share(shards).await
    }

    fn holds(&self, shard: &str) -> bool {
        self.0.holds(shard)
    }

    async fn end(&self, shard: &str) -> Result<()> {
        self.0.end(shard).await
    }

    async fn leave(&self) -> Result<()> {
        self.0.leave().await
    }
}

fn worker(ground: &Ground, clock: &Arc<ManualClock>, owner: &str) -> Runner {
    let setup = Setup::everything_at_once(ground).sharing(Leased::new(ground, clock, owner));
    setup.retrying(retries()).build()
}

/// One process reads, falls silent, and another takes over where it was.
#[tokio::test]
async fn a_silent_worker_is_replaced() {
    for stage in [Stage::split().await.0, Stage::dynoxide().await] {
        let facts = Facts(&stage.ground);
        facts.history(5, 30).await;
        let ana = worker(&stage.ground, &stage.clock, "ana");
        ana.drain().await.unwrap();
        assert_counted(&stage.ground).await;
        facts.like("p1", "zoe").await;
        let bo = worker(&stage.ground, &stage.clock, "bo");
        bo.drain().await.unwrap();
        assert!(bo.figures().lanes.is_empty(), "ana still has it");
        stage.clock.advance_ms(LEASE_MS);
        bo.drain().await.unwrap();
        assert!(bo.figures().lanes.iter().any(|lane| lane.processed > 0));
        assert_counted(&stage.ground).await;
    }
}

/// Two processes at work while shards end and have children, and facts are written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_share_a_stream_that_splits() {
    let (stage, cuts) = Stage::split().await;
    let facts = Facts(&stage.ground);
    facts.history(6, 10).await;
    let (ana, bo) =
        (worker(&stage.ground, &stage.clock, "ana"), worker(&stage.ground, &stage.clock, "bo"));
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
            cuts.cut(stage.ground.core().table().definition()).await;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // Both have had a part in it once the last shards are open.
    until(|| {
        let lanes: Vec<_> = [&ana, &bo].into_iter().flat_map(|each| each.figures().lanes).collect();
        ["g3-0", "g3-1"].iter().all(|shard| lanes.iter().any(|lane| lane.shard == *shard))
    })
    .await;
    stop.send(true).unwrap();
    for each in running {
        each.await.unwrap();
    }
    worker(&stage.ground, &stage.clock, "cleo").drain().await.unwrap();
    assert_counted(&stage.ground).await;
}

/// Nobody is behind on a shard that was read to its end, also where the last changes concerned nobody.
#[tokio::test]
async fn the_end_of_a_shard_is_written_down() {
    let (stage, cuts) = Stage::split().await;
    let facts = Facts(&stage.ground);
    facts.post("p1").await;
    facts.like("p1", "ana").await;
    // Counters want likes, and not posts.
    facts.post("p2").await;
    let core = stage.ground.core().table();
    cuts.cut(core.definition()).await;
    worker(&stage.ground, &stage.clock, "ana").drain().await.unwrap();
    let start = StreamStart::Oldest;
    let read = StreamRead::new("g0", start).limit(10);
    let end = core.stream_read(read).await.unwrap().next.unwrap();
    let checkpoints = stage.ground.ops().checkpoints(&Counters::NAME).all().await.unwrap();
    let first = checkpoints.iter().find(|each| each.stream_shard.as_str() == "g0").unwrap();
    assert_eq!(first.sequence, end.as_str());
}

/// Remembers what it is shown.
#[derive(Clone, Debug, Default)]
struct Witness(Arc<Mutex<Vec<Change>>>);

#[async_trait]
impl Processor for Witness {
    fn name(&self) -> Name {
        Name::named("witness")
    }

    fn wants(&self) -> &'static [&'static str] {
        const { &[Like::SHAPE.name, Comment::SHAPE.name] }
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> std::result::Result<Effects, Failure> {
        self.0.lock().extend_from_slice(batch.changes);
        Ok(Effects::none())
    }
}

/// I4: the changes of one item come in order, whichever shards they are in.
#[tokio::test]
async fn each_items_changes_come_in_order() {
    let (stage, cuts) = Stage::split().await;
    let (facts, witness) = (Facts(&stage.ground), Witness::default());
    facts.history(8, 10).await;
    let mut random = SmallRng::seed_from_u64(9);
    for _ in 0..4 {
        for _ in 0..60 {
            facts.step(&mut random).await;
        }
        cuts.cut(stage.ground.core().table().definition()).await;
    }
    let runner = Runner::on(stage.ground.clone(), [0; 32]).with(witness.clone()).build();
    runner.drain().await.unwrap();
    let mut last: HashMap<Key, Option<Item>> = HashMap::new();
    let seen = witness.0.lock().clone();
    assert!(seen.len() > 60, "{}", seen.len());
    for change in seen {
        let before = last.insert(change.key.clone(), change.new.clone()).unwrap_or_default();
        assert_eq!(change.old, before, "{}", change.key);
    }
}
