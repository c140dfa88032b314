//! A worker and the leases it holds at the moment: which shards of a stream are its own to read.

use std::time::Duration;

use parking_lot::Mutex;
use roundtable_table::{Result, Shard};

use crate::{Lease, Leases};

/// Rounds of sharing in the time that a lease holds: one may fail, and one may be late.
const ROUNDS: u32 = 3;

/// One of the workers that share the shards of a stream.
#[derive(Debug)]
pub struct Worker {
    leases: Leases,
    held: Mutex<Vec<Lease>>,
}

impl Worker {
    /// A worker that holds nothing yet.
    pub const fn new(leases: Leases) -> Self {
        Self { leases, held: Mutex::new(Vec::new()) }
    }

    /// How often [`Worker::share`] must be asked, so that no lease runs out.
    pub fn interval(&self) -> Duration {
        self.leases.duration() / ROUNDS
    }

    /// One round of [sharing](Leases::balance); the shards to read now.
    pub async fn share(&self, shards: &[Shard]) -> Result<Vec<String>> {
        let held = self.held.lock().clone();
        let held = self.leases.balance(shards, held).await?;
        let names = held.iter().map(|lease| lease.shard.clone()).collect();
        *self.held.lock() = held;
        Ok(names)
    }

    /// Whether a shard is still this worker's by its own clock, as of the last round.
    pub fn holds(&self, shard: &str) -> bool {
        let held = self.held.lock();
        held.iter().any(|lease| lease.shard == shard && self.leases.holds(lease))
    }

    /// Notes that a shard was read to its end, so that its children can be read. Whoever has it now, if
    /// it was lost, will find its end, too.
    pub async fn end(&self, shard: &str) -> Result<()> {
        let lease = self.held.lock().iter().find(|lease| lease.shard == shard).cloned();
        if let Some(lease) = lease {
            self.leases.end(lease).await?;
        }
        Ok(())
    }

    /// Gives everything back, so that the others need not wait for it to expire.
    pub async fn leave(&self) -> Result<()> {
        let held = std::mem::take(&mut *self.held.lock());
        for lease in held {
            self.leases.release(lease).await?;
        }
        self.leases.leave().await
    }
}
