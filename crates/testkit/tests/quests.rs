//! Quests against their definition (R11): whatever people do with tasks, goals and quests, however the
//! stream is read meanwhile, and whoever is stopped in the middle of it, in the end progress and
//! experience are what a naive reading of the tasks gives.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

#[path = "quests/deeds.rs"]
mod deeds;
#[path = "quests/definition.rs"]
mod definition;
#[path = "quests/stage.rs"]
mod stage;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use deeds::{Deed, deeds, many_deeds};
use stage::{Reading, Stage};

/// What is wrong after these deeds, if anything.
fn wrong(deeds: &[Deed], seed: u64, reading: Reading) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut stage = Stage::set(seed, reading).await;
        for (number, deed) in deeds.iter().enumerate() {
            if let Some(wrong) = stage.happen(deed).await {
                return Some(format!("{wrong} after deed {number}, {deed:?}"));
            }
        }
        stage.happen(&Deed::Settle).await
    })
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new_with_rng(
        Config { cases, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    )
}

/// R11: any history, any interleaving, redelivery, crashes, shards in any order.
#[test]
fn progress_and_experience_are_as_defined() {
    let strategy = (deeds(), any::<u64>());
    runner(200)
        .run(&strategy, |(deeds, seed)| {
            prop_assert_eq!(wrong(&deeds, seed, Reading::Whole), None);
            Ok(())
        })
        .unwrap();
}

/// R11: the same with more tasks than are read in one go, and quests for as many as can be asked for.
#[test]
fn many_tasks_count_as_defined() {
    let strategy = (many_deeds(), any::<u64>());
    runner(12)
        .run(&strategy, |(deeds, seed)| {
            prop_assert_eq!(wrong(&deeds, seed, Reading::Whole), None);
            Ok(())
        })
        .unwrap();
}

/// The comparison finds what it looks for: a processor that misses what is un-done is caught.
#[test]
fn a_processor_that_misses_something_is_caught() {
    let strategy = (deeds(), any::<u64>());
    let found = runner(400).run(&strategy, |(deeds, seed)| {
        prop_assert_eq!(wrong(&deeds, seed, Reading::WithoutWhatIsUndone), None);
        Ok(())
    });
    assert!(found.is_err(), "nobody noticed");
}
