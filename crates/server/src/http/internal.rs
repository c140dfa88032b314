//! What processes of one installation ask of each other.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures::StreamExt as _;
use tokio::sync::broadcast::Receiver;
use tokio::time::timeout;

use super::App;
use super::asking::proof;
use super::refusals::{nowhere, refused};
use crate::relay::{STILL_HERE, WORKER};
use crate::tokens::not_valid;

/// The changes that this worker reads, from now on.
pub(super) async fn changes(State(app): State<App>, headers: HeaderMap) -> Response {
    let proof = match proof(&headers) {
        Ok(Some(proof)) => proof,
        Ok(None) => return refused(not_valid()),
        Err(why) => return refused(why),
    };
    if !app.process.tokens.is_internal(proof).await {
        return refused(not_valid());
    }
    let Some(census) = &app.process.census else { return nowhere().await };
    let Ok(name) = HeaderValue::from_str(&census.me) else { return nowhere().await };
    let stopping = app.stopping.clone();
    let lines = futures::stream::unfold(app.process.relay.listen(), next);
    let lines = lines.take_until(stopping.wished());
    let mut response = Body::from_stream(lines).into_response();
    response.headers_mut().insert(HeaderName::from_static(WORKER), name);
    response
}

/// The next line. Whoever is too far behind is cut off: they know what to do.
async fn next(mut from: Receiver<Bytes>) -> Option<(Result<Bytes, Infallible>, Receiver<Bytes>)> {
    let line = match timeout(STILL_HERE, from.recv()).await {
        Ok(line) => line.ok()?,
        Err(_) => Bytes::from_static(b"\n"),
    };
    Some((Ok(line), from))
}
