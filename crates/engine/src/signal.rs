//! A condition variable without a value of its own.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Wakes waiters; the condition they wait for is stored elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Signal {
    /// Makes every waiter check its condition again.
    pub(crate) fn notify(&self) {
        // Taken, so that no waiter is between its check and its wait.
        drop(self.lock.lock());
        self.condvar.notify_all();
    }

    /// Waits until `waiting` is false, at most for `timeout`; returns whether it became false.
    pub(crate) fn wait_while(&self, waiting: impl Fn() -> bool, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut guard = self.lock.lock();
        while waiting() {
            if self.condvar.wait_until(&mut guard, deadline).timed_out() {
                return !waiting();
            }
        }
        true
    }
}
