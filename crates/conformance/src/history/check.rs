//! The checks as a whole: record, look for an order, and say what failed under which seed.

use std::ops::{AddAssign, Range};

use roundtable_table::{Error, Store};

use super::call::{Answer, Call};
use super::conflict::{Conflict, explain};
use super::paging::{Lapse, check_walks};
use super::record::{Mix, Workload, record};
use super::walk::walk;

/// Single items: hot keys, and now and then a caller who does not wait.
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

/// What was checked, to show that a check did not pass for want of anything to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls that read.
    pub read: usize,
    /// Calls that wrote.
    pub written: usize,
    /// Calls whose condition did not hold.
    pub refused: usize,
    /// Calls that failed without effect.
    pub failed: usize,
    /// Calls of unknown outcome.
    pub unknown: usize,
    /// Walks over pages.
    pub walks: usize,
    /// Pages of these walks.
    pub pages: usize,
}

impl Tally {
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

impl AddAssign for Tally {
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

/// What a check found. The same seed on one thread finds it again.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{mix:?}, seed {seed}: {conflict}")]
    Order { mix: Mix, seed: u64, conflict: Conflict },
    #[error("paging, seed {seed}: {lapse}")]
    Paging { seed: u64, lapse: Lapse },
    #[error("seed {seed}: the store failed: {error}")]
    Store { seed: u64, error: Error },
}

/// Checks that single-item operations are linearizable (I14).
pub async fn check_items(store: &Store, seed: u64) -> Result<Tally, Failure> {
    check_order(store, &items_workload(), seed).await
}

/// Checks that transactions are strictly serializable, among each other and with single-item
/// operations (I14).
pub async fn check_transactions(store: &Store, seed: u64) -> Result<Tally, Failure> {
    check_order(store, &transactions_workload(), seed).await
}

async fn check_order(store: &Store, workload: &Workload, seed: u64) -> Result<Tally, Failure> {
    let recorded = record(store, workload, seed).await;
    let history = recorded.map_err(|error| Failure::Store { seed, error })?;
    let mix = workload.mix;
    explain(&history.calls).map_err(|conflict| Failure::Order { mix, seed, conflict })?;
    Ok(Tally::of(&history.calls))
}

/// Checks that whatever is present throughout a walk over pages appears exactly once (I13).
pub async fn check_paging(store: &Store, seed: u64) -> Result<Tally, Failure> {
    let walked = walk(store, seed).await.map_err(|error| Failure::Store { seed, error })?;
    check_walks(&walked).map_err(|lapse| Failure::Paging { seed, lapse })?;
    let pages = walked.walks.iter().map(|walk| walk.pages.len()).sum();
    Ok(Tally { walks: walked.walks.len(), pages, ..Tally::default() })
}

/// Runs every check under every seed, each on what `make_store` gives for it; one store for all
/// seeds will do, since the tables have different names. Needs a tokio runtime: with several
/// threads the tasks truly race, with one thread a failure can be repeated.
pub async fn check_store(
    make_store: impl AsyncFn(u64) -> Store,
    seeds: Range<u64>,
) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    for seed in seeds {
        let store = make_store(seed).await;
        tally += check_items(&store, seed).await?;
        tally += check_transactions(&store, seed).await?;
        tally += check_paging(&store, seed).await?;
    }
    Ok(tally)
}
