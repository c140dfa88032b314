//! A storm over several processes that share the stream of DynamoDB by leases: one of them dies
//! half-way, and another takes its place.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::{Ground, Settings, TableNames};
use roundtable_dynamo::{Config, Dynamo, Keeper, Leases, Worker};
use roundtable_model::table::{ManualClock, Result, Shard, SharedBackend, Store};
use roundtable_streams::{Backoff, Retries, Runner, Setup, Sharing};
use roundtable_testkit::{Shelf, Split, Stuttering, Town};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::cast::{ALL_OVER_MS, live, look_around, populate};
use crate::model::Naive;

/// By the town's clock, which the people of the town move on: some leases run out unmeant.
const LEASE_MS: u64 = 1_000;
/// After so long everything is due: jobs that a dead worker had taken, and what waits for indexes and
/// for requests that were under way.
const ALL_DUE_MS: u64 = 121_000;

/// Where a town is.
pub(crate) struct Place {
    pub(crate) config: Config,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) tables: TableNames,
    pub(crate) shelf: Arc<Shelf>,
}

impl Place {
    fn connect(&self) -> SharedBackend {
        Arc::new(Dynamo::connect(self.config.clone().clock(self.clock.clone())))
    }

    /// The town as a process of its own reaches it, over a stream that stutters.
    async fn town(&self, split: &Split, process: u8) -> Arc<Town> {
        let split = Arc::new(split.reached_by(self.connect()));
        self.town_on(Store::new(Stuttering::new(split, process.into())), process).await
    }

    async fn town_on(&self, store: Store, process: u8) -> Arc<Town> {
        let settings = Settings { tables: self.tables.clone(), ..Town::settings() };
        let town = Town::on(store, self.clock.clone(), settings, process).await;
        Arc::new(town.sharing(self.shelf.clone()))
    }
}

/// A process that reads its share of the stream.
struct Process {
    town: Arc<Town>,
    runner: Runner,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Process {
    fn start(town: Arc<Town>, owner: &str) -> Self {
        let runner = runner(&town, owner);
        let ((stop, stopped), running) = (oneshot::channel(), runner.clone());
        let stopped = async { drop(stopped.await) };
        let running = tokio::spawn(async move { running.run(stopped).await });
        Self { town, runner, stop, running }
    }

    /// Asks it to stop, and waits until it has.
    async fn stop(self) -> Runner {
        self.stop.send(()).unwrap();
        self.running.await.unwrap();
        self.runner
    }

    /// Ends it wherever it is. Its leases stay its own until they run out.
    async fn kill(self) -> Runner {
        self.running.abort();
        assert!(self.running.await.unwrap_err().is_cancelled());
        self.runner
    }
}

fn runner(town: &Town, owner: &str) -> Runner {
    let backoff = Backoff::new(Duration::from_millis(1), Duration::from_millis(50), [0; 32]);
    let setup = Setup::everything(town.ground(), [0; 32]).storing(town.shelf().clone());
    let setup = setup.sharing(Leased::new(town.ground(), owner));
    setup.retrying(Retries { attempts_max: 5, backoff }).build()
}

/// Sharing by leases, in rounds that a test need not wait for.
#[derive(Debug)]
struct Leased(Worker);

impl Leased {
    fn new(ground: &Ground, owner: &str) -> Self {
        let keeper = Keeper {
            stream: ground.settings().tables.core.clone(),
            consumer: "workers".into(),
            owner: owner.into(),
            duration: Duration::from_millis(LEASE_MS),
        };
        let (ops, clock) = (ground.ops().table().clone(), Arc::clone(ground.clock()));
        Self(Worker::new(Leases::new(ops, clock, keeper)))
    }
}

#[async_trait]
impl Sharing for Leased {
    fn interval(&self) -> Duration {
        Duration::from_millis(50)
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

fn processed(runner: &Runner) -> u64 {
    runner.figures().lanes.iter().map(|lane| lane.processed).sum()
}

/// Two processes serve a town in which everybody does `steps` things, half of them before one of the
/// processes dies. Meanwhile the stream stutters, and its shards end and have children.
pub(crate) async fn storm(place: Place, steps: usize) {
    let (naive, split) = (Arc::new(Naive::default()), Split::new(place.connect()));
    let ana = place.town(&split, 0).await;
    let names = populate(&ana).await;
    let core = Arc::clone(ana.ground().core().table().definition());
    split.cut(&core).await;
    let ana = Process::start(ana, "ana");
    let bo = Process::start(place.town(&split, 1).await, "bo");
    live(&[ana.town.clone(), bo.town.clone()], &names, &naive, steps / 2, 0).await;
    let ana = ana.kill().await;
    let cleo = Process::start(place.town(&split, 2).await, "cleo");
    let towns = [bo.town.clone(), cleo.town.clone()];
    tokio::join!(live(&towns, &names, &naive, steps - steps / 2, 1), split.cut(&core));
    let (bo, cleo) = (bo.stop().await, cleo.stop().await);
    for (name, runner) in [("ana", &ana), ("bo", &bo), ("cleo", &cleo)] {
        assert!(processed(runner) > 0, "{name} had no part in it");
    }
    let calm = place.town_on(Store::new(split.reached_by(place.connect())), 3).await;
    let dan = runner(&calm, "dan");
    for wait_ms in [ALL_DUE_MS, ALL_DUE_MS, ALL_DUE_MS, ALL_OVER_MS, ALL_DUE_MS, ALL_DUE_MS] {
        place.clock.advance_ms(wait_ms);
        dan.drain().await.unwrap();
    }
    look_around(&calm, &naive, steps).await;
}
