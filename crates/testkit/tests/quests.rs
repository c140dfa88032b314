//! Quests against their definition (R11): after any history of tasks, goals and quests, any reading
//! of the stream and any crash, progress and experience equal those of a naive model.
//!
//! `ROUNDTABLE_QUEST_HISTORIES=2000 cargo test --release -p roundtable-testkit --test quests` for many;
//! `ROUNDTABLE_QUEST_SEED=7` for others.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

#[path = "quests/definition.rs"]
mod definition;
#[path = "quests/stage.rs"]
mod stage;
#[path = "quests/steps.rs"]
mod steps;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use stage::{ProcessorKind, Stage};
use steps::{QuestStep, many_steps, steps};

/// Returns the first mismatch after these steps, if any.
fn wrong(steps: &[QuestStep], seed: u64, processor_kind: ProcessorKind) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut stage = Stage::set(seed, processor_kind).await;
        for (number, step) in steps.iter().enumerate() {
            if let Some(wrong) = stage.perform(step).await {
                return Some(format!("{wrong} after deed {number}, {step:?}"));
            }
        }
        stage.perform(&QuestStep::Settle).await
    })
}

fn setting(name: &str, default: u32) -> u32 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

fn runner(cases: u32) -> TestRunner {
    let seed = setting("ROUNDTABLE_QUEST_SEED", 0).to_le_bytes().repeat(8);
    TestRunner::new_with_rng(
        Config { cases, failure_persistence: None, ..Config::default() },
        TestRng::from_seed(RngAlgorithm::ChaCha, &seed),
    )
}

/// Any history, with interleaving, redelivery, crashes, and shards in any order.
#[test]
fn progress_and_experience_are_as_defined() {
    let strategy = (steps(), any::<u64>());
    runner(setting("ROUNDTABLE_QUEST_HISTORIES", 200))
        .run(&strategy, |(steps, seed)| {
            prop_assert_eq!(wrong(&steps, seed, ProcessorKind::Whole), None);
            Ok(())
        })
        .unwrap();
}

/// With more tasks than are read in one page, and the largest quests.
#[test]
fn many_tasks_count_as_defined() {
    let strategy = (many_steps(), any::<u64>());
    runner(12)
        .run(&strategy, |(steps, seed)| {
            prop_assert_eq!(wrong(&steps, seed, ProcessorKind::Whole), None);
            Ok(())
        })
        .unwrap();
}

/// The comparison works: it catches a processor that ignores undone tasks.
#[test]
fn a_processor_that_misses_something_is_caught() {
    let strategy = (steps(), any::<u64>());
    let found = runner(400).run(&strategy, |(steps, seed)| {
        prop_assert_eq!(wrong(&steps, seed, ProcessorKind::WithoutWhatIsUndone), None);
        Ok(())
    });
    assert!(found.is_err(), "the fault was not found");
}
