//! The wish that a process stops, heard by everything in it.

use tokio::sync::watch;

/// Hears the wish to stop; clones hear the same.
#[derive(Clone, Debug)]
pub struct Stopping(watch::Receiver<bool>);

/// Makes the wish. When it is gone, everything stops, too.
#[derive(Debug)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// One who can wish, and one who hears it.
    pub fn new() -> (Self, Stopping) {
        let (wish, heard) = watch::channel(false);
        (Self(wish), Stopping(heard))
    }

    /// Everything is to stop.
    pub fn wish(&self) {
        self.0.send_replace(true);
    }
}

impl Stopping {
    /// Waits for the wish.
    pub async fn wished(mut self) {
        // Gone without a word is a wish, too.
        let _ = self.0.wait_for(|wished| *wished).await;
    }

    /// Whether it came.
    pub fn is_wished(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// What `other` comes to, unless the wish comes first.
    pub(crate) async fn unless<T>(&self, other: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            () = self.clone().wished() => None,
            done = other => Some(done),
        }
    }
}
