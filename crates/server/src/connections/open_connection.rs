//! A connection, as the requests on it know it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::HttpBody;
use axum::http::{Request, Version};
use roundtable_model::UserId;
use tokio::sync::OwnedSemaphorePermit;

use super::received_bytes::{HTTP2_WINDOW_BYTES, NoRoomToReceive, ReceivedBytes, ReceivedRequest};
use crate::connection_slots::{ConnectionSlot, SlotWork};

/// The bytes that a header takes beside its name and value, as HTTP/2 counts them.
const HEADER_OVERHEAD_BYTES: usize = 32;

/// An open connection. It has its slot and its permit until the last clone is dropped; a WebSocket keeps one.
#[derive(Clone, Debug)]
pub(crate) struct OpenConnection(Arc<ConnectionState>);

#[derive(Debug)]
struct ConnectionState {
    peer: SocketAddr,
    slot: ConnectionSlot,
    received: ReceivedBytes,
    is_signed_in: AtomicBool,
    _permit: OwnedSemaphorePermit,
}

/// A request under way on a connection, until this is dropped.
#[derive(Debug)]
pub(crate) struct RequestUnderWay {
    _slot: SlotWork,
    _received: ReceivedRequest,
}

impl OpenConnection {
    pub(super) fn new(
        peer: SocketAddr,
        slot: ConnectionSlot,
        received: ReceivedBytes,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        let is_signed_in = AtomicBool::new(false);
        Self(Arc::new(ConnectionState { peer, slot, received, is_signed_in, _permit: permit }))
    }

    pub(crate) fn peer(&self) -> SocketAddr {
        self.0.peer
    }

    pub(crate) fn received(&self) -> &ReceivedBytes {
        &self.0.received
    }

    /// Counts a request whose head has arrived.
    pub(crate) fn start<B: HttpBody>(
        &self,
        request: &Request<B>,
    ) -> Result<RequestUnderWay, NoRoomToReceive> {
        let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
        let headers = request.headers().iter();
        let headers = headers
            .map(|(name, value)| name.as_str().len() + value.len() + HEADER_OVERHEAD_BYTES)
            .sum::<usize>();
        // With HTTP/1, a body is received when it is asked for.
        let body = match request.version() {
            Version::HTTP_2 => {
                usize::try_from(request.body().size_hint().upper().unwrap_or(u64::MAX))
                    .map_or(HTTP2_WINDOW_BYTES, |bytes| bytes.min(HTTP2_WINDOW_BYTES))
            }
            _ => 0,
        };
        let received = self.0.received.start(target + headers, body)?;
        Ok(RequestUnderWay { _slot: self.0.slot.work(), _received: received })
    }

    /// Keeps the connection for the account of a valid credential on it.
    pub(crate) fn sign_in(&self, account: &UserId) {
        if self.0.is_signed_in.load(Ordering::Relaxed) {
            return;
        }
        // An account with too many connections is served on further ones, until others need them.
        if self.0.slot.keep_for(account).is_ok() {
            self.0.is_signed_in.store(true, Ordering::Relaxed);
            self.0.received.trust();
        }
    }

    /// Keeps the connection for another process of the installation.
    pub(crate) fn keep(&self) {
        self.0.slot.keep();
        self.0.received.trust();
    }

    /// Ends when another connection has got the slot of this one.
    pub(crate) async fn displaced(&self) {
        self.0.slot.displaced().await;
    }

    pub(crate) fn work(&self) -> SlotWork {
        self.0.slot.work()
    }

    /// Ends when nothing has been under way for this long.
    pub(super) async fn idle(&self, limit: Duration) {
        self.0.received.idle(limit).await;
    }
}
