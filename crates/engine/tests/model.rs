//! The engine against a reference model: random scripts of every operation, with checkpoints, restarts
//! and crashes in between; every response is compared.
//!
//! `ROUNDTABLE_MODEL_SEQUENCES=10000` is the full run, three minutes on two cores; the default is a
//! quarter of it. `ROUNDTABLE_MODEL_SEED` sets the first seed; one failing seed alone is
//! `ROUNDTABLE_MODEL_SEQUENCES=1 ROUNDTABLE_MODEL_SEED=n`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "model/clock.rs"]
mod clock;
#[path = "model/comparison.rs"]
mod comparison;
#[path = "model/flaws.rs"]
mod flaws;
#[path = "model/generator.rs"]
mod generator;
#[path = "model/pages.rs"]
mod pages;
#[path = "model/samples.rs"]
mod samples;
#[path = "model/script.rs"]
mod script;
#[path = "model/shrink.rs"]
mod shrink;
#[path = "model/streams.rs"]
mod streams;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use comparison::{Tally, run};
use flaws::Flaw;
use script::Script;

const SEQUENCES_BY_DEFAULT: u64 = 2_500;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

#[test]
fn the_engine_responds_as_the_model_does() {
    let first = setting("ROUNDTABLE_MODEL_SEED", 0);
    let count = setting("ROUNDTABLE_MODEL_SEQUENCES", SEQUENCES_BY_DEFAULT);
    let (next, total) = (AtomicU64::new(first), Mutex::new(Tally::default()));
    let work = || {
        let mut tally = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::SeqCst);
            if seed >= first + count {
                break;
            }
            let script = Script::of(seed);
            match run(&script, None) {
                Ok(met) => tally += met,
                Err(failure) => {
                    // Stops the other threads.
                    next.store(u64::MAX / 2, Ordering::SeqCst);
                    panic!("seed {seed}: {}", shrink::report(&script, failure, None));
                }
            }
        }
        *total.lock().unwrap() += tally;
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        (0..threads).for_each(|_| drop(scope.spawn(work)));
    });
    let met = total.into_inner().unwrap();
    if count >= 1000 {
        let count = usize::try_from(count).unwrap();
        assert!(met.steps > 20 * count && met.changes > 8 * count, "{met:?}");
        assert!(met.rows > 4 * count && met.refused > 2 * count, "{met:?}");
        assert!(met.expired > count / 4 && met.repeated > count / 20, "{met:?}");
        assert!(met.crashes > count / 4 && met.reopened > count / 8, "{met:?}");
        assert!(met.checkpoints > 4 * count as u64 && met.trimmed > 0, "{met:?}");
    }
}

#[test]
fn every_injected_flaw_is_caught() {
    for flaw in Flaw::ALL {
        let is_caught = |seed: &u64| run(&Script::of(*seed), Some(flaw)).is_err();
        let caught = (0..300).filter(is_caught).take(3).count();
        assert_eq!(caught, 3, "number of times {flaw:?} was caught by 300 seeds");
    }
}

#[test]
fn a_failing_script_is_shrunk_and_reported() {
    let failing = |seed| {
        let script = Script::of(seed);
        let failure = run(&script, Some(Flaw::LostDelete)).err()?;
        Some((script, failure))
    };
    let (script, failure) = (0..300).find_map(failing).unwrap();
    let report = shrink::report(&script, failure, Some(Flaw::LostDelete));
    let steps = report.lines().filter(|line| line.starts_with("  step ")).count();
    assert!(report.contains("Delete(") && report.contains("engine:"), "{report}");
    // A table, an item to delete, the third delete, and the read that shows it.
    assert!((3..=8).contains(&steps) && steps < script.steps.len(), "{report}");
}
