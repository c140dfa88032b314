//! How many changes at a time.

/// Changes processed together. Most touch an item or two, and a transaction holds a hundred.
const BATCH_CHANGES_MAX: usize = 100;

/// How large the next batch may be, and how often the present one has failed.
pub(super) struct Pace {
    pub(super) size: usize,
    /// Changes to be processed one by one, because one of them fails.
    pub(super) alone: usize,
    pub(super) tries: u32,
}

impl Pace {
    pub(super) const fn new() -> Self {
        Self { size: BATCH_CHANGES_MAX, alone: 0, tries: 0 }
    }

    /// How large it may be now.
    pub(super) const fn size(&self) -> usize {
        if self.alone > 0 { 1 } else { self.size }
    }

    /// So many changes have been dealt with.
    pub(super) fn past(&mut self, changes: usize) {
        self.alone = self.alone.saturating_sub(changes);
        (self.tries, self.size) = (0, BATCH_CHANGES_MAX);
    }
}
