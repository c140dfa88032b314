//! The relay of changes from the workers that read the stream to the processes that answer requests:
//! `GET /internal/changes`, with a token that only processes of the installation can sign. Workers
//! buffer nothing for a disconnected process.
//!
//! A process that was disconnected, or that does not know of a worker, has missed changes. So it trusts
//! its caches only while it is connected to every active worker: those that have announced themselves
//! through the stream's leases, in general with their address. One that died is active until its
//! announcement expires.

mod client;
mod wire;

use std::time::Duration;

use bytes::Bytes;
use roundtable_table::Change;
use tokio::sync::broadcast;

pub(crate) use self::client::{RelayClient, worker_uri};

pub(crate) const PATH: &str = "/internal/changes";
/// The response header with the worker's name.
pub(crate) const WORKER: &str = "x-roundtable-worker";
/// Batches buffered for one receiver; one that lags further is disconnected.
const BATCHES_MAX: usize = 256;
/// The interval of keep-alive lines.
pub(crate) const KEEPALIVE: Duration = Duration::from_secs(5);

/// Sends the changes that this worker reads to connected processes.
#[derive(Clone, Debug)]
pub(crate) struct RelayServer(broadcast::Sender<Bytes>);

impl RelayServer {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(BATCHES_MAX))
    }

    /// Sends changes to all receivers.
    pub(crate) fn send(&self, changes: &[Change]) {
        if self.0.receiver_count() > 0 && !changes.is_empty() {
            // Without receivers there is nothing to do.
            let _ = self.0.send(wire::write(changes));
        }
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Bytes> {
        self.0.subscribe()
    }
}
