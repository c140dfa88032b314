//! What came of histories, so that a test knows whether they tested anything.

use std::ops::Add;

/// What came of histories.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) pages: usize,
    pub(crate) entries: usize,
    /// Entries that were found as copies.
    pub(crate) copied: usize,
    /// Pages in the middle of which something else happened.
    pub(crate) interrupted: usize,
    /// Times that a worker died at work, or stopped in the middle of it.
    pub(crate) died: usize,
    pub(crate) stalled: usize,
    /// Jobs and changes that were parked.
    pub(crate) parked: usize,
    /// Feeds that had been trimmed by the end.
    pub(crate) trimmed: usize,
}

impl Tally {
    /// The histories had in them what they are to be proof against.
    pub(crate) fn is_worth_it(self) {
        let Self { pages, entries, copied, interrupted, died, stalled, parked, trimmed } = self;
        let all = [pages, entries, copied, interrupted, died, stalled, parked, trimmed];
        assert!(all.iter().all(|count| *count > 0), "nothing came of too much: {self:?}");
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            pages: self.pages + other.pages,
            entries: self.entries + other.entries,
            copied: self.copied + other.copied,
            interrupted: self.interrupted + other.interrupted,
            died: self.died + other.died,
            stalled: self.stalled + other.stalled,
            parked: self.parked + other.parked,
            trimmed: self.trimmed + other.trimmed,
        }
    }
}
