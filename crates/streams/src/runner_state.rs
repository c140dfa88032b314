//! The state shared by lanes, job workers and dead letters.

use std::sync::Arc;

use roundtable_domain::Context;

use crate::metrics::MetricsRegistry;
use crate::stop_signal::StopSignal;
use crate::work_signal::WorkSignal;
use crate::{Backoff, ShardAssignment};

#[derive(Debug)]
pub struct RetrySettings {
    /// Attempts before a change or job is parked.
    pub attempts_max: u32,
    pub backoff: Backoff,
}

#[derive(Debug)]
pub(crate) struct RunnerState {
    pub(crate) context: Context,
    pub(crate) shard_assignment: Arc<dyn ShardAssignment>,
    pub(crate) retries: RetrySettings,
    pub(crate) metrics: MetricsRegistry,
    pub(crate) stop: StopSignal,
    pub(crate) work_signal: WorkSignal,
}

impl RunnerState {
    /// Returns whether a batch commits in one transaction with its checkpoint: where one process
    /// owns the store. On DynamoDB that would cost twice as much, and the guards suffice.
    pub(crate) fn commits_with_checkpoint(&self) -> bool {
        self.context.store().capabilities().single_process
    }
}
