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
#[path = "feed/shorter.rs"]
mod shorter;
#[path = "feed/stage.rs"]
mod stage;
#[path = "feed/step.rs"]
mod step;
#[path = "feed/telling.rs"]
mod telling;

use std::cell::Cell;
use std::sync::Arc;

use proptest::test_runner::{
    Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner,
};
use roundtable_conformance::Reference;
use roundtable_domain::TableNames;
use reading::Mismatch;
use stage::{Place, Stage, Tally};
use shorter::shortest;
use step::History;
use tokio::runtime::Runtime;

/// Histories of a run, unless told otherwise.
const HISTORIES: u32 = 200;
/// Tries at making a failing history shorter.
const SHORTER_MAX: u32 = 4_000;

fn told(variable: &str) -> Option<u32> {
    std::env::var(variable).ok()?.parse().ok()
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Lives through so many histories, each on a place of its own; the shortest that goes wrong is told.
fn live_through(histories: u32, seed: u8, place: impl Fn() -> Place) -> Tally {
    let config = Config {
        cases: histories,
        failure_persistence: None,
        max_shrink_iters: SHORTER_MAX,
        ..Config::default()
    };
    let seed = seed.wrapping_add(u8::try_from(told("ROUNDTABLE_FEED_SEED").unwrap_or(0)).unwrap());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let (runtime, all) = (runtime(), Cell::new(Tally::default()));
    let lived = TestRunner::new_with_rng(config, random).run(&making::history(), |history| {
        let (lived, tally) = runtime.block_on(live(place(), &history));
        all.set(all.get() + tally);
        lived.map_err(|mismatch| TestCaseError::fail(mismatch.0))
    });
    match lived {
        Ok(()) => all.get(),
        Err(TestError::Fail(story, history)) => {
            let fails = |history: &History| runtime.block_on(live(place(), history)).0.err();
            let story = shortest(history, fails).map_or(story.to_string(), |mismatch| mismatch.0);
            panic!("{story}")
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

async fn live(place: Place, history: &History) -> (Result<(), Mismatch>, Tally) {
    let mut stage = Stage::set(place, &history.opening).await;
    let lived = stage.live(history).await;
    (lived, stage.tally)
}

fn in_memory(histories: u32, seed: u8) -> Tally {
    let clock = stage::clock();
    let first = Arc::new(Reference::new(clock.clone()));
    let place = Place::populated(first.clone(), TableNames::default(), clock);
    let place = runtime().block_on(place);
    live_through(histories, seed, || place.held_by(Arc::new(first.fork())))
}

/// I7, I13, R13, R14, R25, R40
#[test]
fn feeds_are_exact_in_memory() {
    let histories = told("ROUNDTABLE_FEED_HISTORIES").unwrap_or(HISTORIES);
    let tally = in_memory(histories, 1);
    eprintln!("{tally:?}");
}
