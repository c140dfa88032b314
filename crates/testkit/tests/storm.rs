//! A storm: dozens of users perform random actions concurrently and repeat requests, while the
//! stream stutters, its readers die, and the store is restarted in the middle. Afterwards no
//! invariant is violated (I1 to I6), and the store matches a naive model of the town.
//!
//! `ROUNDTABLE_STORM_STEPS=1000 cargo test --release -p roundtable-testkit --test storm` for a long one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "storm/check.rs"]
mod check;
#[path = "storm/processes.rs"]
mod processes;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use check::{check, steps};
use processes::StormStore;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_conformance::Reference;
use roundtable_domain::TableNames;
use roundtable_dynamo::Config;
use roundtable_engine::{Engine, Options};
use roundtable_model::table::{Clock, ManualClock, SharedBackend, Store};
use roundtable_streams::{Runner, RunnerBuilder};
use roundtable_testkit::storm::{
    ALL_OVER_MS, PEOPLE, SharedModel, StormPart, acts_min, live, populate,
};
use roundtable_testkit::{
    MemoryMediaStore, SplitStreamBackend, StutteringBackend, Town, YieldingBackend, stop_at,
};

/// Actions of each user: thousands together.
const STEPS: usize = 100;
const _: () = assert!(acts_min(STEPS) >= 2_000);
/// Fewer over the network, where every step is many requests.
const STEPS_SERVED: usize = 12;
const STEPS_UNRELIABLE: usize = 8;
/// Parts of a storm in one process, with a restart in between.
const PARTS: u8 = 3;
/// After this time every request in flight has ended, and the purge runs again.
const SETTLED_MS: u64 = 61_000;

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_ms(1_737_991_800_000))
}

/// All users act concurrently, while readers of the stream come and go.
async fn run_part(
    town: Arc<Town>,
    names: &[String],
    shared_model: &Arc<SharedModel>,
    steps: usize,
    part: u64,
) {
    let over = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn(read_and_die(town.clone(), over.clone(), part));
    let part = StormPart { steps, number: part, seed: 0, admin: None };
    live(&[town], names, shared_model, &part).await;
    over.store(true, Ordering::SeqCst);
    reader.await.unwrap();
}

/// Reads the stream, dies at a random point, and starts again.
async fn read_and_die(town: Arc<Town>, over: Arc<AtomicBool>, seed: u64) {
    let mut random = SmallRng::seed_from_u64(seed);
    while !over.load(Ordering::SeqCst) {
        let features = random.random_range(1..400);
        let _ = stop_at(features, async { runner(&town).drain().await }).await;
        tokio::task::yield_now().await;
    }
}

/// A runner as in a server: the purge of an account ends after all requests that were in flight at
/// its deletion.
fn runner(town: &Town) -> Runner {
    RunnerBuilder::with_all_processors(town.context(), [0; 32])
        .with_media_store(town.media_store().clone())
        .without_delays()
        .build()
}

async fn storm(
    backends: impl AsyncFn(u8) -> SharedBackend,
    sweep: impl Fn(),
    clock: Arc<ManualClock>,
    steps: usize,
) {
    let (shared_model, media_store) =
        (Arc::new(SharedModel::default()), Arc::<MemoryMediaStore>::default());
    let mut names = Vec::new();
    for process in 0..PARTS {
        let backend = backends(process).await;
        let stutters: SharedBackend =
            Arc::new(StutteringBackend::new(backend.clone(), process.into()));
        let town =
            Town::on(Store::shared(stutters), clock.clone(), Town::settings(), process).await;
        let town = town.with_media_store(media_store.clone());
        if process == 0 {
            names = populate(&town, PEOPLE).await;
        }
        let town = Arc::new(town);
        run_part(town, &names, &shared_model, steps / usize::from(PARTS), process.into()).await;
        clock.advance_ms(SETTLED_MS);
        if process + 1 == PARTS {
            let store = Store::shared(backend);
            let calm = Town::on(store, clock.clone(), Town::settings(), process + 1).await;
            let calm = calm.with_media_store(media_store.clone());
            // Abandoned uploads have expired then, and their bytes are purged twice.
            for wait_ms in [SETTLED_MS, SETTLED_MS, ALL_OVER_MS, SETTLED_MS, SETTLED_MS] {
                runner(&calm).drain().await.unwrap();
                clock.advance_ms(wait_ms);
                sweep();
            }
            runner(&calm).drain().await.unwrap();
            let steps = steps / usize::from(PARTS) * usize::from(PARTS);
            check(&calm, &shared_model, steps, true).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_in_memory() {
    let clock = clock();
    let reference = Arc::new(Reference::new(clock.clone()));
    let backend = async |_| reference.clone() as SharedBackend;
    storm(backend, || _ = reference.sweep(), clock, steps(STEPS)).await;
}

/// On a store that other processes may use: effects and checkpoints are written one after the other,
/// so that a reader that dies in between makes the next one process the same changes again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_over_a_shared_store_whose_readers_die() {
    let clock = clock();
    let reference = Arc::new(Reference::new(clock.clone()));
    let split = SplitStreamBackend::new(reference.clone());
    // It yields at every operation, so that a reader can die between any two.
    let backend = async |_| Arc::new(YieldingBackend::new(split.clone())) as SharedBackend;
    storm(backend, || _ = reference.sweep(), clock, steps(STEPS)).await;
}

/// On the embedded engine, which crashes between the three parts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_on_the_engine() {
    let clock = clock();
    let directory = tempfile::tempdir().unwrap();
    let last: parking_lot::Mutex<Option<Engine>> = parking_lot::Mutex::new(None);
    let backend = async |_| {
        if let Some(engine) = last.lock().take() {
            engine.abandon();
        }
        let options = Options { clock: clock.clone(), ..Options::default() };
        let engine = Engine::open(directory.path(), options).unwrap();
        *last.lock() = Some(engine.clone());
        Arc::new(engine) as SharedBackend
    };
    let sweep = || _ = last.lock().as_ref().unwrap().sweep().unwrap();
    storm(backend, sweep, clock.clone(), steps(STEPS)).await;
}

/// On DynamoDB's API, with processes that share the stream by leases.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_over_processes_that_share_a_stream() {
    let clock = clock();
    let config = Config::local(serve(&clock));
    let tables = TableNames::default();
    let media_store = Arc::default();
    let store = StormStore { config, clock, tables, media_store, unreliable_seed: None };
    processes::storm(store, steps(STEPS_SERVED)).await;
}

/// The same over a network that throttles and loses answers. A member of the campaign gives it seeds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn storms_over_processes_and_an_unreliable_network() {
    let variable = |name: &str| std::env::var(name).ok().map(|value| value.parse().unwrap());
    let first: u64 = variable("ROUNDTABLE_STORM_SEED").unwrap_or(1);
    for seed in first..first + variable("ROUNDTABLE_STORMS").unwrap_or(1) {
        println!("seed {seed}");
        let clock = clock();
        let config = Config::local(serve(&clock));
        let (tables, media_store) = (TableNames::default(), Arc::default());
        let store = StormStore { config, clock, tables, media_store, unreliable_seed: Some(seed) };
        processes::storm(store, STEPS_UNRELIABLE).await;
    }
}

/// Starts a server in this process with this clock, and returns its address.
fn serve(clock: &Arc<ManualClock>) -> String {
    let (send, receive) = std::sync::mpsc::channel();
    let time = Arc::new(ServerTime(clock.clone()));
    // In a separate runtime, so that the storm does not starve it.
    std::thread::spawn(move || {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        runtime.unwrap().block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            send.send(listener.local_addr().unwrap()).unwrap();
            let database = dynoxide::Database::memory_with_clock(time).unwrap();
            dynoxide::server::serve_on(listener, database).await;
        });
    });
    format!("http://{}", receive.recv().unwrap())
}

/// The storm's clock for the server.
struct ServerTime(Arc<ManualClock>);

impl dynoxide::storage_backend::Clock for ServerTime {
    fn now_unix_secs(&self) -> u64 {
        self.0.now_seconds()
    }

    fn now_unix_secs_f64(&self) -> f64 {
        std::time::Duration::from_millis(self.0.now_ms()).as_secs_f64()
    }
}
