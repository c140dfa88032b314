//! Waking a thread that waits for something to change.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Wakes waiters; what they wait for lives elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Signal {
    /// Makes every waiter look again.
    pub(crate) fn notify(&self) {
        // Taken, so that no waiter is between its look and its sleep.
        drop(self.lock.lock());
        self.condvar.notify_all();
    }

    /// Waits until `waiting` is false, at most for `patience`; gives whether it became false.
    pub(crate) fn wait_while(&self, waiting: impl Fn() -> bool, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let mut guard = self.lock.lock();
        while waiting() {
            if self.condvar.wait_until(&mut guard, deadline).timed_out() {
                return !waiting();
            }
        }
        true
    }
}
