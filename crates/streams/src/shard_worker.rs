//! A worker and the leases it currently holds on the shards of a stream.

use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_model::table::{Result, ShardInfo};

use crate::{Lease, Leases, ShardAssignment};

/// Renewals within the duration of a lease: one may fail, and one may be late.
const RENEWALS_PER_LEASE: u32 = 3;

#[derive(Debug)]
pub struct ShardWorker {
    leases: Leases,
    held: Mutex<Vec<Lease>>,
    interval: Duration,
}

impl ShardWorker {
    /// A worker without leases. It renews them at an interval at which none expires.
    pub fn new(leases: Leases) -> Self {
        let interval = leases.duration() / RENEWALS_PER_LEASE;
        Self { leases, held: Mutex::new(Vec::new()), interval }
    }

    /// Renews leases at another interval, for tests on a clock that stands still.
    #[must_use]
    pub const fn with_interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }
}

#[async_trait]
impl ShardAssignment for ShardWorker {
    fn interval(&self) -> Duration {
        self.interval
    }

    fn report_backlog(&self, since_ms: Option<u64>) {
        self.leases.report_backlog(since_ms);
    }

    /// Performs one round of [balancing](Leases::balance).
    async fn assign(&self, shards: &[ShardInfo]) -> Result<Vec<String>> {
        let held = self.held.lock().clone();
        let held = self.leases.balance(shards, held).await?;
        let names = held.iter().map(|lease| lease.shard.clone()).collect();
        *self.held.lock() = held;
        Ok(names)
    }

    /// Returns whether this worker's lease on a shard is still valid by its own clock.
    fn is_assigned(&self, shard: &str) -> bool {
        let held = self.held.lock();
        held.iter().any(|lease| lease.shard == shard && self.leases.holds(lease))
    }

    /// If the lease was lost, its new owner records the end of the shard.
    async fn mark_ended(&self, shard: &str) -> Result<()> {
        let lease = self.held.lock().iter().find(|lease| lease.shard == shard).cloned();
        if let Some(lease) = lease {
            self.leases.end(lease).await?;
        }
        Ok(())
    }

    /// Releases all leases, so that the other workers need not wait for them to expire.
    async fn release_all(&self) -> Result<()> {
        let held = std::mem::take(&mut *self.held.lock());
        for lease in held {
            self.leases.release(lease).await?;
        }
        self.leases.leave().await
    }
}
