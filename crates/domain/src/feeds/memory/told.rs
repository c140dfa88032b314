//! What memory tells those who wait: the activities in the order in which it heard of them.

use std::sync::Arc;

use parking_lot::RwLockWriteGuard;
use roundtable_model::ActivityId;
use tokio::sync::watch;

use super::super::entry::Entry;
use super::{Memory, State};

/// Activities that can still be told to those who come back.
pub(super) const LOG_MAX: usize = 10_000;

impl Memory {
    /// The number of the activity that was heard of next after this one, or will be, and whether that
    /// is known; if it is not, or nothing is asked about, the number of the next one of all.
    pub(crate) fn behind(&self, id: Option<&ActivityId>) -> (u64, bool) {
        let state = self.state.read();
        match id.and_then(|id| state.log.behind(id)) {
            Some(number) => (number, true),
            None => (state.log.end(), false),
        }
    }

    /// At most so many activities from this number on; `None` if some of them are forgotten.
    pub(crate) fn log_from(&self, number: u64, wanted: usize) -> Option<Vec<Arc<Entry>>> {
        self.state.read().log.from(number, wanted)
    }

    /// Changes whenever another activity is heard of.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.told.subscribe()
    }

    /// Wakes those who wait, once what they wait for can be seen.
    pub(super) fn tell(&self, state: RwLockWriteGuard<'_, State>) {
        let end = state.log.end();
        drop(state);
        self.told.send_if_modified(|told| std::mem::replace(told, end) != end);
    }
}
