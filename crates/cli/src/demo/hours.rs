//! The time of the sample town, in which weeks pass within seconds.

use std::sync::atomic::{AtomicU64, Ordering};

use roundtable_table::Clock;

/// A clock that goes on when told to, and never back.
#[derive(Debug)]
pub(super) struct Hours(AtomicU64);

impl Hours {
    /// A clock that begins here, in milliseconds since the epoch.
    pub(super) const fn from_ms(ms: u64) -> Self {
        Self(AtomicU64::new(ms))
    }

    /// It is as late as this, at least.
    pub(super) fn reach_ms(&self, ms: u64) {
        self.0.fetch_max(ms, Ordering::SeqCst);
    }
}

impl Clock for Hours {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}
