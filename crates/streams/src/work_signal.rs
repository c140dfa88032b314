//! Wakes idle workers as soon as this process enqueues a job. Workers find jobs of other processes
//! by polling.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// Counts the notifications sent.
#[derive(Debug)]
pub(crate) struct WorkSignal(watch::Sender<u64>);

#[derive(Debug)]
pub(crate) struct WorkSignalReceiver(watch::Receiver<u64>);

impl Default for WorkSignal {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl WorkSignal {
    pub(crate) fn notify(&self) {
        self.0.send_modify(|times| *times += 1);
    }

    pub(crate) fn subscribe(&self) -> WorkSignalReceiver {
        WorkSignalReceiver(self.0.subscribe())
    }
}

impl WorkSignalReceiver {
    /// Marks all earlier notifications as seen.
    pub(crate) fn mark_seen(&mut self) {
        self.0.borrow_and_update();
    }

    /// Waits for the next notification, for at most `at_most`.
    pub(crate) async fn wait(&mut self, at_most: Duration) {
        // The sender lives as long as the workers do. A timeout and a notification are handled
        // alike.
        let _ = timeout(at_most, self.0.changed()).await;
    }
}
