//! A budget for what the reads of one request return.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Error, Result};

/// The bytes that one request may still read, all handles together, and caches in place of the table. Without it, a short
/// request could fill the memory with what it reads.
#[derive(Debug)]
pub struct ReadBudget {
    max: usize,
    used: AtomicUsize,
}

impl ReadBudget {
    pub const fn new(bytes_max: usize) -> Self {
        Self { max: bytes_max, used: AtomicUsize::new(0) }
    }

    /// Charges bytes that were read; an error once they exceed the budget.
    pub(crate) fn charge(&self, bytes: usize) -> Result<()> {
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.max {
            return Err(Error::ReadBudget { bytes_max: self.max });
        }
        Ok(())
    }
}
