//! Progress of a check, for display.

use std::fmt;

/// Receives the progress of a check. Called from several threads at once.
pub trait ProgressReporter: Send + Sync + fmt::Debug + 'static {
    /// Starts the next stage, of `total` steps where that is known.
    fn stage(&self, what: &str, total: Option<u64>);

    /// Adds `count` finished steps.
    fn advance(&self, count: u64);
}

#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl ProgressReporter for NoProgress {
    fn stage(&self, _: &str, _: Option<u64>) {}

    fn advance(&self, _: u64) {}
}
