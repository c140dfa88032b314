//! A storm: dozens of people doing everything at once, at random, again under the same request, while
//! the stream stutters and its readers die, and the store is restarted in the middle. Then nothing is
//! wrong (I1 to I6), and a naive model of the town agrees with what is there.
//!
//! `ROUNDTABLE_STORM_STEPS=1000 cargo test --release -p roundtable-testkit --test storm` for a long one.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

#[path = "storm/agree.rs"]
mod agree;
#[path = "storm/cast.rs"]
mod cast;
#[path = "storm/deck.rs"]
mod deck;
#[path = "storm/heard.rs"]
mod heard;
#[path = "storm/life.rs"]
mod life;
#[path = "storm/model.rs"]
mod model;
#[path = "storm/person.rs"]
mod person;
#[path = "storm/processes.rs"]
mod processes;
#[path = "storm/pursuing.rs"]
mod pursuing;
#[path = "storm/reached.rs"]
mod reached;
#[path = "storm/recall.rs"]
mod recall;
#[path = "storm/remember.rs"]
mod remember;
#[path = "storm/told.rs"]
mod told;
#[path = "storm/traded.rs"]
mod traded;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cast::{ALL_OVER_MS, acts_min, live, look_around, populate, steps};
use model::Naive;
use processes::Place;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_conformance::Reference;
use roundtable_domain::TableNames;
use roundtable_dynamo::Config;
use roundtable_engine::{Engine, Options};
use roundtable_model::table::{Clock, ManualClock, SharedBackend, Store};
use roundtable_streams::{Runner, Setup};
use roundtable_testkit::{Shelf, Stuttering, Town, stop_at};

/// What each of the people does: thousands of acts together.
const STEPS: usize = 100;
const _: () = assert!(acts_min(STEPS) >= 2_000);
/// The same over the network, in which every step is many requests.
const STEPS_SERVED: usize = 12;
/// Parts of a storm in one process, between which it is restarted.
const PARTS: u8 = 3;
/// After so long every request that was under way has ended, and the purge looks again.
const SETTLED_MS: u64 = 61_000;

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_ms(1_737_991_800_000))
}

/// Everybody acts at the same time, while readers of the stream come and go.
async fn blow(town: Arc<Town>, names: &[String], naive: &Arc<Naive>, steps: usize, part: u64) {
    let over = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn(read_and_die(town.clone(), over.clone(), part));
    live(&[town], names, naive, steps, part).await;
    over.store(true, Ordering::SeqCst);
    reader.await.unwrap();
}

/// Reads the stream, dies somewhere, and is started again.
async fn read_and_die(town: Arc<Town>, over: Arc<AtomicBool>, seed: u64) {
    let mut random = SmallRng::seed_from_u64(seed);
    while !over.load(Ordering::SeqCst) {
        let life = random.random_range(1..400);
        let _ = stop_at(life, async { runner(&town).drain().await }).await;
        tokio::task::yield_now().await;
    }
}

/// As a server has it: what is left of an account is taken away when no request is under way any more
/// that was when it was deleted.
fn runner(town: &Town) -> Runner {
    Setup::everything(town.ground(), [0; 32]).storing(town.shelf().clone()).at_once().build()
}

async fn storm(
    backends: impl AsyncFn(u8) -> SharedBackend,
    sweep: impl Fn(),
    clock: Arc<ManualClock>,
    steps: usize,
) {
    let (naive, shelf) = (Arc::new(Naive::default()), Arc::<Shelf>::default());
    let mut names = Vec::new();
    for process in 0..PARTS {
        let backend = backends(process).await;
        let stutters: SharedBackend = Arc::new(Stuttering::new(backend.clone(), process.into()));
        let town =
            Town::on(Store::shared(stutters), clock.clone(), Town::settings(), process).await;
        let town = town.sharing(shelf.clone());
        if process == 0 {
            names = populate(&town).await;
        }
        let town = Arc::new(town);
        blow(town, &names, &naive, steps / usize::from(PARTS), process.into()).await;
        clock.advance_ms(SETTLED_MS);
        if process + 1 == PARTS {
            let store = Store::shared(backend);
            let calm = Town::on(store, clock.clone(), Town::settings(), process + 1).await;
            let calm = calm.sharing(shelf.clone());
            // What nobody came back for is over then, and its bytes are looked for twice.
            for wait_ms in [SETTLED_MS, SETTLED_MS, ALL_OVER_MS, SETTLED_MS, SETTLED_MS] {
                runner(&calm).drain().await.unwrap();
                clock.advance_ms(wait_ms);
                sweep();
            }
            runner(&calm).drain().await.unwrap();
            look_around(&calm, &naive, steps / usize::from(PARTS) * usize::from(PARTS)).await;
        }
    }
}

/// I1 to I6, I8, R32, R33
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_in_memory() {
    let clock = clock();
    let reference = Arc::new(Reference::new(clock.clone()));
    let backend = async |_| reference.clone() as SharedBackend;
    storm(backend, || _ = reference.sweep(), clock, steps(STEPS)).await;
}

/// The same on the embedded engine, left as by a crash between its three parts.
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

/// The same on DynamoDB's API, over processes that share the stream by leases.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_over_processes_that_share_a_stream() {
    let clock = clock();
    let config = Config::local(serve(&clock));
    let tables = TableNames::default();
    let shelf = Arc::default();
    processes::storm(Place { config, clock, tables, shelf }, steps(STEPS_SERVED)).await;
}

/// The address of a server in this process, which lives by this clock.
fn serve(clock: &Arc<ManualClock>) -> String {
    let (send, receive) = std::sync::mpsc::channel();
    let time = Arc::new(ServerTime(clock.clone()));
    // Beside the runtime of the storm, so that its people do not keep it waiting.
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

/// The storm's clock as the server reads it.
struct ServerTime(Arc<ManualClock>);

impl dynoxide::storage_backend::Clock for ServerTime {
    fn now_unix_secs(&self) -> u64 {
        self.0.now_seconds()
    }

    fn now_unix_secs_f64(&self) -> f64 {
        std::time::Duration::from_millis(self.0.now_ms()).as_secs_f64()
    }
}
