//! Subscriptions over server-sent events, as the GraphQL-over-SSE protocol defines them: one per
//! connection, `next` for each event and `complete` at the end. After a connection that ends without
//! `complete`, the client reconnects.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use roundtable_domain::Code;
use roundtable_graphql::Request;
use roundtable_interface::ApiError;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::SendTimeoutError;

use super::AppState;
use super::responses::error_response;
use crate::answer_budget::ReservedAnswer;
use crate::authentication::ClientIdentity;
use crate::request_policy::AllowedOperations;

/// A comment line that keeps idle connections open.
const KEEPALIVE: Bytes = Bytes::from_static(b":\n\n");
const COMPLETE: Bytes = Bytes::from_static(b"event: complete\ndata:\n\n");

pub(super) fn respond(
    app: &AppState,
    request: Request,
    identity: ClientIdentity,
    allowed: AllowedOperations,
) -> Response {
    let Ok(permit) = Arc::clone(&app.live_permits).try_acquire_owned() else {
        return error_response(ApiError::new(
            Code::RateLimited,
            "too many live connections; try again later",
        ));
    };
    let (to, from) = mpsc::channel(app.process.settings.live.buffer_max.max(1));
    let app = app.clone();
    tokio::spawn(async move {
        let _guard = app.metrics.track_live_connection();
        let events = app.executor.execute_stream(request, &identity.client, allowed);
        send_events(&app, events, &identity, &to).await;
        drop(permit);
    });
    let body = futures::stream::unfold(from, async |mut from: mpsc::Receiver<Bytes>| {
        let event = from.recv().await?;
        Some((Ok::<_, Infallible>(event), from))
    });
    let mut response = Body::from_stream(body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Sends events until the stream ends, the client disconnects, or it stops reading.
async fn send_events(
    app: &AppState,
    mut events: BoxStream<'static, ReservedAnswer>,
    identity: &ClientIdentity,
    to: &mpsc::Sender<Bytes>,
) {
    let settings = &app.process.settings.live;
    let limit = Duration::from_secs(settings.slow_seconds.max(1));
    let expired = app.credential_expiry(identity);
    tokio::pin!(expired);
    let mut keepalive =
        tokio::time::interval(Duration::from_secs(settings.keepalive_seconds.max(1)));
    keepalive.tick().await;
    loop {
        let event = tokio::select! {
            () = to.closed() => return,
            // Ends without `complete`, so that the client reconnects.
            () = &mut expired => return,
            () = app.shutdown.clone().triggered() => return,
            _ = keepalive.tick() => KEEPALIVE,
            next = events.next() => match next {
                Some(answer) => answer.into_bytes_between(b"event: next\ndata: ", b"\n\n"),
                None => COMPLETE,
            },
        };
        let is_last = event == COMPLETE;
        let sent = send(to, event, limit).await;
        if sent == EventSend::TimedOut {
            app.metrics.record_slow_client();
        }
        if is_last || sent != EventSend::Sent {
            return;
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum EventSend {
    Sent,
    Disconnected,
    /// The client is connected but does not read.
    TimedOut,
}

async fn send(to: &mpsc::Sender<Bytes>, event: Bytes, limit: Duration) -> EventSend {
    match to.send_timeout(event, limit).await {
        Ok(()) => EventSend::Sent,
        Err(SendTimeoutError::Closed(_)) => EventSend::Disconnected,
        Err(SendTimeoutError::Timeout(_)) => EventSend::TimedOut,
    }
}

impl AppState {
    /// Waits until the client's credential expires.
    pub(super) async fn credential_expiry(&self, identity: &ClientIdentity) {
        let Some(expires_at) = identity.expires_at else { return std::future::pending().await };
        let now = self.process.services.context.clock().now_seconds();
        tokio::time::sleep(Duration::from_secs(expires_at.saturating_sub(now))).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_that_disconnects_is_not_slow() {
        let (to, from) = mpsc::channel(1);
        let (limit, soon) = (Duration::from_mins(1), Duration::from_millis(1));
        assert_eq!(send(&to, KEEPALIVE, limit).await, EventSend::Sent);
        assert_eq!(send(&to, KEEPALIVE, soon).await, EventSend::TimedOut);
        let disconnect = async { drop(from) };
        let (sent, ()) = futures::future::join(send(&to, KEEPALIVE, limit), disconnect).await;
        assert_eq!(sent, EventSend::Disconnected);
    }
}
