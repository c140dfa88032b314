//! Statistics of histories, to show that they tested something.

use std::ops::Add;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HistoryStats {
    pub(crate) pages: usize,
    pub(crate) entries: usize,
    /// Entries read from copies.
    pub(crate) copied: usize,
    /// Pages interrupted by other steps.
    pub(crate) interrupted: usize,
    /// Workers that died or stalled.
    pub(crate) died: usize,
    pub(crate) stalled: usize,
    /// Dead letters.
    pub(crate) parked: usize,
    /// Feeds trimmed by the end.
    pub(crate) trimmed: usize,
}

impl HistoryStats {
    /// Asserts that the histories contained every kind of fault.
    pub(crate) fn assert_worthwhile(self) {
        let Self { pages, entries, copied, interrupted, died, stalled, parked, trimmed } = self;
        let all = [pages, entries, copied, interrupted, died, stalled, parked, trimmed];
        assert!(all.iter().all(|count| *count > 0), "nothing came of too much: {self:?}");
    }
}

impl Add for HistoryStats {
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
