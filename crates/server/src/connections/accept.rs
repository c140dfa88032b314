//! Accepts connections, as many as there are slots and descriptors for. Failures are retried: a lack of
//! descriptors passes.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::open_connection::OpenConnection;
use crate::client_key::ClientNetwork;
use crate::descriptors::DescriptorLimit;
use crate::http::AppState;
use crate::metrics::DropReason;

/// Before the next `accept`, when there is no descriptor for another connection.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
/// Connections that are being closed, because others have got their slots. Further ones wait for them.
const CLOSING_MAX: usize = 32;

#[derive(Debug)]
pub(super) struct ConnectionAcceptor {
    listener: TcpListener,
    app: AppState,
    permits: Arc<Semaphore>,
    descriptors: DescriptorLimit,
    /// The last attempt failed: the next failure has the same reason, and is not logged again.
    has_failed: bool,
}

impl ConnectionAcceptor {
    pub(super) fn new(listener: TcpListener, app: AppState, descriptors: DescriptorLimit) -> Self {
        let permits = app.connections_max.saturating_add(CLOSING_MAX).min(Semaphore::MAX_PERMITS);
        let permits = Arc::new(Semaphore::new(permits));
        Self { listener, app, permits, descriptors, has_failed: false }
    }

    /// Returns the next connection, as soon as the limits permit one.
    pub(super) async fn next(&mut self) -> Option<(TcpStream, OpenConnection)> {
        loop {
            let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
            let (stream, peer) = match self.listener.accept().await {
                Ok((stream, _)) if self.descriptors.is_short(&stream) => {
                    drop(stream);
                    self.app.metrics.record_dropped_connection(DropReason::Descriptors);
                    self.retry_later("no descriptors are left but those for the store").await;
                    continue;
                }
                Ok(accepted) => accepted,
                Err(error) => {
                    self.retry_later(&error.to_string()).await;
                    continue;
                }
            };
            self.has_failed = false;
            // Proxies of the installation have many clients each.
            let has_proxies = self.app.process.settings.http.proxies > 0;
            let network = (!has_proxies).then(|| ClientNetwork::of(Some(peer.ip())));
            match self.app.connection_slots.enter(network) {
                Ok(slot) => {
                    let received = self.app.receive_budget.open(network);
                    return Some((stream, OpenConnection::new(peer, slot, received, permit)));
                }
                Err(_) => self.app.metrics.record_dropped_connection(DropReason::Full),
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
