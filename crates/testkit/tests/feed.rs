//! Home feeds are exact (I7, I13): over random histories, every page at every door, under every policy,
//! whatever is copied, trimmed, parked, remembered or forgotten, is the page that looking at the whole
//! table gives.
//!
//! `ROUNDTABLE_FEED_HISTORIES=2000 cargo test --release -p roundtable-testkit --test feed` for many;
//! `ROUNDTABLE_FEED_SEED=7` for others.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "feed/acting.rs"]
mod acting;
#[path = "feed/cast.rs"]
mod cast;
#[path = "feed/deeds.rs"]
mod deeds;
#[path = "feed/definition.rs"]
mod definition;
#[path = "feed/eyes.rs"]
mod eyes;
#[path = "feed/hearing.rs"]
mod hearing;
#[path = "feed/making.rs"]
mod making;
#[path = "feed/mishaps.rs"]
mod mishaps;
#[path = "feed/oracle.rs"]
mod oracle;
#[path = "feed/pages.rs"]
mod pages;
#[path = "feed/place.rs"]
mod place;
#[path = "feed/reading.rs"]
mod reading;
#[path = "feed/scenes.rs"]
mod scenes;
#[path = "feed/served.rs"]
mod served;
#[path = "feed/shorter.rs"]
mod shorter;
#[path = "feed/stage.rs"]
mod stage;
#[path = "feed/stalling.rs"]
mod stalling;
#[path = "feed/step.rs"]
mod step;
#[path = "feed/tally.rs"]
mod tally;
#[path = "feed/telling.rs"]
mod telling;

use std::cell::Cell;
use std::iter::StepBy;
use std::ops::{Range, RangeInclusive};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

use futures::FutureExt;
use place::{Kind, Place};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use reading::Mismatch;
use roundtable_conformance::Reference;
use roundtable_domain::TableNames;
use roundtable_dynamo::{Config as Connection, Dynamo};
use roundtable_engine::{Engine, Options};
use shorter::shortest;
use stage::Stage;
use step::History;
use tally::Tally;
use tokio::runtime::Runtime;

/// Histories of a run, unless told otherwise.
const HISTORIES: u32 = 200;
/// As many as are run by hand: then everything is looked at that can be.
const HISTORIES_THOROUGH: u32 = 1_000;
/// Of so many of them, one is lived through where it takes longer.
const PER_SHARED: u32 = 4;
const PER_ENGINE: u32 = 5;
const PER_SERVER: u32 = 20;

/// Bytes of a stack on which histories are lived.
const STACK_BYTES: usize = 32 << 20;

fn told(variable: &str) -> Option<u32> {
    std::env::var(variable).ok()?.parse().ok()
}

fn histories() -> u32 {
    told("ROUNDTABLE_FEED_HISTORIES").unwrap_or(HISTORIES)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// What is lived through.
struct Ages {
    histories: u32,
    /// Steps of each history.
    steps: RangeInclusive<usize>,
    /// Tries at making a failing one shorter, before its pieces are left out one by one.
    tries: u32,
    seed: u8,
}

impl Ages {
    fn of(histories: u32, seed: u8) -> Self {
        Self { histories, steps: 30..=70, tries: 300, seed }
    }
}

/// Lives through histories, each on a place of its own; what became of them, or the story of one that
/// went wrong, as short as it gets.
fn live_through(ages: Ages, place: impl Fn() -> Place) -> Result<Tally, String> {
    let Ages { histories, steps, tries, seed } = ages;
    let config = Config {
        cases: histories,
        failure_persistence: None,
        max_shrink_iters: tries,
        ..Config::default()
    };
    let other = told("ROUNDTABLE_FEED_SEED").unwrap_or(0).to_le_bytes();
    let seeds: Vec<u8> = [[seed; 4], other].concat().repeat(4);
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seeds);
    let (runtime, all) = (runtime(), Cell::new(Tally::default()));
    let lived = TestRunner::new_with_rng(config, random).run(&making::history(steps), |history| {
        let (lived, tally) = runtime.block_on(live(place(), &history));
        all.set(all.get() + tally);
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

/// All of them went well; what became of them.
fn well(lived: Result<Tally, String>) -> Tally {
    lived.unwrap_or_else(|story| panic!("{story}"))
}

/// Lives through a history, at the end of which everybody reads everything.
async fn live(place: Place, history: &History) -> (Result<(), Mismatch>, Tally) {
    let mut stage = Stage::set(place, &history.opening).await;
    let living = async {
        stage.live(history).await?;
        stage.compare_all().await
    };
    let lived = AssertUnwindSafe(living).catch_unwind().await;
    let lived = lived.unwrap_or_else(|panic| Err(stage.panicked(&*panic)));
    (lived, stage.tally)
}

/// Lives with room: the futures of histories are large, and threads of tests have little.
fn with_room<T: Send + 'static>(live: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(live).unwrap()
}

/// What became of what was lived with room.
fn joined<T>(lived: JoinHandle<T>) -> T {
    lived.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Places in memory, each with the same people in it.
fn memory(kind: Kind) -> impl Fn() -> Place {
    let clock = place::clock();
    let first = Arc::new(Reference::new(clock.clone()));
    let place = Place::populated(first.clone(), TableNames::default(), clock);
    let is_thorough = histories() >= HISTORIES_THOROUGH;
    let place = Place { kind, is_thorough, ..runtime().block_on(place) };
    move || place.held_by(Arc::new(first.fork()))
}

/// I7, I13, R13, R14, R25, R35, R36, R40
#[test]
fn feeds_are_exact_whatever_happens() {
    // On both cores: each does half of it.
    let half = histories().div_ceil(2);
    let [one, other] = [1, 2]
        .map(|seed| with_room(move || well(live_through(Ages::of(half, seed), memory(Kind::Own)))));
    let tally = joined(one) + joined(other);
    if histories() >= HISTORIES {
        tally.is_worth_it();
    }
}

/// The same where processes hear of each other by the stream, and trust no index.
#[test]
fn feeds_are_exact_where_other_processes_write_as_well() {
    let histories = histories().div_ceil(PER_SHARED);
    joined(with_room(move || {
        well(live_through(Ages::of(histories, 3), memory(Kind::Shared)));
    }));
}

/// Plays a scene at every moment, or every few, that things can come in between.
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

/// R35, R40: whenever the worker comes while somebody reads, stops, dies or is refused, and whoever
/// comes in between.
#[test]
fn feeds_are_exact_at_every_moment_of_fan_out() {
    play(scenes::worker_comes, (0..60).step_by(1));
    play(scenes::worker_stalls, (0..400).step_by(3));
    play(scenes::worker_dies, (0..30).step_by(1));
    play(scenes::worker_gives_up, (0..30).step_by(1));
}

/// I7, I9: what changes while it is being read into memory is remembered as it has become.
#[test]
fn feeds_are_exact_at_every_moment_of_remembering() {
    play(scenes::others_read_first, (0..60).step_by(1));
    play(scenes::others_read_while_it_warms_up, (0..12).step_by(1));
}

/// A store that loses copies is found out, and the story of it is a short one: what is proven here is
/// not proven by looking away.
#[test]
fn lost_copies_are_noticed() {
    let ages = Ages { steps: 10..=30, tries: 20, ..Ages::of(HISTORIES, 6) };
    let lived = joined(with_room(move || live_through(ages, memory(Kind::Lossy))));
    let story = lived.unwrap_err();
    assert!(story.contains("should be") && story.contains("but was"), "{story}");
    assert!(story.trim().lines().count() <= 20, "{story}");
}

/// The same on the embedded engine.
#[test]
fn feeds_are_exact_on_the_engine() {
    let ages = Ages::of(histories().div_ceil(PER_ENGINE), 4);
    joined(with_room(move || {
        let (directory, number) = (tempfile::tempdir().unwrap(), AtomicU32::new(0));
        let runtime = runtime();
        well(live_through(ages, || {
            let clock = place::clock();
            let number = number.fetch_add(1, Ordering::Relaxed).to_string();
            let segment_bytes = 1 << 20;
            let options = Options { clock: clock.clone(), segment_bytes, ..Options::default() };
            let engine = Engine::open(directory.path().join(number), options).unwrap();
            let engine = Arc::new(engine);
            let place = Place::populated(engine.clone(), TableNames::default(), clock);
            runtime.block_on(place).held_by(engine)
        }));
    }));
}

/// The same on DynamoDB's API.
#[test]
fn feeds_are_exact_over_the_network() {
    let ages = Ages { steps: 10..=30, ..Ages::of(histories().div_ceil(PER_SERVER), 5) };
    joined(with_room(move || {
        let clock = place::clock();
        let connection = Connection::local(served::serve(&clock)).clock(clock.clone());
        let (number, runtime) = (AtomicU32::new(0), runtime());
        well(live_through(ages, || {
            let number = number.fetch_add(1, Ordering::Relaxed);
            let [core, logins, ops] =
                ["core", "logins", "ops"].map(|table| format!("history_{number}_{table}"));
            let tables = TableNames { core, logins, ops };
            clock.set_ms(place::BEGIN_MS);
            let backend = Arc::new(Dynamo::connect(connection.clone()));
            let place = Place::populated(backend.clone(), tables, clock.clone());
            runtime.block_on(place).held_by(backend)
        }));
    }));
}
