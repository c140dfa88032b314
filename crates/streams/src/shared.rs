//! What lanes, jobs and dead letters stand on together.

use std::sync::Arc;

use roundtable_domain::Ground;

use crate::asked::Asked;
use crate::figures::Figures;
use crate::stop::Stop;
use crate::{Backoff, Sharing};

/// How failures are answered.
#[derive(Debug)]
pub struct Retries {
    /// How often something is tried before it is parked.
    pub attempts_max: u32,
    /// How long to wait in between.
    pub backoff: Backoff,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) ground: Ground,
    pub(crate) sharing: Arc<dyn Sharing>,
    pub(crate) retries: Retries,
    pub(crate) figures: Figures,
    pub(crate) stop: Stop,
    pub(crate) asked: Asked,
}

impl Shared {
    /// Whether a batch commits in one transaction with its checkpoint: where one process has the store
    /// to itself. On DynamoDB that would cost twice as much, and the guards suffice.
    pub(crate) fn commits_together(&self) -> bool {
        self.ground.store().capabilities().one_process
    }
}
