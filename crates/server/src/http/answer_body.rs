//! Response bodies of answers, and the deadline for taking them.
//!
//! hyper polls a body only while the peer permits more bytes. An HTTP/2 client that never does, but
//! answers pings, would keep its answers for ever: no write is blocked, and no time-out of hyper applies.
//! So each answer is watched from outside of its response. If the client takes nothing of it for too
//! long, its connection is closed, which alone frees what hyper has buffered.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Version;
use axum::http::request::Parts;
use bytes::Bytes;
use futures::stream;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;

use super::AppState;
use crate::metrics::ServerMetrics;

/// An answer up to this size is sent as a whole, such as an ordinary feed page of 45 KB.
const WHOLE_BYTES_MAX: usize = 64 << 10;
/// A longer one is sent in chunks, each of which has the time limit: a frame of HTTP/2. At its end three
/// of them may wait at the same time, so that a client at 40 kbit/s is fast enough.
const CHUNK_BYTES: usize = 16 << 10;

/// Asks the task that serves a connection to close it, because its client leaves an answer unread.
#[derive(Clone, Debug, Default)]
pub(crate) struct StallSignal(Arc<Notify>);

/// The connection of a request, as far as its answer depends on it.
#[derive(Clone, Debug)]
pub(super) struct ClientConnection {
    is_http2: bool,
    stall: StallSignal,
    /// Time to take a chunk.
    limit: Duration,
    metrics: Arc<ServerMetrics>,
}

/// Sends answers as the body of one response, in chunks, while its client takes them.
#[derive(Debug)]
pub(super) struct AnswerSender {
    connection: ClientConnection,
    chunks: mpsc::Sender<io::Result<Bytes>>,
    /// A place for the error, so that an answer that was cut off never looks complete.
    error: Option<mpsc::OwnedPermit<io::Result<Bytes>>>,
    last: Option<DropNotice>,
}

/// The reason that an answer was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsent {
    Disconnected,
    /// The client is connected and takes nothing.
    TimedOut,
}

/// Ends when the bytes that it was made with are dropped.
type DropNotice = oneshot::Receiver<Infallible>;

struct TrackedBytes {
    bytes: Bytes,
    _dropped: oneshot::Sender<Infallible>,
}

impl StallSignal {
    pub(crate) async fn raised(&self) {
        self.0.notified().await;
    }

    fn raise(&self) {
        self.0.notify_one();
    }
}

impl ClientConnection {
    pub(super) fn of(app: &AppState, head: &Parts) -> Self {
        Self {
            is_http2: head.version == Version::HTTP_2,
            stall: head.extensions.get().cloned().unwrap_or_default(),
            limit: Duration::from_secs(app.process.settings.live.slow_seconds.max(1)),
            metrics: Arc::clone(&app.metrics),
        }
    }

    /// Returns a body of one answer.
    pub(super) fn body(&self, answer: Bytes) -> Body {
        if !self.is_http2 {
            return Body::from(answer);
        }
        if answer.len() <= WHOLE_BYTES_MAX {
            let (answer, dropped) = track(answer);
            let connection = self.clone();
            tokio::spawn(async move { connection.await_drop(dropped).await });
            return Body::from(answer);
        }
        let (mut sender, body) = self.sender();
        tokio::spawn(async move {
            if sender.send(answer).await.is_ok() {
                let _ = sender.finish().await;
            }
        });
        body
    }

    /// Returns a body, and the sender of its answers.
    pub(super) fn sender(&self) -> (AnswerSender, Body) {
        // One chunk, and the error.
        let (chunks, from) = mpsc::channel(2);
        let error = chunks.clone().try_reserve_owned().ok();
        let body = stream::unfold(from, async |mut from: mpsc::Receiver<_>| {
            let chunk: io::Result<Bytes> = from.recv().await?;
            Some((chunk, from))
        });
        let connection = self.clone();
        let sender = AnswerSender { connection, chunks, error, last: None };
        (sender, Body::from_stream(body))
    }

    /// Waits until the last bytes of an answer are with the operating system.
    async fn await_drop(&self, dropped: DropNotice) -> Result<(), Unsent> {
        // With HTTP/1, what is not taken blocks a write, which has a time limit.
        if !self.is_http2 {
            return Ok(());
        }
        match timeout(self.limit, dropped).await {
            Ok(_) => Ok(()),
            Err(_) => Err(self.stalled()),
        }
    }

    fn stalled(&self) -> Unsent {
        self.metrics.record_slow_client();
        self.stall.raise();
        Unsent::TimedOut
    }
}

impl AnswerSender {
    /// Sends an answer; the end of it may still wait for the client.
    pub(super) async fn send(&mut self, answer: Bytes) -> Result<(), Unsent> {
        let (mut rest, dropped) = track(answer);
        self.last = Some(dropped);
        while !rest.is_empty() {
            let chunk = rest.split_to(CHUNK_BYTES.min(rest.len()));
            match timeout(self.connection.limit, self.chunks.send(Ok(chunk))).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(Unsent::Disconnected),
                Err(_) => return Err(self.cut_off()),
            }
        }
        Ok(())
    }

    /// Waits until the client has taken the end of the last answer. Not for responses that may be
    /// compressed: the compressor drops what it has read when it reads more.
    pub(super) async fn taken(&mut self) -> Result<(), Unsent> {
        match self.last.take() {
            Some(dropped) => self.connection.await_drop(dropped).await,
            None => Ok(()),
        }
    }

    /// Ends the body, and waits until the client has taken all of it.
    pub(super) async fn finish(self) -> Result<(), Unsent> {
        let Self { connection, chunks, error, last } = self;
        drop((chunks, error));
        match last {
            Some(dropped) => connection.await_drop(dropped).await,
            None => Ok(()),
        }
    }

    /// Ends when the response is dropped.
    pub(super) async fn closed(&self) {
        self.chunks.closed().await;
    }

    fn cut_off(&mut self) -> Unsent {
        if let Some(permit) = self.error.take() {
            let slow = io::Error::new(io::ErrorKind::TimedOut, "the client reads too slowly");
            permit.send(Err(slow));
        }
        self.connection.stalled()
    }
}

fn track(bytes: Bytes) -> (Bytes, DropNotice) {
    let (dropped, notice) = oneshot::channel();
    (Bytes::from_owner(TrackedBytes { bytes, _dropped: dropped }), notice)
}

impl AsRef<[u8]> for TrackedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
impl ClientConnection {
    pub(super) fn for_test(is_http2: bool, limit: Duration) -> Self {
        let (stall, metrics) = (StallSignal::default(), Arc::new(ServerMetrics::new()));
        Self { is_http2, stall, limit, metrics }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use tokio::time::{Instant, sleep};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    fn connection() -> ClientConnection {
        ClientConnection::for_test(true, LIMIT)
    }

    /// Waits until the connection is to be closed; returns whether it is.
    async fn is_closed(connection: &ClientConnection) -> bool {
        timeout(LIMIT * 2, connection.stall.raised()).await.is_ok()
    }

    async fn next_chunk(body: &mut Body) -> Option<Bytes> {
        Some(body.frame().await?.ok()?.into_data().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_a_chunk_in_time_gets_the_whole_answer() {
        let answer: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let connection = connection();
        let mut body = connection.body(Bytes::from(answer.clone()));
        let mut read = Vec::new();
        while let Some(chunk) = next_chunk(&mut body).await {
            assert!(chunk.len() <= CHUNK_BYTES);
            read.extend_from_slice(&chunk);
            drop(chunk);
            sleep(Duration::from_secs(9)).await;
        }
        assert!(read == answer);
        assert!(!is_closed(&connection).await);
    }

    /// The window of the client may be zero, so that nothing asks for the body; or it asked for one chunk,
    /// which hyper keeps.
    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_taken_closes_its_connection() {
        let long = WHOLE_BYTES_MAX + 1;
        for (bytes, asked) in [(1, 0), (1, 1), (long, 0), (long, 2)] {
            let (connection, started) = (connection(), Instant::now());
            let mut body = connection.body(Bytes::from(vec![b' '; bytes]));
            let mut kept = Vec::new();
            for _ in 0..asked {
                kept.push(next_chunk(&mut body).await);
            }
            assert!(is_closed(&connection).await, "{bytes} bytes, {asked} chunks asked for");
            assert_eq!(started.elapsed(), LIMIT);
        }
    }

    /// The end of the answer is with hyper, and its response is over.
    #[tokio::test(start_paused = true)]
    async fn the_last_chunk_has_a_deadline_as_well() {
        let connection = connection();
        let mut body = connection.body(Bytes::from(vec![b' '; WHOLE_BYTES_MAX + 1]));
        let mut last = None;
        while let Some(chunk) = next_chunk(&mut body).await {
            last = Some(chunk);
        }
        drop(body);
        assert!(is_closed(&connection).await);
        drop(last);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_was_cut_off_does_not_look_complete() {
        let connection = connection();
        let body = connection.body(Bytes::from(vec![b' '; WHOLE_BYTES_MAX * 2]));
        assert!(is_closed(&connection).await);
        assert!(body.collect().await.is_err());
    }

    #[tokio::test]
    async fn a_client_that_disconnects_is_not_slow() {
        let (mut sender, body) = connection().sender();
        assert_eq!(sender.send(Bytes::from_static(b"one")).await, Ok(()));
        let disconnect = async { drop(body) };
        let (sent, ()) =
            futures::future::join(sender.send(Bytes::from_static(b"two")), disconnect).await;
        assert_eq!(sent, Err(Unsent::Disconnected));
        assert_eq!(sender.finish().await, Ok(()));
    }
}
