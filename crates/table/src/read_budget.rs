//! A budget for what the reads of one request return.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Error, Item, Result};

/// The bytes that the reads of one request, or event, may still return, all handles together. Without it, a short
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

    /// Forgets what was read, for a subscription's next event.
    pub fn renew(&self) {
        self.used.store(0, Ordering::Relaxed);
    }

    /// Charges items that were read; an error once they exceed the budget.
    pub(crate) fn charge<'a>(&self, items: impl Iterator<Item = &'a Item>) -> Result<()> {
        let bytes: usize = items.map(Item::size).sum();
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.max {
            return Err(Error::ReadBudget { bytes_max: self.max });
        }
        Ok(())
    }
}
