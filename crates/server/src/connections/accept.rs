//! Accepts connections, as many as there are permits and descriptors for. Failures are retried: a lack of
//! descriptors passes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::descriptors::DescriptorLimit;
use crate::metrics::{DropReason, ServerMetrics};

/// Before the next `accept`, when there is no descriptor for another connection.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct ConnectionAcceptor {
    listener: TcpListener,
    permits: Arc<Semaphore>,
    descriptors: DescriptorLimit,
    metrics: Arc<ServerMetrics>,
    /// The last attempt failed: the next failure has the same reason, and is not logged again.
    has_failed: bool,
}

/// An open connection; it has its permit until this is dropped.
#[derive(Debug)]
pub(super) struct AcceptedConnection {
    pub(super) stream: TcpStream,
    pub(super) peer: SocketAddr,
    pub(super) permit: OwnedSemaphorePermit,
}

impl ConnectionAcceptor {
    pub(super) fn new(
        listener: TcpListener,
        connections_max: usize,
        descriptors: DescriptorLimit,
        metrics: Arc<ServerMetrics>,
    ) -> Self {
        let permits = Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS)));
        Self { listener, permits, descriptors, metrics, has_failed: false }
    }

    /// Returns the next connection, as soon as the limits permit one.
    pub(super) async fn next(&mut self) -> Option<AcceptedConnection> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) if self.descriptors.is_short(&stream) => {
                    drop(stream);
                    self.metrics.record_dropped_connection(DropReason::Descriptors);
                    self.retry_later("no descriptors are left but those for the store").await;
                }
                Ok((stream, peer)) => {
                    self.has_failed = false;
                    return Some(AcceptedConnection { stream, peer, permit });
                }
                Err(error) => self.retry_later(&error.to_string()).await,
            }
        }
    }

    async fn retry_later(&mut self, reason: &str) {
        if !self.has_failed {
            tracing::warn!(
                reason,
                "a connection could not be accepted; retrying (check the limit on open files)"
            );
        }
        self.has_failed = true;
        tokio::time::sleep(ACCEPT_RETRY).await;
    }
}
