//! Budgets for what reads return: one for each request, and one for all that are under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Error, Result};

/// The bytes that one request, or event, may still read, all handles together, and caches in place of the
/// table. Without it, a short request could fill the memory with what it reads.
#[derive(Debug)]
pub struct ReadBudget {
    max: usize,
    used: AtomicUsize,
    /// The bytes that it has of each pool, used or not.
    taken: AtomicUsize,
    pools: Vec<Arc<ReadPool>>,
}

/// Bytes are taken from pools in steps: most reads are short, and all requests share the pools.
const STEP_BYTES: usize = 16 << 10;

/// The bytes that the reads of several requests under way may return together: of all, or of one client.
#[derive(Debug)]
pub struct ReadPool {
    max: usize,
    used: AtomicUsize,
}

impl ReadPool {
    pub const fn new(bytes_max: usize) -> Self {
        Self { max: bytes_max, used: AtomicUsize::new(0) }
    }

    /// Returns whether there was room.
    fn take(&self, bytes: usize) -> bool {
        self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= self.max
    }
}

impl ReadBudget {
    pub const fn new(bytes_max: usize, pools: Vec<Arc<ReadPool>>) -> Self {
        let (used, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { max: bytes_max, used, taken, pools }
    }

    /// Forgets what was read, for a subscription that waits for its next event.
    pub fn renew(&self) {
        self.used.store(0, Ordering::Relaxed);
        let taken = self.taken.swap(0, Ordering::Relaxed);
        for pool in &self.pools {
            pool.used.fetch_sub(taken, Ordering::Relaxed);
        }
    }

    /// Charges bytes that were read; an error once they exceed a budget.
    pub(crate) fn charge(&self, bytes: usize) -> Result<()> {
        let own = self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if own > self.max {
            return Err(Error::ReadBudget { bytes_max: self.max });
        }
        let needed = own.next_multiple_of(STEP_BYTES).min(self.max);
        if self.taken.load(Ordering::Relaxed) >= needed {
            return Ok(());
        }
        // Reads at the same time take each step once.
        let more = needed.saturating_sub(self.taken.fetch_max(needed, Ordering::Relaxed));
        // Each gets what `renew` returns to it.
        let full = self.pools.iter().filter(|pool| !pool.take(more)).count();
        if full == 0 { Ok(()) } else { Err(Error::ReadPoolFull) }
    }
}

impl Drop for ReadBudget {
    fn drop(&mut self) {
        self.renew();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_shared_by_all_that_are_under_way() {
        let pool = Arc::new(ReadPool::new(5 * STEP_BYTES));
        let max = 4 * STEP_BYTES;
        let budget = || ReadBudget::new(max, vec![Arc::clone(&pool)]);
        let (one, other) = (budget(), budget());
        one.charge(2 * STEP_BYTES).unwrap();
        other.charge(2 * STEP_BYTES + 1).unwrap();
        other.charge(STEP_BYTES - 1).unwrap();
        assert!(matches!(other.charge(1), Err(Error::ReadPoolFull)));
        drop(other);
        one.charge(2 * STEP_BYTES).unwrap();
        let too_much = one.charge(1);
        assert!(matches!(too_much, Err(Error::ReadBudget { bytes_max }) if bytes_max == max));
        one.renew();
        assert_eq!(pool.used.load(Ordering::Relaxed), 0);
        one.charge(STEP_BYTES).unwrap();
    }

    #[test]
    fn each_pool_of_a_budget_has_a_limit() {
        let (own, all) = (Arc::new(ReadPool::new(STEP_BYTES)), Arc::new(ReadPool::new(1 << 30)));
        let budget = |pools: &[&Arc<ReadPool>]| {
            ReadBudget::new(1 << 30, pools.iter().map(|pool| Arc::clone(pool)).collect())
        };
        let first = budget(&[&own, &all]);
        first.charge(1).unwrap();
        let second = budget(&[&own, &all]);
        assert!(matches!(second.charge(1), Err(Error::ReadPoolFull)));
        budget(&[&all]).charge(1).unwrap();
        drop(second);
        assert_eq!(all.used.load(Ordering::Relaxed), STEP_BYTES);
        drop(first);
        assert_eq!((own.used.load(Ordering::Relaxed), all.used.load(Ordering::Relaxed)), (0, 0));
    }
}
