//! The deadline for taking a response over HTTP/2.
//!
//! hyper takes bytes of a body before its client permits them to be sent, and keeps them. A client that
//! never does, but answers pings, would keep its responses for ever: no write is blocked, and no time-out
//! of hyper applies. So each response is watched from outside of hyper, behind its compression. If the
//! client takes nothing of it for too long, its connection is closed, which alone frees what hyper has.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// Bytes up to this size are sent as a whole, such as an ordinary feed page of 45 KB.
const WHOLE_BYTES_MAX: usize = 64 << 10;
/// Longer ones are sent in chunks, each of which has the time limit: a frame of HTTP/2. Several of them may
/// wait at the same time, so that a client at 40 kbit/s is fast enough.
const CHUNK_BYTES: usize = 16 << 10;

/// Tells the task that serves a connection to close it, because its client leaves a response unread.
#[derive(Clone, Debug, Default)]
pub(crate) struct StallSignal(Arc<UnreadResponses>);

/// The responses of one connection that are not sent yet.
#[derive(Debug, Default)]
struct UnreadResponses {
    list: Mutex<UnreadList>,
    /// One has a deadline, and before none had.
    has_deadline: Notify,
}

#[derive(Debug, Default)]
struct UnreadList {
    next_id: u64,
    responses: BTreeMap<u64, UnreadResponse>,
    /// True if the connection waits for a first deadline.
    is_asleep: bool,
}

#[derive(Debug)]
struct UnreadResponse {
    /// The time by which the client has to have taken more of it.
    deadline: Instant,
    /// The bytes that hyper has, and has not sent.
    chunks: usize,
    /// True while there is nothing more to send, such as an event.
    is_pending: bool,
}

/// Keeps a response in the list of its connection, until its body and all chunks of it are dropped.
#[derive(Debug)]
struct ResponseWatch {
    connection: Arc<UnreadResponses>,
    id: u64,
    limit: Duration,
}

#[derive(Debug)]
struct WatchedBody {
    body: Body,
    /// The rest of a long frame.
    rest: Bytes,
    watch: Arc<ResponseWatch>,
}

/// Bytes that hyper has. They are dropped when they are written, or with the connection.
struct WatchedChunk {
    bytes: Bytes,
    watch: Arc<ResponseWatch>,
}

impl StallSignal {
    /// Ends when the client has taken nothing of a response for too long.
    pub(crate) async fn raised(&self) {
        loop {
            match self.0.next_deadline() {
                None => self.0.has_deadline.notified().await,
                Some(deadline) if deadline <= Instant::now() => return,
                Some(deadline) => sleep_until(deadline).await,
            }
        }
    }

    /// Watches a response until it is sent.
    pub(super) fn watch(&self, response: Response, limit: Duration) -> Response {
        if response.body().is_end_stream() {
            return response;
        }
        let watch = Arc::new(ResponseWatch::new(Arc::clone(&self.0), limit));
        response.map(|body| Body::new(WatchedBody { body, rest: Bytes::new(), watch }))
    }
}

impl UnreadResponses {
    fn next_deadline(&self) -> Option<Instant> {
        let mut list = self.list.lock();
        let due = list.responses.values().filter(|response| response.has_deadline());
        let next = due.map(|response| response.deadline).min();
        list.is_asleep = next.is_none();
        next
    }
}

impl UnreadResponse {
    /// Returns whether it is the client that is waited for.
    const fn has_deadline(&self) -> bool {
        self.chunks > 0 || !self.is_pending
    }
}

impl ResponseWatch {
    fn new(connection: Arc<UnreadResponses>, limit: Duration) -> Self {
        let mut list = connection.list.lock();
        let id = list.next_id;
        list.next_id += 1;
        let deadline = Instant::now() + limit;
        list.responses.insert(id, UnreadResponse { deadline, chunks: 0, is_pending: false });
        let wakes = std::mem::take(&mut list.is_asleep);
        drop(list);
        if wakes {
            connection.has_deadline.notify_one();
        }
        Self { connection, id, limit }
    }

    fn update(&self, change: impl FnOnce(&mut UnreadResponse)) {
        let mut list = self.connection.list.lock();
        let Some(response) = list.responses.get_mut(&self.id) else { return };
        change(response);
        let wakes = response.has_deadline() && std::mem::take(&mut list.is_asleep);
        drop(list);
        if wakes {
            self.connection.has_deadline.notify_one();
        }
    }

    /// hyper asked for more, and there is none yet.
    fn record_pending(&self) {
        self.update(|response| response.is_pending = true);
    }

    /// Returns bytes for hyper. That it asks for more is no reason to wait longer for what it has.
    fn chunk(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        self.update(|response| {
            if response.chunks == 0 {
                response.deadline = Instant::now() + self.limit;
            }
            response.chunks += 1;
            response.is_pending = false;
        });
        Bytes::from_owner(WatchedChunk { bytes, watch: Arc::clone(self) })
    }
}

impl Drop for ResponseWatch {
    fn drop(&mut self) {
        self.connection.list.lock().responses.remove(&self.id);
    }
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let is_rest = !this.rest.is_empty();
        if !is_rest {
            let polled = Pin::new(&mut this.body).poll_frame(cx);
            if polled.is_pending() {
                this.watch.record_pending();
            }
            match ready!(polled).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(bytes))) => this.rest = bytes,
                Some(Ok(Err(frame))) => return Poll::Ready(Some(Ok(frame))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        let is_long = is_rest || this.rest.len() > WHOLE_BYTES_MAX;
        let length = if is_long { CHUNK_BYTES.min(this.rest.len()) } else { this.rest.len() };
        let bytes = this.rest.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(this.watch.chunk(bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, body) = (self.rest.len() as u64, self.body.size_hint());
        let mut all = SizeHint::new();
        all.set_lower(body.lower().saturating_add(rest));
        if let Some(upper) = body.upper() {
            all.set_upper(upper.saturating_add(rest));
        }
        all
    }
}

impl AsRef<[u8]> for WatchedChunk {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for WatchedChunk {
    fn drop(&mut self) {
        let limit = self.watch.limit;
        self.watch.update(|response| {
            response.chunks -= 1;
            response.deadline = Instant::now() + limit;
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use http_body_util::BodyExt as _;
    use tokio::time::{sleep, timeout};

    use super::*;
    use crate::http::responses::channel_body;

    const LIMIT: Duration = Duration::from_secs(10);

    fn watched(body: impl Into<Body>) -> (StallSignal, Body) {
        let stall = StallSignal::default();
        let response = stall.watch(Response::new(body.into()), LIMIT);
        (stall, response.into_body())
    }

    /// Waits until the connection is to be closed; returns whether it is.
    async fn is_closed(stall: &StallSignal) -> bool {
        timeout(LIMIT * 2, stall.raised()).await.is_ok()
    }

    async fn next_chunk(body: &mut Body) -> Option<Bytes> {
        Some(body.frame().await?.unwrap().into_data().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_a_chunk_in_time_gets_the_whole_response() {
        let answer: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let (stall, mut body) = watched(answer.clone());
        assert_eq!(body.size_hint().exact(), Some(1_200_000));
        let mut read = Vec::new();
        let reading = async {
            while let Some(chunk) = next_chunk(&mut body).await {
                assert!(chunk.len() <= CHUNK_BYTES);
                read.extend_from_slice(&chunk);
                sleep(Duration::from_secs(9)).await;
            }
        };
        tokio::select! {
            () = reading => {}
            () = stall.raised() => panic!("it was in time"),
        }
        assert!(read == answer);
        drop(body);
        assert!(!is_closed(&stall).await);
        assert!(stall.0.list.lock().responses.is_empty(), "nothing is kept of what was sent");
    }

    /// hyper may ask for a chunk and keep it, or not even ask.
    #[tokio::test(start_paused = true)]
    async fn a_response_that_is_not_taken_closes_its_connection() {
        let long = WHOLE_BYTES_MAX + 1;
        for (bytes, asked) in [(1, 0), (1, 1), (long, 0), (long, 2)] {
            let started = Instant::now();
            let (stall, mut body) = watched(vec![b' '; bytes]);
            let mut kept = Vec::new();
            for _ in 0..asked {
                kept.push(next_chunk(&mut body).await);
            }
            assert!(is_closed(&stall).await, "{bytes} bytes, {asked} chunks asked for");
            assert_eq!(started.elapsed(), LIMIT);
        }
    }

    /// The end of the response is with hyper, which dropped the body, and a compressor with it.
    #[tokio::test(start_paused = true)]
    async fn the_last_chunk_has_a_deadline_as_well() {
        let (stall, mut body) = watched(vec![b' '; WHOLE_BYTES_MAX + 1]);
        let mut last = None;
        while let Some(chunk) = next_chunk(&mut body).await {
            last = Some(chunk);
        }
        drop(body);
        assert!(is_closed(&stall).await);
        drop(last);
        assert!(!is_closed(&stall).await);
    }

    /// A subscription may be without an event for any time.
    #[tokio::test(start_paused = true)]
    async fn a_response_that_waits_for_the_server_has_no_deadline() {
        let (events, body) = channel_body(4);
        let (stall, mut body) = watched(body);
        assert!(next_chunk(&mut body).now_or_never().is_none());
        assert!(!is_closed(&stall).await);

        events.send(Bytes::from_static(b"one")).await.unwrap();
        let one = next_chunk(&mut body).await;
        sleep(LIMIT / 2).await;
        // hyper asks for the next, although its client has not taken this one.
        let started = Instant::now();
        events.send(Bytes::from_static(b"two")).await.unwrap();
        let two = next_chunk(&mut body).await;
        assert!(next_chunk(&mut body).now_or_never().is_none());
        assert!(is_closed(&stall).await);
        assert_eq!(started.elapsed(), LIMIT / 2);
        drop((one, two));
        assert!(!is_closed(&stall).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_waits_learns_of_a_deadline() {
        let (events, body) = channel_body(1);
        let (stall, mut body) = watched(body);
        assert!(next_chunk(&mut body).now_or_never().is_none());
        let started = Instant::now();
        let event = async {
            sleep(LIMIT).await;
            events.send(Bytes::from_static(b"one")).await.unwrap();
            next_chunk(&mut body).await
        };
        let (unread, ()) = futures::join!(event, stall.raised());
        assert_eq!(started.elapsed(), LIMIT * 2);
        drop(unread);
    }
}
