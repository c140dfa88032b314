//! The wish to stop, heard between two pieces of work and while waiting for the next.

use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, select};
use tokio::sync::watch;

/// Tells everything under way to finish what it does, and no more.
#[derive(Debug)]
pub(crate) struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Stop {
    pub(crate) fn set(&self, to: bool) {
        self.0.send_replace(to);
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is set.
    pub(crate) async fn reached(&self) {
        let mut wish = self.0.subscribe();
        // The sender lives as long as this, so it cannot be gone.
        let _ = wish.wait_for(|set| *set).await;
    }

    /// What `waiting` waits for, unless the wish to stop comes first.
    pub(crate) async fn unless<T>(&self, waiting: impl Future<Output = T>) -> Option<T> {
        let (stopped, waiting) = (self.reached().boxed(), std::pin::pin!(waiting));
        match select(waiting, stopped).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }

    /// Waits this long, or until it is set.
    pub(crate) async fn pause(&self, long: Duration) {
        self.unless(tokio::time::sleep(long)).await;
    }
}
