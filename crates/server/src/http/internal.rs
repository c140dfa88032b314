//! Requests between processes of one installation.

use std::convert::Infallible;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures::StreamExt as _;
use tokio::sync::broadcast::Receiver;
use tokio::time::timeout;

use super::AppState;
use super::credentials::credential;
use super::responses::{error_response, not_found};
use crate::connections::OpenConnection;
use crate::relay::{KEEPALIVE, WORKER};
use crate::tokens::invalid_token;

/// Streams the changes that this worker reads from now on.
pub(super) async fn changes(
    State(app): State<AppState>,
    connection: Option<Extension<OpenConnection>>,
    headers: HeaderMap,
) -> Response {
    let credential = match credential(&headers) {
        Ok(Some(credential)) => credential,
        Ok(None) => return error_response(invalid_token()),
        Err(error) => return error_response(error),
    };
    if !app.process.tokens.is_internal(credential).await {
        return error_response(invalid_token());
    }
    if let Some(Extension(connection)) = connection {
        connection.keep();
    }
    let Some(workers) = &app.process.workers else { return not_found().await };
    let Ok(name) = HeaderValue::from_str(&workers.own_name) else { return not_found().await };
    let shutdown = app.shutdown.clone();
    let lines = futures::stream::unfold(app.process.relay_server.subscribe(), next);
    let lines = lines.take_until(shutdown.triggered());
    let mut response = Body::from_stream(lines).into_response();
    response.headers_mut().insert(HeaderName::from_static(WORKER), name);
    response
}

/// The next line. A receiver that lags too far behind is disconnected, and recovers by itself.
async fn next(mut from: Receiver<Bytes>) -> Option<(Result<Bytes, Infallible>, Receiver<Bytes>)> {
    let line = match timeout(KEEPALIVE, from.recv()).await {
        Ok(line) => line.ok()?,
        Err(_) => Bytes::from_static(b"\n"),
    };
    Some((Ok(line), from))
}
