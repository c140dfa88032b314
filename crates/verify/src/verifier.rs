//! The configuration of a check.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use roundtable_domain::{Context, ScoreSettings};
use roundtable_model::table::{Clock, Error, SystemClock};
use roundtable_model::{Core, LoginAttempts, Ops};

use crate::progress::{NoProgress, ProgressReporter};
use crate::scan::TableReader;
use crate::tally_source::CheckRules;

/// The default limit of findings in a report.
const FINDINGS_MAX: usize = 1_000;
/// Segments of a scan over the network.
const SEGMENTS_REMOTE: u32 = 8;

/// The tables of a store.
#[derive(Clone, Debug)]
pub struct Tables {
    pub core: Core,
    pub logins: LoginAttempts,
    /// Checkpoints, jobs, dead letters, webhooks.
    pub ops: Ops,
}

pub(crate) type DrainFn = dyn Fn() -> BoxFuture<'static, Result<u64, String>> + Send + Sync;
pub(crate) type SweepFn = dyn Fn() -> Result<(), Error> + Send + Sync;
/// Returns the keys that differ, each with what was found.
pub(crate) type CompareFn =
    dyn Fn() -> BoxFuture<'static, Result<Vec<(String, String)>, String>> + Send + Sync;
type AuditFn = dyn Fn() -> Result<Vec<String>, Error> + Send + Sync;

/// Checks one store. The store must be quiet: with concurrent writers, a finding may only show a
/// change made during the check.
///
/// Memory is bounded: about 6 MB of sums for each segment, 50 MB for the keys of the stream, a page
/// of each segment, and 100 MB for the second pass over mismatches.
pub struct Verifier {
    pub(crate) tables: Tables,
    pub(crate) rules: CheckRules,
    pub(crate) reader: TableReader,
    pub(crate) findings_max: usize,
    pub(crate) drain: Option<Box<DrainFn>>,
    pub(crate) sweep: Option<Arc<SweepFn>>,
    pub(crate) audit: Option<Arc<AuditFn>>,
    pub(crate) compare: Option<Box<CompareFn>>,
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("tables", &self.tables).finish_non_exhaustive()
    }
}

impl Verifier {
    pub fn new(tables: Tables, score: ScoreSettings) -> Self {
        let is_local = tables.core.table().store().capabilities().single_process;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let segments = if is_local { u32::try_from(cores).unwrap_or(1) } else { SEGMENTS_REMOTE };
        let reader =
            TableReader { segments, clock: Arc::new(SystemClock), progress: Arc::new(NoProgress) };
        let rules = CheckRules { score };
        Self {
            tables,
            rules,
            reader,
            findings_max: FINDINGS_MAX,
            drain: None,
            sweep: None,
            audit: None,
            compare: None,
        }
    }

    /// Checks the tables of a service context, with its clock and settings.
    pub fn on(context: &Context) -> Self {
        let tables = Tables {
            core: context.core().clone(),
            logins: context.logins().clone(),
            ops: context.ops().clone(),
        };
        let score = context.settings().score.clone();
        Self::new(tables, score).clock(Arc::clone(context.clock()))
    }

    /// Items that have expired by this clock must not be returned by reads.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.reader.clock = clock;
        self
    }

    /// Limits the findings in the report; all are counted.
    #[must_use]
    pub const fn findings_max(mut self, findings_max: usize) -> Self {
        self.findings_max = findings_max;
        self
    }

    /// Splits scans into segments that are read in parallel.
    #[must_use]
    pub fn segments(mut self, segments: u32) -> Self {
        self.reader.segments = segments.max(1);
        self
    }

    #[must_use]
    pub fn progress(mut self, progress: Arc<dyn ProgressReporter>) -> Self {
        self.reader.progress = progress;
        self
    }

    /// Runs the processors to the end of the stream first: changes they have not applied are not
    /// derived yet. `drain` returns the number of applied changes, or an error. It does not run if
    /// the store's own audit finds damage.
    #[must_use]
    pub fn drain_with(
        mut self,
        drain: impl Fn() -> BoxFuture<'static, Result<u64, String>> + Send + Sync + 'static,
    ) -> Self {
        self.drain = Some(Box::new(drain));
        self
    }

    /// Deletes expired items before the processors run. Reads hide expired items, but counters
    /// include them until they are deleted: only then can these counters be compared exactly and be
    /// repaired, provided that the store's clock stands still. Otherwise a surplus may be right.
    /// Without a drain it does not run. It may block.
    #[must_use]
    pub fn sweep_with(
        mut self,
        sweep: impl Fn() -> Result<(), Error> + Send + Sync + 'static,
    ) -> Self {
        self.sweep = Some(Arc::new(sweep));
        self
    }

    /// Also runs the store's own audit: its checksums (I16), and that table, indexes and stream
    /// hold the same transactions (I5). It may block.
    #[must_use]
    pub fn audit_with(
        mut self,
        audit: impl Fn() -> Result<Vec<String>, Error> + Send + Sync + 'static,
    ) -> Self {
        self.audit = Some(Arc::new(audit));
        self
    }

    /// Also compares the search index with the table (I6), after the processors have run. `compare`
    /// returns the keys of documents that differ, each with what was found.
    #[must_use]
    pub fn compare_index_with(
        mut self,
        compare: impl Fn() -> BoxFuture<'static, Result<Vec<(String, String)>, String>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.compare = Some(Box::new(compare));
        self
    }
}
