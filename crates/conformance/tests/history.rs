//! Recorded histories: the engine and the reference are correct, and every planted fault is caught.

#![expect(clippy::unwrap_used, reason = "a runtime that cannot start fails the test")]

use std::future::Future;
use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_conformance::history::{
    CheckCounts, Fault, FaultyBackend, HistoryFailure, check_items, check_paging, check_store,
    check_transactions,
};
use roundtable_engine::{Engine, Options};
use roundtable_table::{Store, SystemClock};

/// One thread: every seed has one outcome.
fn in_turns<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Several threads: the tasks truly race.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build();
    runtime.unwrap().block_on(future)
}

fn planted(fault: Fault) -> Store {
    Store::new(FaultyBackend::new(Arc::new(Reference::new(Arc::new(SystemClock))), fault))
}

fn sound(checked: Result<CheckCounts, HistoryFailure>) -> CheckCounts {
    checked.unwrap_or_else(|failure| panic!("{failure}"))
}

/// Returns for how many of the seeds 0 to 11 `check` finds the fault; each failure must be
/// reproducible.
fn caught(
    fault: Fault,
    check: &impl AsyncFn(&Store, u64) -> Result<CheckCounts, HistoryFailure>,
) -> usize {
    let find = |seed| in_turns(check(&planted(fault), seed)).err().map(|found| found.to_string());
    let found: Vec<Option<String>> = (0..12).map(find).collect();
    assert_eq!(found, (0..12).map(find).collect::<Vec<_>>(), "a seed has two outcomes");
    found.iter().flatten().count()
}

#[test]
fn the_reference_is_sound_in_turns() {
    let counts = sound(in_turns(check_store(async |_| planted(Fault::None), 0..40)));
    assert!(counts.read > 40 * 40 && counts.written > 40 * 40 && counts.refused > 40 * 10);
    assert!(counts.walks == 40 * 15 && counts.pages > 40 * 15 * 4);
    assert_eq!((counts.failed, counts.unknown), (0, 0));
}

#[test]
fn the_reference_is_sound_at_once() {
    let store = planted(Fault::None);
    let counts = sound(at_once(check_store(async |_| store.clone(), 100..200)));
    assert!(counts.read > 0 && counts.written > 0 && counts.refused > 0 && counts.pages > 0);
}

/// Checks the engine while tasks race on four threads; returns the number of checkpoints.
fn checkpoints_of_sound_engine(options: Options, seeds: std::ops::Range<u64>) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path(), options).unwrap();
    let store = Store::new(engine.clone());
    let checks = usize::try_from(seeds.end - seeds.start).unwrap();
    let counts = sound(at_once(check_store(async |_| store.clone(), seeds)));
    assert!(counts.read > checks * 40 && counts.written > checks * 40, "{counts:?}");
    assert!(counts.refused > checks * 10 && counts.failed == 0, "{counts:?}");
    assert!(counts.walks == checks * 15 && counts.pages > checks * 15 * 4, "{counts:?}");
    assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
    engine.metrics().checkpoint_us.count
}

#[test]
fn the_engine_is_sound_at_once() {
    checkpoints_of_sound_engine(Options::default(), 0..30);
}

#[test]
fn the_engine_is_sound_at_once_while_checkpoints_run() {
    for (first, memtable_bytes) in [(100, 1), (200, 2 << 10), (300, 8 << 10)] {
        let (segment_bytes, sync_tree) = (8 << 10, false);
        let options = Options { memtable_bytes, segment_bytes, sync_tree, ..Options::default() };
        let checkpoints = checkpoints_of_sound_engine(options, first..first + 10);
        assert!(checkpoints > 10, "{checkpoints} checkpoints with {memtable_bytes} bytes");
    }
}

#[test]
fn lost_answers_are_not_held_against_a_store() {
    let counts = sound(in_turns(check_store(async |_| planted(Fault::LostAnswer), 0..40)));
    assert!(counts.unknown > 40 * 5, "{counts:?}");
}

#[test]
fn impatient_callers_are_not_held_against_a_store() {
    let counts = sound(in_turns(check_store(async |_| planted(Fault::Slow), 0..40)));
    assert!(counts.unknown > 40, "{counts:?}");
    let counts = sound(at_once(check_store(async |_| planted(Fault::Slow), 100..120)));
    assert!(counts.unknown > 20, "{counts:?}");
}

#[test]
fn a_stale_read_is_caught() {
    assert!(caught(Fault::StaleRead, &check_items) >= 10);
}

#[test]
fn a_lost_write_is_caught() {
    assert!(caught(Fault::LostWrite, &check_items) >= 10);
}

#[test]
fn an_early_answer_is_caught() {
    assert!(caught(Fault::EarlyAnswer, &check_items) >= 10);
}

#[test]
fn two_winners_of_one_condition_are_caught() {
    assert!(caught(Fault::DoubleWin, &check_items) >= 10);
}

#[test]
fn a_transaction_in_two_halves_is_caught() {
    assert!(caught(Fault::HalfTransaction, &check_transactions) >= 10);
}

#[test]
fn a_torn_snapshot_is_caught() {
    assert!(caught(Fault::TornSnapshot, &check_transactions) >= 10);
}

#[test]
fn a_skipped_item_is_caught() {
    assert!(caught(Fault::SkipAtBoundary, &check_paging) >= 10);
}

#[test]
fn a_repeated_item_is_caught() {
    assert!(caught(Fault::RepeatAtBoundary, &check_paging) >= 10);
}
