//! What follows from what happened in a town: counters, scores, purges.

use roundtable_streams::{Runner, Setup};

use crate::Town;

impl Town {
    /// Everything that follows from what happened so far has followed: the stream was read to its end
    /// by every processor, and what they left for later is done. What they could not do is parked.
    pub async fn settle(&self) {
        self.runner().drain().await.unwrap();
    }

    /// The runner of this town: its figures, and its dead letters. Nothing is remembered between two of
    /// them but what is stored.
    pub fn runner(&self) -> Runner {
        Setup::everything_at_once(self.ground()).storing(self.shelf().clone()).build()
    }
}
