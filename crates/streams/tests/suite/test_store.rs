//! Stores for the tests: in memory, embedded, and a server with DynamoDB's API.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use roundtable_conformance::Reference;
use roundtable_domain::{Context, ContextParts, Entropy, Settings, TableNames};
use roundtable_dynamo::{Config, Dynamo};
use roundtable_engine::{Engine, Options, SimulatedDisk};
use roundtable_model::IdGenerator;
use roundtable_model::table::{Backend, ManualClock, SharedBackend, Store};
use roundtable_streams::{
    CounterUpdater, FanOut, FollowerShardScaler, PrivacyUpdater, PromotionUpdater, Purge,
    RetrySettings, Runner, ScoreUpdater,
};
use roundtable_testkit::{SplitStreamBackend, Town, YieldingBackend};

/// The start of every test: a Monday in January 2025.
pub(crate) const BEGIN_MS: u64 = 1_737_991_800_000;
/// Attempts before a change or job is parked.
pub(crate) const ATTEMPTS_MAX: u32 = 3;

/// A store and the context on it.
pub(crate) struct TestStore {
    pub(crate) backend: SharedBackend,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) context: Context,
    tables: TableNames,
    guards: Vec<Box<dyn Any + Send + Sync>>,
}

impl TestStore {
    pub(crate) async fn reference() -> Self {
        let clock = clock();
        Self::on(Arc::new(Reference::new(clock.clone())), clock).await
    }

    /// In memory, with a stream of several shards, as if other processes were running: nothing
    /// commits together with its checkpoint.
    pub(crate) async fn split() -> (Self, Arc<SplitStreamBackend>) {
        let clock = clock();
        let split = Arc::new(SplitStreamBackend::new(Arc::new(Reference::new(clock.clone()))));
        (Self::on(split.clone(), clock).await, split)
    }

    /// Embedded, with a log in memory.
    pub(crate) async fn engine() -> Self {
        let (clock, directory) = (clock(), tempfile::tempdir().unwrap());
        let engine = open(&clock, directory.path(), SimulatedDisk::new());
        let mut store = Self::on(Arc::new(engine), clock).await;
        store.guards.push(Box::new(directory));
        store
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
        let context = context(Arc::clone(&backend), &clock, &tables).await;
        Self { backend, clock, context, tables, guards: Vec::new() }
    }

    /// Opens an existing store again.
    pub(crate) async fn reopened(
        backend: SharedBackend,
        clock: Arc<ManualClock>,
        tables: &TableNames,
    ) -> Self {
        let context = context(Arc::clone(&backend), &clock, tables).await;
        Self { backend, clock, context, tables: tables.clone(), guards: Vec::new() }
    }

    pub(crate) const fn tables(&self) -> &TableNames {
        &self.tables
    }

    /// The same store through another backend that fails, waits or repeats itself.
    pub(crate) async fn through(&self, backend: impl Backend) -> Context {
        context(Arc::new(backend), &self.clock, &self.tables).await
    }

    /// The same store, which yields at every operation.
    pub(crate) async fn slow(&self) -> Context {
        self.through(YieldingBackend::shared(Arc::clone(&self.backend))).await
    }

    pub(crate) fn runner(&self) -> Runner {
        runner(&self.context)
    }
}

/// A runner without delays for counters, scores, feeds and purges. Notifications and quests have
/// tests of their own: these tests stop at every step.
pub(crate) fn runner(context: &Context) -> Runner {
    let (fan_out, purge) =
        (FanOut::new(context.clone()), Purge::new(context.clone()).without_delays());
    Runner::builder(context.clone(), [0; 32])
        .with(CounterUpdater::new(context.clone()))
        .with(ScoreUpdater::new(context.clone()))
        .with(PrivacyUpdater::new(context.clone()))
        .with_job_handler(PrivacyUpdater::new(context.clone()))
        .with(FollowerShardScaler::new(context.clone()))
        .with(PromotionUpdater::new(context.clone()))
        .with(fan_out.clone())
        .with_job_handler(fan_out)
        .with(purge.clone())
        .with_job_handler(purge)
        .without_delays()
        .with_retries(retries())
        .build()
}

pub(crate) fn retries() -> RetrySettings {
    RetrySettings { attempts_max: ATTEMPTS_MAX, backoff: roundtable_streams::Backoff::none() }
}

pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_ms(BEGIN_MS))
}

async fn context(backend: SharedBackend, clock: &Arc<ManualClock>, tables: &TableNames) -> Context {
    static SEED: AtomicU64 = AtomicU64::new(0);
    let mut seed = [3; 32];
    seed[..8].copy_from_slice(&SEED.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    let parts = ContextParts {
        store: Store::shared(backend),
        clock: clock.clone(),
        ids: IdGenerator::new(clock.clone(), seed),
        entropy: Entropy::seeded([8; 32]),
        settings: Settings { tables: tables.clone(), ..Town::settings() },
        fingerprint_key: [9; 32],
    };
    Context::open(parts).await.unwrap()
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

/// The address of the server shared by all tests, started on first use.
fn address() -> &'static str {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    ADDRESS.get_or_init(|| {
        let (send, receive) = std::sync::mpsc::channel();
        // Each test has its own runtime; the server must outlive them.
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
