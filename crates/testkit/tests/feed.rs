//! Home feeds are exact (I7, I13): in random histories, every page of every server under every
//! policy equals the page computed from the whole table, no matter what is copied, trimmed,
//! dead-lettered, cached or evicted.
//!
//! `ROUNDTABLE_FEED_HISTORIES=2000 cargo test --release -p roundtable-testkit --test feed` for many;
//! `ROUNDTABLE_FEED_SEED=7` for others.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "feed/actions.rs"]
mod actions;
#[path = "feed/cast.rs"]
mod cast;
#[path = "feed/definition.rs"]
mod definition;
#[path = "feed/dynamo_server.rs"]
mod dynamo_server;
#[path = "feed/faulty_backend.rs"]
mod faulty_backend;
#[path = "feed/generators.rs"]
mod generators;
#[path = "feed/oracle.rs"]
mod oracle;
#[path = "feed/pages.rs"]
mod pages;
#[path = "feed/populated_store.rs"]
mod populated_store;
#[path = "feed/reading.rs"]
mod reading;
#[path = "feed/run.rs"]
mod run;
#[path = "feed/scenarios.rs"]
mod scenarios;
#[path = "feed/shrink.rs"]
mod shrink;
#[path = "feed/stage.rs"]
mod stage;
#[path = "feed/stalled.rs"]
mod stalled;
#[path = "feed/stats.rs"]
mod stats;
#[path = "feed/step.rs"]
mod step;
#[path = "feed/story.rs"]
mod story;
#[path = "feed/stream_reader.rs"]
mod stream_reader;
#[path = "feed/viewer.rs"]
mod viewer;

use std::cell::Cell;
use std::iter::StepBy;
use std::ops::{Range, RangeInclusive};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

use futures::FutureExt;
use populated_store::{Kind, PopulatedStore};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use reading::Mismatch;
use roundtable_conformance::Reference;
use roundtable_domain::TableNames;
use roundtable_dynamo::{Config as Connection, Dynamo};
use roundtable_engine::{Engine, Options};
use shrink::shortest;
use stage::Stage;
use stats::HistoryStats;
use step::History;
use tokio::runtime::Runtime;

/// The default number of histories.
const HISTORIES: u32 = 200;
/// From this number on, as in manual runs, everything is compared.
const HISTORIES_THOROUGH: u32 = 1_000;
/// One in this many histories runs on a slower store.
const PER_SHARED: u32 = 4;
const PER_ENGINE: u32 = 5;
const PER_SERVER: u32 = 20;

/// Stack size of the threads that run histories.
const STACK_BYTES: usize = 32 << 20;

fn env_number(variable: &str) -> Option<u32> {
    std::env::var(variable).ok()?.parse().ok()
}

fn histories() -> u32 {
    env_number("ROUNDTABLE_FEED_HISTORIES").unwrap_or(HISTORIES)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// The histories of a run.
struct RunPlan {
    histories: u32,
    steps: RangeInclusive<usize>,
    /// Attempts of proptest to shrink a failing history, before its steps are removed one by one.
    tries: u32,
    seed: u8,
}

impl RunPlan {
    fn of(histories: u32, seed: u8) -> Self {
        Self { histories, steps: 30..=70, tries: 300, seed }
    }
}

/// Runs histories, each on its own store; returns their statistics, or the shortest story of a
/// failing one.
fn run_histories(
    plan: RunPlan,
    place: impl Fn() -> PopulatedStore,
) -> Result<HistoryStats, String> {
    let RunPlan { histories, steps, tries, seed } = plan;
    let config = Config {
        cases: histories,
        failure_persistence: None,
        max_shrink_iters: tries,
        ..Config::default()
    };
    let other = env_number("ROUNDTABLE_FEED_SEED").unwrap_or(0).to_le_bytes();
    let seeds: Vec<u8> = [[seed; 4], other].concat().repeat(4);
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seeds);
    let (runtime, all) = (runtime(), Cell::new(HistoryStats::default()));
    let lived =
        TestRunner::new_with_rng(config, random).run(&generators::history(steps), |history| {
            let (lived, stats) = runtime.block_on(live(place(), &history));
            all.set(all.get() + stats);
            lived.map_err(|mismatch| TestCaseError::fail(mismatch.0))
        });
    match lived {
        Ok(()) => Ok(all.get()),
        Err(TestError::Fail(story, history)) => {
            let fails = |history: &History| runtime.block_on(live(place(), history)).0.err();
            Err(shortest(&history, fails).map_or(story.to_string(), |mismatch| mismatch.0))
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

fn expect_ok(lived: Result<HistoryStats, String>) -> HistoryStats {
    lived.unwrap_or_else(|story| panic!("{story}"))
}

/// Runs a history; at its end all users read everything.
async fn live(place: PopulatedStore, history: &History) -> (Result<(), Mismatch>, HistoryStats) {
    let mut stage = Stage::set(place, &history.opening).await;
    let living = async {
        stage.live(history).await?;
        stage.compare_all().await
    };
    let lived = AssertUnwindSafe(living).catch_unwind().await;
    let lived = lived.unwrap_or_else(|panic| Err(stage.panicked(&*panic)));
    (lived, stage.stats)
}

/// Runs on a large stack: the futures of histories are large, and threads of tests have little
/// room.
fn with_room<T: Send + 'static>(live: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(live).unwrap()
}

fn joined<T>(lived: JoinHandle<T>) -> T {
    lived.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Stores in memory, each with the same users.
fn memory(kind: Kind) -> impl Fn() -> PopulatedStore {
    let clock = populated_store::clock();
    let first = Arc::new(Reference::new(clock.clone()));
    let place = PopulatedStore::populated(first.clone(), TableNames::default(), clock);
    let is_thorough = histories() >= HISTORIES_THOROUGH;
    let place = PopulatedStore { kind, is_thorough, ..runtime().block_on(place) };
    move || place.held_by(Arc::new(first.fork()))
}

#[test]
fn feeds_are_exact_in_random_histories() {
    // On two threads, half of the histories each.
    let half = histories().div_ceil(2);
    let [one, other] = [1, 2].map(|seed| {
        with_room(move || expect_ok(run_histories(RunPlan::of(half, seed), memory(Kind::Own))))
    });
    let stats = joined(one) + joined(other);
    if histories() >= HISTORIES {
        stats.assert_worthwhile();
    }
}

/// Processes learn of each other's writes by the stream, and trust no index.
#[test]
fn feeds_are_exact_where_other_processes_write_as_well() {
    let histories = histories().div_ceil(PER_SHARED);
    joined(with_room(move || {
        expect_ok(run_histories(RunPlan::of(histories, 3), memory(Kind::Shared)));
    }));
}

/// Plays a scenario at every await point, or every few.
fn play(scene: fn(usize) -> History, moments: StepBy<Range<usize>>) {
    joined(with_room(move || {
        let (place, runtime) = (memory(Kind::Own), runtime());
        for moment in moments {
            let scene = scene(moment);
            let lived = runtime
                .block_on(async { Stage::set(place(), &scene.opening).await.live(&scene).await });
            lived.unwrap_or_else(|mismatch| panic!("{}", mismatch.0));
        }
    }));
}

/// The worker runs at any point of a read, and stops, dies or fails at any point (R35, R40).
#[test]
fn feeds_are_exact_at_every_moment_of_fan_out() {
    play(scenarios::worker_comes, (0..60).step_by(1));
    play(scenarios::worker_stalls, (0..400).step_by(3));
    play(scenarios::worker_dies, (0..30).step_by(1));
    play(scenarios::worker_gives_up, (0..30).step_by(1));
}

/// Changes made while a feed is cached end up in the cache (I7, I9).
#[test]
fn feeds_are_exact_at_every_moment_of_caching() {
    play(scenarios::others_read_first, (0..60).step_by(1));
    play(scenarios::others_read_while_it_warms_up, (0..12).step_by(1));
}

/// The comparison works: it catches a store that loses copies, with a short story.
#[test]
fn lost_copies_are_noticed() {
    let plan = RunPlan { steps: 10..=30, tries: 20, ..RunPlan::of(HISTORIES, 6) };
    let lived = joined(with_room(move || run_histories(plan, memory(Kind::Lossy))));
    let story = lived.unwrap_err();
    assert!(story.contains("should be") && story.contains("but was"), "{story}");
    assert!(story.trim().lines().count() <= 20, "{story}");
}

#[test]
fn feeds_are_exact_on_the_engine() {
    let plan = RunPlan::of(histories().div_ceil(PER_ENGINE), 4);
    joined(with_room(move || {
        let (directory, number) = (tempfile::tempdir().unwrap(), AtomicU32::new(0));
        let runtime = runtime();
        expect_ok(run_histories(plan, || {
            let clock = populated_store::clock();
            let number = number.fetch_add(1, Ordering::Relaxed).to_string();
            let segment_bytes = 1 << 20;
            let options = Options { clock: clock.clone(), segment_bytes, ..Options::default() };
            let engine = Engine::open(directory.path().join(number), options).unwrap();
            let engine = Arc::new(engine);
            let place = PopulatedStore::populated(engine.clone(), TableNames::default(), clock);
            runtime.block_on(place).held_by(engine)
        }));
    }));
}

#[test]
fn feeds_are_exact_over_the_network() {
    let plan = RunPlan { steps: 10..=30, ..RunPlan::of(histories().div_ceil(PER_SERVER), 5) };
    joined(with_room(move || {
        let clock = populated_store::clock();
        let connection = Connection::local(dynamo_server::serve(&clock)).clock(clock.clone());
        let (number, runtime) = (AtomicU32::new(0), runtime());
        expect_ok(run_histories(plan, || {
            let number = number.fetch_add(1, Ordering::Relaxed);
            let [core, logins, ops] =
                ["core", "logins", "ops"].map(|table| format!("history_{number}_{table}"));
            let tables = TableNames { core, logins, ops };
            clock.set_ms(populated_store::BEGIN_MS);
            let backend = Arc::new(Dynamo::connect(connection.clone()));
            let place = PopulatedStore::populated(backend.clone(), tables, clock.clone());
            runtime.block_on(place).held_by(backend)
        }));
    }));
}
