//! A response body that counts as its request until it is written, or its client is gone.
//!
//! hyper drops a body when it has taken the last bytes of it. Those may be megabytes, which a client reads
//! for a minute; so they count as the request, too.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

/// A body with something that is kept until all of its bytes are dropped.
#[derive(Debug)]
pub(super) struct GuardedBody<G> {
    body: Body,
    guard: Arc<G>,
}

/// Bytes that hyper has. They are dropped when they are written, or with the connection.
struct GuardedChunk<G> {
    bytes: Bytes,
    _guard: Arc<G>,
}

impl<G> GuardedBody<G> {
    pub(super) fn new(body: Body, guard: G) -> Self {
        Self { body, guard: Arc::new(guard) }
    }
}

impl<G: Send + Sync + 'static> HttpBody for GuardedBody<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        let guarded = |bytes| {
            let guard = Arc::clone(&self.guard);
            Bytes::from_owner(GuardedChunk { bytes, _guard: guard })
        };
        polled.map(|frame| frame.map(|frame| frame.map(|frame| frame.map_data(guarded))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<G> AsRef<[u8]> for GuardedChunk<G> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn bytes_that_are_not_written_count_as_the_request() {
        let request = Arc::new(());
        let mut body = GuardedBody::new(Body::from("answer"), Arc::clone(&request));
        let chunk = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(body.frame().await.is_none());
        drop(body);
        assert_eq!((&chunk[..], Arc::strong_count(&request)), (&b"answer"[..], 2));
        let rest = chunk.slice(3..);
        drop(chunk);
        assert_eq!(Arc::strong_count(&request), 2);
        drop(rest);
        assert_eq!(Arc::strong_count(&request), 1);
    }
}
