//! The complete checks: record, search for an order, and report failures with their seed.

use std::ops::{AddAssign, Range};

use roundtable_table::{Error, Store};

use super::call::{Answer, Call};
use super::conflict::{Conflict, explain};
use super::paging::{PagingViolation, check_walks};
use super::record::{Mix, Workload, record};
use super::walk::walk;

/// Single items: hot keys, and some callers that do not wait for the response.
pub const fn items_workload() -> Workload {
    Workload { mix: Mix::Items, tasks: 6, calls_per_task: 24, keys: 3, abandoned_per_mille: 20 }
}

/// Transactions: fewer calls, because their search covers all keys at once.
pub const fn transactions_workload() -> Workload {
    Workload {
        mix: Mix::Transactions,
        tasks: 5,
        calls_per_task: 16,
        keys: 4,
        abandoned_per_mille: 15,
    }
}

/// The number of checked calls, to show that a check covered something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckCounts {
    pub read: usize,
    pub written: usize,
    /// Calls whose condition failed.
    pub refused: usize,
    /// Calls that failed without effect.
    pub failed: usize,
    /// Calls of unknown outcome.
    pub unknown: usize,
    pub walks: usize,
    /// Pages of the walks.
    pub pages: usize,
}

impl CheckCounts {
    fn of(calls: &[Call]) -> Self {
        let count =
            |wanted: fn(&Answer) -> bool| calls.iter().filter(|call| wanted(&call.answer)).count();
        Self {
            read: count(|answer| matches!(answer, Answer::Read(_))),
            written: count(|answer| matches!(answer, Answer::Done(_))),
            refused: count(|answer| matches!(answer, Answer::Refused(_))),
            failed: count(|answer| matches!(answer, Answer::Failed)),
            unknown: count(|answer| matches!(answer, Answer::Unknown)),
            ..Self::default()
        }
    }
}

impl AddAssign for CheckCounts {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        self.written += other.written;
        self.refused += other.refused;
        self.failed += other.failed;
        self.unknown += other.unknown;
        self.walks += other.walks;
        self.pages += other.pages;
    }
}

/// A failed check. The same seed on one thread reproduces it.
#[derive(Debug, thiserror::Error)]
pub enum HistoryFailure {
    #[error("{mix:?}, seed {seed}: {conflict}")]
    Order { mix: Mix, seed: u64, conflict: Conflict },
    #[error("paging, seed {seed}: {violation}")]
    Paging { seed: u64, violation: PagingViolation },
    #[error("seed {seed}: the store failed: {error}")]
    Store { seed: u64, error: Error },
}

/// Checks that single-item operations are linearizable (I14).
pub async fn check_items(store: &Store, seed: u64) -> Result<CheckCounts, HistoryFailure> {
    check_order(store, &items_workload(), seed).await
}

/// Checks that transactions are strictly serializable, among each other and with single-item
/// operations (I14).
pub async fn check_transactions(store: &Store, seed: u64) -> Result<CheckCounts, HistoryFailure> {
    check_order(store, &transactions_workload(), seed).await
}

async fn check_order(
    store: &Store,
    workload: &Workload,
    seed: u64,
) -> Result<CheckCounts, HistoryFailure> {
    let recorded = record(store, workload, seed).await;
    let history = recorded.map_err(|error| HistoryFailure::Store { seed, error })?;
    let mix = workload.mix;
    explain(&history.calls).map_err(|conflict| HistoryFailure::Order { mix, seed, conflict })?;
    Ok(CheckCounts::of(&history.calls))
}

/// Checks that items present throughout a walk over pages appear exactly once (I13).
pub async fn check_paging(store: &Store, seed: u64) -> Result<CheckCounts, HistoryFailure> {
    let walk_record =
        walk(store, seed).await.map_err(|error| HistoryFailure::Store { seed, error })?;
    check_walks(&walk_record).map_err(|violation| HistoryFailure::Paging { seed, violation })?;
    let pages = walk_record.walks.iter().map(|walk| walk.pages.len()).sum();
    Ok(CheckCounts { walks: walk_record.walks.len(), pages, ..CheckCounts::default() })
}

/// Runs every check with every seed, on the stores that `make_store` returns; one store for all
/// seeds is fine, since the tables have different names. Needs a tokio runtime: with several
/// threads the tasks truly race, with one thread a failure can be reproduced.
pub async fn check_store(
    make_store: impl AsyncFn(u64) -> Store,
    seeds: Range<u64>,
) -> Result<CheckCounts, HistoryFailure> {
    let mut counts = CheckCounts::default();
    for seed in seeds {
        let store = make_store(seed).await;
        counts += check_items(&store, seed).await?;
        counts += check_transactions(&store, seed).await?;
        counts += check_paging(&store, seed).await?;
    }
    Ok(counts)
}
