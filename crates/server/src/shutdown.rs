//! The shutdown signal that every part of a process waits for.

use tokio::sync::watch;

/// Receives the shutdown signal; clones receive the same one.
#[derive(Clone, Debug)]
pub struct ShutdownSignal(watch::Receiver<bool>);

/// Sends the shutdown signal, also when dropped.
#[derive(Debug)]
pub struct ShutdownTrigger(watch::Sender<bool>);

impl ShutdownTrigger {
    pub fn new() -> (Self, ShutdownSignal) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), ShutdownSignal(receiver))
    }

    pub fn trigger(&self) {
        self.0.send_replace(true);
    }
}

impl ShutdownSignal {
    pub async fn triggered(mut self) {
        // A dropped trigger counts as triggered.
        let _ = self.0.wait_for(|triggered| *triggered).await;
    }

    pub fn is_triggered(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// The result of `other`, or `None` if the signal comes first.
    pub(crate) async fn unless_triggered<T>(&self, other: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            () = self.clone().triggered() => None,
            done = other => Some(done),
        }
    }
}
