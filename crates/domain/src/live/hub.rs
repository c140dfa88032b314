//! Who listens to what: a channel for each matter that somebody listens to, and none for others.

use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use roundtable_model::table::Change;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::heard::{Happening, heard};
use super::{LiveError, Matter};
use crate::follower::{Follower, Hears};

/// Events that wait for a listener to one thing.
const NARROW: usize = 64;
/// Events that wait for a listener to everything of a kind.
const WIDE: usize = 1_024;

/// The channels of all matters.
#[derive(Debug, Default)]
pub(super) struct Hub {
    channels: Mutex<HashMap<Matter, broadcast::Sender<Arc<Happening>>>>,
    follower: Follower,
}

/// One listener's end of a channel, which is taken down with the last of them.
#[derive(Debug)]
pub(super) struct Ear {
    hub: Arc<Hub>,
    pub(super) matter: Matter,
    /// Why there is nothing to hear any more, once that is so.
    heard: Result<broadcast::Receiver<Arc<Happening>>, LiveError>,
}

impl Hub {
    pub(super) fn matters(&self) -> usize {
        self.channels.lock().len()
    }

    /// Listens to a matter from now on.
    pub(super) fn listen(self: &Arc<Self>, matter: Matter) -> Ear {
        let mut channels = self.channels.lock();
        let room = match &matter {
            Matter::Activities(None) | Matter::NewPosts(_) | Matter::Decisions(None) => WIDE,
            _ => NARROW,
        };
        let channel =
            channels.entry(matter.clone()).or_insert_with(|| broadcast::Sender::new(room));
        Ear { hub: Arc::clone(self), matter, heard: Ok(channel.subscribe()) }
    }

    /// Some changes were missed: all who listen learn that, and have to come again.
    pub(super) fn hang_up(&self) {
        self.channels.lock().clear();
    }

    /// Tells of changes. It never waits: whoever has no room left finds out.
    pub(super) fn tell(&self, changes: &[Change]) {
        for change in changes {
            // Not longer than it takes: most changes concern nobody.
            if self.channels.lock().is_empty() {
                return;
            }
            for (matters, happening) in heard(change) {
                let happening = Arc::new(happening);
                let channels = self.channels.lock();
                for channel in matters.iter().filter_map(|matter| channels.get(matter)) {
                    // Nobody may be left by now.
                    let _ = channel.send(Arc::clone(&happening));
                }
            }
        }
    }
}

impl Hears for Hub {
    fn follower(&self) -> &Follower {
        &self.follower
    }

    fn hear(&self, changes: &[Change]) {
        self.tell(changes);
    }

    fn begin(&self, is_gap: bool) {
        if is_gap {
            self.hang_up();
        }
    }
}

impl Ear {
    /// The next event; refused when some were lost, and from then on.
    pub(super) async fn next(&mut self) -> Result<Arc<Happening>, LiveError> {
        let heard = self.heard.as_mut().map_err(|lost| lost.clone())?;
        let lost = match heard.recv().await {
            Ok(happening) => return Ok(happening),
            Err(RecvError::Lagged(_)) => LiveError::TooSlow,
            // Hung up: it is no fault of who listens.
            Err(RecvError::Closed) => LiveError::Missed,
        };
        self.heard = Err(lost.clone());
        Err(lost)
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.heard = Err(LiveError::Missed);
        let mut channels = self.hub.channels.lock();
        if channels.get(&self.matter).is_some_and(|channel| channel.receiver_count() == 0) {
            channels.remove(&self.matter);
        }
    }
}
