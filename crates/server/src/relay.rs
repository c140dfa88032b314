//! Changes on their way from the workers that read them to the processes that answer requests, over an
//! internal connection: `GET /internal/changes`, with a token that only processes of the installation can
//! sign. Workers keep nothing for whoever is not there.
//!
//! Whoever was cut off has missed something, and so has whoever does not know of a worker. A process
//! relies on what it remembers only while it hears every worker there is: those that it was told of, and
//! those that have announced themselves where the shards of the stream are shared.

mod hearing;
mod line;

use std::time::Duration;

use bytes::Bytes;
use roundtable_table::Change;
use tokio::sync::broadcast;

pub(crate) use self::hearing::Hearing;

/// Where changes are to be had.
pub(crate) const PATH: &str = "/internal/changes";
/// What a worker that tells of changes is called.
pub(crate) const WORKER: &str = "x-roundtable-worker";
/// Batches that wait for one who listens; whoever is further behind is cut off.
const BATCHES_MAX: usize = 256;
/// A worker with nothing to tell says so at least as often.
pub(crate) const STILL_HERE: Duration = Duration::from_secs(5);

/// What a worker tells.
#[derive(Clone, Debug)]
pub(crate) struct Relay(broadcast::Sender<Bytes>);

impl Relay {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(BATCHES_MAX))
    }

    /// Tells whoever listens.
    pub(crate) fn tell(&self, changes: &[Change]) {
        if self.0.receiver_count() > 0 && !changes.is_empty() {
            // Nobody left meanwhile is nobody's loss.
            let _ = self.0.send(line::write(changes));
        }
    }

    /// Somebody listens.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Bytes> {
        self.0.subscribe()
    }
}
