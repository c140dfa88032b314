//! A worker and the leases it currently holds on the shards of a stream.

use std::time::Duration;

use parking_lot::Mutex;
use roundtable_table::{Result, ShardInfo};

use crate::{Lease, Leases};

/// Renewals within the duration of a lease: one may fail, and one may be late.
const RENEWALS_PER_LEASE: u32 = 3;

#[derive(Debug)]
pub struct ShardWorker {
    leases: Leases,
    held: Mutex<Vec<Lease>>,
}

impl ShardWorker {
    /// A worker without leases.
    pub const fn new(leases: Leases) -> Self {
        Self { leases, held: Mutex::new(Vec::new()) }
    }

    /// Returns the interval at which [`Self::balance`] must be called, so that no lease expires.
    pub fn interval(&self) -> Duration {
        self.leases.duration() / RENEWALS_PER_LEASE
    }

    /// Performs one round of [balancing](Leases::balance) and returns the shards to read.
    pub async fn balance(&self, shards: &[ShardInfo]) -> Result<Vec<String>> {
        let held = self.held.lock().clone();
        let held = self.leases.balance(shards, held).await?;
        let names = held.iter().map(|lease| lease.shard.clone()).collect();
        *self.held.lock() = held;
        Ok(names)
    }

    /// Returns whether this worker's lease on a shard is still valid by its own clock.
    pub fn holds(&self, shard: &str) -> bool {
        let held = self.held.lock();
        held.iter().any(|lease| lease.shard == shard && self.leases.holds(lease))
    }

    /// Records that a shard was read to its end, so that its children can be read. If the lease was
    /// lost, its new owner will do so.
    pub async fn end(&self, shard: &str) -> Result<()> {
        let lease = self.held.lock().iter().find(|lease| lease.shard == shard).cloned();
        if let Some(lease) = lease {
            self.leases.end(lease).await?;
        }
        Ok(())
    }

    /// Releases all leases, so that the other workers need not wait for them to expire.
    pub async fn leave(&self) -> Result<()> {
        let held = std::mem::take(&mut *self.held.lock());
        for lease in held {
            self.leases.release(lease).await?;
        }
        self.leases.leave().await
    }
}
