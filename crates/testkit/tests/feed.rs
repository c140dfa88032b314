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
#[path = "feed/reading.rs"]
mod reading;
#[path = "feed/served.rs"]
mod served;
#[path = "feed/shorter.rs"]
mod shorter;
#[path = "feed/stage.rs"]
mod stage;
#[path = "feed/step.rs"]
mod step;
#[path = "feed/telling.rs"]
mod telling;

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use reading::Mismatch;
use roundtable_conformance::Reference;
use roundtable_domain::TableNames;
use roundtable_dynamo::{Config as Connection, Dynamo};
use roundtable_engine::{Engine, Options};
use shorter::shortest;
use stage::{Kind, Place, Stage, Tally};
use step::History;
use tokio::runtime::Runtime;

/// Histories of a run, unless told otherwise.
const HISTORIES: u32 = 200;
/// Of so many of them, one is lived through where it takes longer.
const PER_SHARED: u32 = 4;
const PER_ENGINE: u32 = 10;
const PER_SERVER: u32 = 20;

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
    /// Tries at making a failing one shorter, before its pieces are left out one by one; none leave it
    /// as it is.
    tries: u32,
    seed: u8,
}

impl Ages {
    fn of(histories: u32, seed: u8) -> Self {
        Self { histories, steps: 30..=70, tries: 2_000, seed }
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
        Err(TestError::Fail(story, _)) if tries == 0 => Err(story.to_string()),
        Err(TestError::Fail(story, history)) => {
            let fails = |history: &History| runtime.block_on(live(place(), history)).0.err();
            Err(shortest(history, fails).map_or(story.to_string(), |mismatch| mismatch.0))
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

/// All of them went well; what became of them.
fn well(lived: Result<Tally, String>) -> Tally {
    lived.unwrap_or_else(|story| panic!("{story}"))
}

async fn live(place: Place, history: &History) -> (Result<(), Mismatch>, Tally) {
    let mut stage = Stage::set(place, &history.opening).await;
    let lived = stage.live(history).await;
    (lived, stage.tally)
}

fn in_memory(ages: Ages, kind: Kind) -> Result<Tally, String> {
    let clock = stage::clock();
    let first = Arc::new(Reference::new(clock.clone()));
    let place = Place::populated(first.clone(), TableNames::default(), clock);
    let place = Place { kind, ..runtime().block_on(place) };
    live_through(ages, || place.held_by(Arc::new(first.fork())))
}

/// I7, I13, R13, R14, R25, R35, R36, R40
#[test]
fn feeds_are_exact_whatever_happens() {
    // On both cores: each does half of it.
    let half = histories().div_ceil(2);
    let tally = std::thread::scope(|scope| {
        let other = scope.spawn(|| in_memory(Ages::of(half, 2), Kind::Own));
        let tally = well(in_memory(Ages::of(half, 1), Kind::Own));
        tally + well(other.join().unwrap())
    });
    if histories() >= HISTORIES {
        tally.is_worth_it();
    }
}

/// The same where processes hear of each other by the stream, and trust no index.
#[test]
fn feeds_are_exact_where_other_processes_write_as_well() {
    let histories = histories().div_ceil(PER_SHARED);
    well(in_memory(Ages::of(histories, 3), Kind::Shared));
}

/// A store that loses copies is found out: what is proven here is not proven by looking away.
#[test]
fn lost_copies_are_noticed() {
    let ages = Ages { tries: 0, ..Ages::of(HISTORIES, 6) };
    let story = in_memory(ages, Kind::Lossy).unwrap_err();
    assert!(story.contains("should be") && story.contains("but was"), "{story}");
}

/// The same on the embedded engine.
#[test]
fn feeds_are_exact_on_the_engine() {
    let directory = tempfile::tempdir().unwrap();
    let number = AtomicU32::new(0);
    let runtime = runtime();
    let lived = live_through(Ages::of(histories().div_ceil(PER_ENGINE), 4), || {
        let clock = stage::clock();
        let place = directory.path().join(number.fetch_add(1, Ordering::Relaxed).to_string());
        let segment_bytes = 1 << 20;
        let options = Options { clock: clock.clone(), segment_bytes, ..Options::default() };
        let engine = Arc::new(Engine::open(&place, options).unwrap());
        let populated = Place::populated(engine.clone(), TableNames::default(), clock);
        runtime.block_on(populated).held_by(engine)
    });
    well(lived);
}

/// The same on DynamoDB's API.
#[test]
fn feeds_are_exact_over_the_network() {
    let clock = stage::clock();
    let connection = Connection::local(served::serve(&clock)).clock(clock.clone());
    let number = AtomicU32::new(0);
    let runtime = runtime();
    let ages = Ages { steps: 10..=30, ..Ages::of(histories().div_ceil(PER_SERVER), 5) };
    let lived = live_through(ages, || {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let named = |table: &str| format!("history_{number}_{table}");
        let tables = TableNames { core: named("core"), logins: named("logins"), ops: named("ops") };
        clock.set_ms(stage::BEGIN_MS);
        let backend = Arc::new(Dynamo::connect(connection.clone()));
        let populated = Place::populated(backend.clone(), tables, clock.clone());
        Place { is_slow: true, ..runtime.block_on(populated).held_by(backend) }
    });
    well(lived);
}
