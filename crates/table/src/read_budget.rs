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
    pool: Arc<ReadPool>,
}

/// The bytes that the reads of all requests under way may return together.
#[derive(Debug)]
pub struct ReadPool {
    max: usize,
    used: AtomicUsize,
}

impl ReadPool {
    pub const fn new(bytes_max: usize) -> Self {
        Self { max: bytes_max, used: AtomicUsize::new(0) }
    }
}

impl ReadBudget {
    pub const fn new(bytes_max: usize, pool: Arc<ReadPool>) -> Self {
        Self { max: bytes_max, used: AtomicUsize::new(0), pool }
    }

    /// Forgets what was read, for a subscription that waits for its next event.
    pub fn renew(&self) {
        self.pool.used.fetch_sub(self.used.swap(0, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Charges bytes that were read; an error once they exceed a budget.
    pub(crate) fn charge(&self, bytes: usize) -> Result<()> {
        let own = self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let all = self.pool.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if own > self.max {
            return Err(Error::ReadBudget { bytes_max: self.max });
        }
        if all > self.pool.max {
            return Err(Error::ReadPoolFull);
        }
        Ok(())
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
        let pool = Arc::new(ReadPool::new(250));
        let budget = || ReadBudget::new(200, Arc::clone(&pool));
        let (one, other) = (budget(), budget());
        one.charge(100).unwrap();
        other.charge(100).unwrap();
        assert!(matches!(other.charge(100), Err(Error::ReadPoolFull)));
        drop(other);
        one.charge(100).unwrap();
        let too_much = one.charge(100);
        assert!(matches!(too_much, Err(Error::ReadBudget { bytes_max: 200 })), "{too_much:?}");
        one.renew();
        assert_eq!(pool.used.load(Ordering::Relaxed), 0);
        one.charge(100).unwrap();
    }
}
