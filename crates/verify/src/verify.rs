//! A check of one store: what it is told, and in which order it looks.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use roundtable_domain::{Ground, ScoreSettings};
use roundtable_model::table::{Clock, Error, SystemClock};
use roundtable_model::{Core, LoginAttempts, Ops};

use crate::progress::{Progress, Silent};
use crate::scan::Reader;
use crate::tell::Rules;

/// Findings that a report keeps, unless asked otherwise.
const FINDINGS_MAX: usize = 1_000;
/// Segments of a scan over the network.
const SEGMENTS_REMOTE: u32 = 8;

/// The tables of a store.
#[derive(Clone, Debug)]
pub struct Tables {
    /// What people make and do.
    pub core: Core,
    /// Failed sign-ins.
    pub logins: LoginAttempts,
    /// Bookkeeping.
    pub ops: Ops,
}

pub(crate) type Drain = dyn Fn() -> BoxFuture<'static, Result<u64, String>> + Send + Sync;
pub(crate) type Sweep = dyn Fn() -> Result<(), Error> + Send + Sync;
type Audit = dyn Fn() -> Result<Vec<String>, Error> + Send + Sync;

/// A check of one store. The store must be quiet: beside writers, a finding may be about what changed
/// while it was looked at.
///
/// Memory is bounded whatever the store holds: about 6 MB of sums for each segment, 50 MB for the keys
/// of the stream, a page of each segment, and 100 MB for the second look where many findings are.
pub struct Verify {
    pub(crate) tables: Tables,
    pub(crate) rules: Rules,
    pub(crate) reader: Reader,
    pub(crate) findings_max: usize,
    pub(crate) drain: Option<Box<Drain>>,
    pub(crate) sweep: Option<Arc<Sweep>>,
    pub(crate) audit: Option<Arc<Audit>>,
}

impl fmt::Debug for Verify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verify").field("tables", &self.tables).finish_non_exhaustive()
    }
}

impl Verify {
    /// A check of these tables, where scores are as `score` says.
    pub fn new(tables: Tables, score: ScoreSettings) -> Self {
        let here = tables.core.table().store().capabilities().one_process;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let segments = if here { u32::try_from(cores).unwrap_or(1) } else { SEGMENTS_REMOTE };
        let reader = Reader { segments, clock: Arc::new(SystemClock), progress: Arc::new(Silent) };
        let rules = Rules { score };
        let findings_max = FINDINGS_MAX;
        Self { tables, rules, reader, findings_max, drain: None, sweep: None, audit: None }
    }

    /// A check of what services stand on, by their clock and settings.
    pub fn on(ground: &Ground) -> Self {
        let tables = Tables {
            core: ground.core().clone(),
            logins: ground.logins().clone(),
            ops: ground.ops().clone(),
        };
        let score = ground.settings().score.clone();
        Self::new(tables, score).clock(Arc::clone(ground.clock()))
    }

    /// By this clock: what it says has expired must not be seen.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.reader.clock = clock;
        self
    }

    /// Keeps at most so many findings; all are counted.
    #[must_use]
    pub const fn findings_max(mut self, findings_max: usize) -> Self {
        self.findings_max = findings_max;
        self
    }

    /// Splits scans into so many segments, read at the same time.
    #[must_use]
    pub fn segments(mut self, segments: u32) -> Self {
        self.reader.segments = segments.max(1);
        self
    }

    /// Tells `progress` how far it has come.
    #[must_use]
    pub fn progress(mut self, progress: Arc<dyn Progress>) -> Self {
        self.reader.progress = progress;
        self
    }

    /// Lets the processors read the stream to its end first: what they have not dealt with is not
    /// derived yet. `drain` tells how many changes they have applied, or why they could not. A store
    /// that is not whole by its own account is left as it is.
    #[must_use]
    pub fn drained_by(
        mut self,
        drain: impl Fn() -> BoxFuture<'static, Result<u64, String>> + Send + Sync + 'static,
    ) -> Self {
        self.drain = Some(Box::new(drain));
        self
    }

    /// Takes what has expired out of the store before the processors finish. Until it is taken away
    /// nothing shows it, and it still counts: only after that can counters of it be compared exactly, and
    /// be mended, if the store's clock stands still from then on. Elsewhere one that says too much may be
    /// right. Without a drain nothing is swept. It may block.
    #[must_use]
    pub fn swept_by(
        mut self,
        sweep: impl Fn() -> Result<(), Error> + Send + Sync + 'static,
    ) -> Self {
        self.sweep = Some(Arc::new(sweep));
        self
    }

    /// Also asks the store itself, from the inside: its checksums (I16), and that what a transaction
    /// wrote is in base, indexes and stream alike (I5). It may block.
    #[must_use]
    pub fn audited_by(
        mut self,
        audit: impl Fn() -> Result<Vec<String>, Error> + Send + Sync + 'static,
    ) -> Self {
        self.audit = Some(Arc::new(audit));
        self
    }
}
