//! The clock of the sample town, in which weeks pass within seconds.

use std::sync::atomic::{AtomicU64, Ordering};

use roundtable_table::Clock;

/// A clock that moves only forward, when told to.
#[derive(Debug)]
pub(super) struct TownClock(AtomicU64);

impl TownClock {
    pub(super) const fn from_ms(ms: u64) -> Self {
        Self(AtomicU64::new(ms))
    }

    /// Moves the clock forward to this time, if it is later.
    pub(super) fn advance_to_ms(&self, ms: u64) {
        self.0.fetch_max(ms, Ordering::SeqCst);
    }
}

impl Clock for TownClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}
