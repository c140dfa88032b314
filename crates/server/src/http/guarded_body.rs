//! A response body that counts as its request until it is sent, or its client is gone.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use crate::connections::RequestUnderWay;

#[derive(Debug)]
pub(super) struct GuardedBody {
    body: Body,
    _request: RequestUnderWay,
}

impl GuardedBody {
    pub(super) const fn new(body: Body, request: RequestUnderWay) -> Self {
        Self { body, _request: request }
    }
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
