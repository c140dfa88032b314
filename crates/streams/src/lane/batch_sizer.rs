//! Decides how many changes are processed together.

/// Changes processed together. Most touch an item or two, and a transaction holds a hundred.
const BATCH_CHANGES_MAX: usize = 100;

/// The size of the next batch, and the failed attempts of the current one.
pub(super) struct BatchSizer {
    pub(super) size: usize,
    /// Changes left to process one by one, because one of them fails.
    pub(super) singles_left: usize,
    pub(super) attempts: u32,
}

impl BatchSizer {
    pub(super) const fn new() -> Self {
        Self { size: BATCH_CHANGES_MAX, singles_left: 0, attempts: 0 }
    }

    pub(super) const fn size(&self) -> usize {
        if self.singles_left > 0 { 1 } else { self.size }
    }

    /// Resets the size after `changes` have been completed.
    pub(super) fn advance(&mut self, changes: usize) {
        self.singles_left = self.singles_left.saturating_sub(changes);
        (self.attempts, self.size) = (0, BATCH_CHANGES_MAX);
    }
}
