//! The word that there is work: idle workers hear of a job at once when it was asked for in this process,
//! and of all others when they look again.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How often work was asked for.
#[derive(Debug)]
pub(crate) struct Asked(watch::Sender<u64>);

/// Whoever waits for that.
#[derive(Debug)]
pub(crate) struct Listener(watch::Receiver<u64>);

impl Default for Asked {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Asked {
    /// There is work.
    pub(crate) fn say(&self) {
        self.0.send_modify(|times| *times += 1);
    }

    pub(crate) fn listener(&self) -> Listener {
        Listener(self.0.subscribe())
    }
}

impl Listener {
    /// What was said before this has been heard.
    pub(crate) fn hear(&mut self) {
        self.0.borrow_and_update();
    }

    /// Waits until there is something new to be heard, for so long at most.
    pub(crate) async fn wait(&mut self, at_most: Duration) {
        // The sender lives as long as the workers do. Whether it was time or word does not matter.
        let _ = timeout(at_most, self.0.changed()).await;
    }
}
