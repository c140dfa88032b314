//! The log of the feed cache, for live feeds.

use std::sync::Arc;

use parking_lot::RwLockWriteGuard;
use roundtable_model::ActivityId;
use tokio::sync::watch;

use super::super::cached_activity::CachedActivity;
use super::{FeedMemory, FeedMemoryState};

/// Activities kept for returning readers.
pub(super) const LOG_MAX: usize = 10_000;

impl FeedMemory {
    /// The log number after this activity and true; if it is unknown or `None`, the number of the
    /// next entry and false.
    pub(crate) fn number_after(&self, id: Option<&ActivityId>) -> (u64, bool) {
        let state = self.state.read();
        match id.and_then(|id| state.log.number_after(id)) {
            Some(number) => (number, true),
            None => (state.log.end(), false),
        }
    }

    /// At most `wanted` activities from this number on; `None` if some of them were dropped.
    pub(crate) fn log_from(&self, number: u64, wanted: usize) -> Option<Vec<Arc<CachedActivity>>> {
        self.state.read().log.from(number, wanted)
    }

    /// Changes with every new activity.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Releases the lock, then wakes waiting subscriptions.
    pub(super) fn publish(&self, state: RwLockWriteGuard<'_, FeedMemoryState>) {
        let end = state.log.end();
        drop(state);
        self.changed.send_if_modified(|seen| std::mem::replace(seen, end) != end);
    }
}
