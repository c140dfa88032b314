//! The signal to stop, checked between units of work and while waiting.

use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, select};
use tokio::sync::watch;

/// Asks running work to finish its current unit and stop.
#[derive(Debug)]
pub(crate) struct StopSignal(watch::Sender<bool>);

impl Default for StopSignal {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl StopSignal {
    pub(crate) fn set(&self, to: bool) {
        self.0.send_replace(to);
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) async fn wait_set(&self) {
        let mut signal = self.0.subscribe();
        // The sender lives as long as `self`, so the channel cannot be closed.
        let _ = signal.wait_for(|set| *set).await;
    }

    /// Runs `waiting`. Returns `None` if the signal is set first.
    pub(crate) async fn run_until_set<T>(&self, waiting: impl Future<Output = T>) -> Option<T> {
        let (stopped, waiting) = (self.wait_set().boxed(), std::pin::pin!(waiting));
        match select(waiting, stopped).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }

    /// Sleeps for `duration`, or until the signal is set.
    pub(crate) async fn sleep(&self, duration: Duration) {
        self.run_until_set(tokio::time::sleep(duration)).await;
    }
}
