//! Stores to run on: in memory, embedded, and a server that speaks DynamoDB's API.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use roundtable_conformance::Reference;
use roundtable_domain::{Chance, Ground, Parts, Settings, TableNames};
use roundtable_dynamo::{Config, Dynamo};
use roundtable_engine::{Engine, Options, SimulatedDisk};
use roundtable_model::Ids;
use roundtable_model::table::{Backend, ManualClock, SharedBackend, Store};
use roundtable_streams::{
    Counters, FanOut, FollowerShards, Privacy, PromotionRule, Purge, Retries, Runner, Scores,
};
use roundtable_testkit::{Split, Town, Yielding};

/// When everything begins: a Monday in January 2025.
pub(crate) const BEGIN_MS: u64 = 1_737_991_800_000;
/// Tries before something is parked.
pub(crate) const ATTEMPTS_MAX: u32 = 3;

/// A store, and what stands on it.
pub(crate) struct Stage {
    pub(crate) backend: SharedBackend,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) ground: Ground,
    tables: TableNames,
    kept: Vec<Box<dyn Any + Send + Sync>>,
}

impl Stage {
    /// In memory.
    pub(crate) async fn reference() -> Self {
        let clock = clock();
        Self::on(Arc::new(Reference::new(clock.clone())), clock).await
    }

    /// In memory, with a stream of several shards, and other processes about: nothing commits together
    /// with its checkpoint.
    pub(crate) async fn split() -> (Self, Arc<Split>) {
        let clock = clock();
        let split = Arc::new(Split::new(Arc::new(Reference::new(clock.clone()))));
        (Self::on(split.clone(), clock).await, split)
    }

    /// Embedded, with a log in memory.
    pub(crate) async fn engine() -> Self {
        let (clock, directory) = (clock(), tempfile::tempdir().unwrap());
        let engine = open(&clock, directory.path(), SimulatedDisk::new());
        let mut stage = Self::on(Arc::new(engine), clock).await;
        stage.kept.push(Box::new(directory));
        stage
    }

    /// The DynamoDB backend, on a server in this process.
    pub(crate) async fn dynoxide() -> Self {
        let clock = clock();
        let config = Config::local(address()).clock(clock.clone());
        Self::on(Arc::new(Dynamo::connect(config)), clock).await
    }

    pub(crate) async fn on(backend: SharedBackend, clock: Arc<ManualClock>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = |table: &str| format!("{table}-{number}");
        let tables = TableNames { core: name("core"), logins: name("logins"), ops: name("ops") };
        let ground = ground(Arc::clone(&backend), &clock, &tables).await;
        Self { backend, clock, ground, tables, kept: Vec::new() }
    }

    /// What was left on a store.
    pub(crate) async fn again(
        backend: SharedBackend,
        clock: Arc<ManualClock>,
        tables: &TableNames,
    ) -> Self {
        let ground = ground(Arc::clone(&backend), &clock, tables).await;
        Self { backend, clock, ground, tables: tables.clone(), kept: Vec::new() }
    }

    pub(crate) const fn tables(&self) -> &TableNames {
        &self.tables
    }

    /// The same store through another backend: one that fails, waits, or repeats itself.
    pub(crate) async fn through(&self, backend: impl Backend) -> Ground {
        ground(Arc::new(backend), &self.clock, &self.tables).await
    }

    /// The same store, which keeps its callers waiting at every operation.
    pub(crate) async fn slow(&self) -> Ground {
        self.through(Yielding::shared(Arc::clone(&self.backend))).await
    }

    pub(crate) fn runner(&self) -> Runner {
        runner(&self.ground)
    }
}

/// What keeps counters, scores and feeds, and clears up after people, without waits. What tells them of
/// things, or rewards them, has tests of its own: these here stop at every step that is taken.
pub(crate) fn runner(ground: &Ground) -> Runner {
    let (fan_out, purge) = (FanOut::new(ground.clone()), Purge::new(ground.clone()).at_once());
    Runner::on(ground.clone(), [0; 32])
        .with(Counters::new(ground.clone()))
        .with(Scores::new(ground.clone()))
        .with(Privacy::new(ground.clone()))
        .working(Privacy::new(ground.clone()))
        .with(FollowerShards::new(ground.clone()))
        .with(PromotionRule::new(ground.clone()))
        .with(fan_out.clone())
        .working(fan_out)
        .with(purge.clone())
        .working(purge)
        .at_once()
        .retrying(retries())
        .build()
}

pub(crate) fn retries() -> Retries {
    Retries { attempts_max: ATTEMPTS_MAX, backoff: roundtable_streams::Backoff::none() }
}

pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_ms(BEGIN_MS))
}

async fn ground(backend: SharedBackend, clock: &Arc<ManualClock>, tables: &TableNames) -> Ground {
    static SEED: AtomicU64 = AtomicU64::new(0);
    let mut seed = [3; 32];
    seed[..8].copy_from_slice(&SEED.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    let parts = Parts {
        store: Store::shared(backend),
        clock: clock.clone(),
        ids: Ids::new(clock.clone(), seed),
        chance: Chance::seeded([8; 32]),
        settings: Settings { tables: tables.clone(), ..Town::settings() },
        fingerprint_key: [9; 32],
    };
    Ground::open(parts).await.unwrap()
}

/// An engine whose log is in memory.
pub(crate) fn open(
    clock: &Arc<ManualClock>,
    tree: &std::path::Path,
    disk: SimulatedDisk,
) -> Engine {
    let long = Duration::from_hours(24 * 365);
    let options = Options {
        clock: clock.clone(),
        memtable_bytes: 64 << 10,
        segment_bytes: 256 << 10,
        retention: long,
        upkeep_interval: long,
        sync_tree: false,
        disk: Some(Arc::new(disk)),
        ..Options::default()
    };
    Engine::open(tree, options).unwrap()
}

/// The address of the one server of this process, started on first use.
fn address() -> &'static str {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    ADDRESS.get_or_init(|| {
        let (send, receive) = std::sync::mpsc::channel();
        // Tests come and go with runtimes of their own; the server must outlive them.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                send.send(listener.local_addr().unwrap()).unwrap();
                let database = dynoxide::Database::memory().unwrap();
                dynoxide::server::serve_on(listener, database).await;
            });
        });
        format!("http://{}", receive.recv().unwrap())
    })
}
