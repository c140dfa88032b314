//! A storm over several processes that share the stream of DynamoDB by leases: one of them dies
//! half-way, and another replaces it.

use std::sync::Arc;
use std::time::Duration;

use roundtable_domain::{Caller, Context, Settings, TableNames};
use roundtable_dynamo::{Config, Dynamo};
use roundtable_model::Role;
use roundtable_model::table::{ManualClock, SharedBackend, Store};
use roundtable_streams::{
    Backoff, LeaseConfig, Leases, RetrySettings, Runner, RunnerBuilder, ShardWorker,
};
use roundtable_testkit::storm::{ALL_OVER_MS, PEOPLE, SharedModel, StormPart, live, populate};
use roundtable_testkit::{
    MemoryMediaStore, SplitStreamBackend, StutteringBackend, Town, UnreliableBackend,
};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::check::check;

/// In the town's clock, which users advance: some leases expire by accident.
const LEASE_MS: u64 = 1_000;
/// After this time everything is due: jobs of dead workers, and work that waits for indexes or for
/// requests in flight.
const ALL_DUE_MS: u64 = 121_000;

/// The store of a town.
pub(crate) struct StormStore {
    pub(crate) config: Config,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) tables: TableNames,
    pub(crate) media_store: Arc<MemoryMediaStore>,
    /// The seed of the network's faults; `None` for a network without.
    pub(crate) unreliable_seed: Option<u64>,
}

impl StormStore {
    fn connect(&self) -> SharedBackend {
        Arc::new(Dynamo::connect(self.config.clone().clock(self.clock.clone())))
    }

    /// Opens the town in another process, over a stream that stutters.
    async fn town(&self, split: &SplitStreamBackend, process: u8) -> Arc<Town> {
        let connection = match self.unreliable_seed {
            Some(seed) => {
                Arc::new(UnreliableBackend::new(self.connect(), seed * 10 + u64::from(process)))
            }
            None => self.connect(),
        };
        let split = Arc::new(split.with_backend(connection));
        self.town_on(Store::new(StutteringBackend::new(split, process.into())), process).await
    }

    async fn town_on(&self, store: Store, process: u8) -> Arc<Town> {
        let settings = Settings { tables: self.tables.clone(), ..Town::settings() };
        let town = Town::on(store, self.clock.clone(), settings, process).await;
        Arc::new(town.with_media_store(self.media_store.clone()))
    }
}

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

    async fn stop(self) -> Runner {
        self.stop.send(()).unwrap();
        self.running.await.unwrap();
        self.runner
    }

    /// Ends it at any point. It keeps its leases until they expire.
    async fn kill(self) -> Runner {
        self.running.abort();
        assert!(self.running.await.unwrap_err().is_cancelled());
        self.runner
    }
}

fn runner(town: &Town, owner: &str) -> Runner {
    let backoff = Backoff::new(Duration::from_millis(1), Duration::from_millis(50), [0; 32]);
    let setup = RunnerBuilder::with_all_processors(town.context(), [0; 32])
        .with_media_store(town.media_store().clone());
    let setup = setup.with_shard_assignment(shared_shards(town.context(), owner));
    setup.with_retries(RetrySettings { attempts_max: 5, backoff }).build()
}

/// Assignment by leases, at intervals that a test need not wait for.
fn shared_shards(context: &Context, owner: &str) -> ShardWorker {
    let keeper = LeaseConfig {
        stream: context.settings().tables.core.clone(),
        consumer: "workers".into(),
        owner: owner.into(),
        duration: Duration::from_millis(LEASE_MS),
    };
    let (ops, clock) = (context.ops().table().clone(), Arc::clone(context.clock()));
    ShardWorker::new(Leases::new(ops, clock, keeper)).with_interval(Duration::from_millis(50))
}

fn processed(runner: &Runner) -> u64 {
    runner.metrics().lanes.iter().map(|lane| lane.processed).sum()
}

/// Two processes serve a town in which each user does `steps` actions, half of them before one of
/// the processes dies. The stream stutters, and its shards end and have children.
pub(crate) async fn storm(storm_store: StormStore, steps: usize) {
    let seed = storm_store.unreliable_seed.unwrap_or_default();
    let (shared_model, split) =
        (Arc::new(SharedModel::seeded(seed)), SplitStreamBackend::new(storm_store.connect()));
    let begin = Store::new(split.with_backend(storm_store.connect()));
    let begin = storm_store.town_on(begin, 9).await;
    let names = populate(&begin, PEOPLE).await;
    let admin = Caller::with_roles(begin.id(names.last().unwrap()), &[Role::Admin]);
    let admin = storm_store.unreliable_seed.map(|_| admin);
    let part = |number, steps| StormPart { steps, number, seed, admin: admin.clone() };
    let ana = storm_store.town(&split, 0).await;
    let core = Arc::clone(ana.context().core().table().definition());
    split.split(&core).await;
    let ana = Process::start(ana, "ana");
    let bo = Process::start(storm_store.town(&split, 1).await, "bo");
    let towns = [ana.town.clone(), bo.town.clone()];
    live(&towns, &names, &shared_model, &part(0, steps / 2)).await;
    let ana = ana.kill().await;
    let cleo = Process::start(storm_store.town(&split, 2).await, "cleo");
    let towns = [bo.town.clone(), cleo.town.clone()];
    let part = part(1, steps - steps / 2);
    tokio::join!(live(&towns, &names, &shared_model, &part), split.split(&core));
    let (bo, cleo) = (bo.stop().await, cleo.stop().await);
    for (name, runner) in [("ana", &ana), ("bo", &bo), ("cleo", &cleo)] {
        assert!(processed(runner) > 0, "{name} had no part in it");
    }
    let calm = storm_store.town_on(Store::new(split.with_backend(storm_store.connect())), 3).await;
    let dan = runner(&calm, "dan");
    for wait_ms in [ALL_DUE_MS, ALL_DUE_MS, ALL_DUE_MS, ALL_OVER_MS, ALL_DUE_MS, ALL_DUE_MS] {
        storm_store.clock.advance_ms(wait_ms);
        dan.drain().await.unwrap();
    }
    check(&calm, &shared_model, steps, false).await;
}
