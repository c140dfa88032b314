//! Subscriptions over server-sent events, as the GraphQL-over-SSE protocol defines them: one per
//! connection, `next` for each event and `complete` at the end. After a connection that ends without
//! `complete`, the client reconnects.

use std::time::Duration;

use axum::http::{Extensions, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use roundtable_graphql::Request;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::SendTimeoutError;
use tracing::Instrument as _;

use super::AppState;
use super::live_connection::LiveConnection;
use super::responses::{channel_body, error_response};
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
    extensions: &Extensions,
) -> Response {
    let live = LiveConnection::open(app, identity.client.address, extensions);
    let live = live.and_then(|live| live.sign_in(&identity.client).map(|()| live));
    let live = match live {
        Ok(live) => live,
        Err(error) => return error_response(error),
    };
    let settings = &app.process.settings.live;
    let (to, body) = channel_body(settings.buffer_max.max(1));
    let pace = Pace {
        keepalive: Duration::from_secs(settings.keepalive_seconds.max(1)),
        slow: Duration::from_secs(settings.slow_seconds.max(1)),
    };
    let app = app.clone();
    let serve = async move {
        let (_guard, _work) = (app.metrics.track_live_connection(), live.work());
        let events = app.executor.execute_stream(request, &identity.client, allowed);
        let ended = async {
            tokio::select! {
                _ = app.credential_end(&identity) => {}
                () = app.shutdown.clone().triggered() => {}
                () = live.displaced() => app.metrics.record_displaced_live_connection(),
            }
        };
        if send_events(events, ended, pace, &to).await == EventSend::TimedOut {
            app.metrics.record_slow_client();
        }
    };
    tokio::spawn(serve.in_current_span());
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

#[derive(Clone, Copy)]
struct Pace {
    keepalive: Duration,
    /// Time that an event may wait for a place in the queue.
    slow: Duration,
}

/// Queues events until the stream or the session ends, the client disconnects, or it stops reading.
async fn send_events(
    mut events: BoxStream<'static, ReservedAnswer>,
    ended: impl Future<Output = ()>,
    pace: Pace,
    to: &mpsc::Sender<Bytes>,
) -> EventSend {
    tokio::pin!(ended);
    let mut keepalive = tokio::time::interval(pace.keepalive);
    keepalive.tick().await;
    loop {
        let event = tokio::select! {
            () = to.closed() => return EventSend::Disconnected,
            // Ends without `complete`, so that the client reconnects.
            () = &mut ended => return EventSend::Sent,
            _ = keepalive.tick() => {
                // Never waits: the next event may have a permit of the scheduler already, and would keep it
                // while nothing polls it. A full queue keeps the connection open as well.
                let _ = to.try_send(KEEPALIVE);
                continue;
            }
            next = events.next() => match next {
                Some(answer) => answer.into_bytes_between(b"event: next\ndata: ", b"\n\n"),
                None => COMPLETE,
            },
        };
        let is_last = event == COMPLETE;
        let sent = send(to, event, pace.slow).await;
        if is_last || sent != EventSend::Sent {
            return sent;
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

#[cfg(test)]
mod tests {
    use futures::{FutureExt as _, stream};
    use roundtable_graphql::Answer;
    use roundtable_interface::ApiError;
    use tokio::time::{Instant, sleep};

    use super::*;

    /// An event that is being answered may have a permit that others wait for.
    #[tokio::test(start_paused = true)]
    async fn an_event_is_answered_while_its_client_does_not_read_keep_alives() {
        let second = Duration::from_secs(1);
        let (to, mut queue) = mpsc::channel(1);
        to.try_send(KEEPALIVE).unwrap();
        let (answered, mut answer) = tokio::sync::oneshot::channel();
        let started = Instant::now();
        let events = stream::once(async move {
            sleep(16 * second).await;
            answered.send(started.elapsed()).unwrap();
            Answer::refused(&ApiError::bad_request("no").into()).into()
        });
        let pace = Pace { keepalive: 15 * second, slow: 10 * second };
        let sent = send_events(events.boxed(), std::future::pending(), pace, &to);
        assert_eq!(sent.await, EventSend::TimedOut);
        assert_eq!(answer.try_recv(), Ok(16 * second));
        assert_eq!(started.elapsed(), 26 * second);
        assert_eq!(queue.recv().now_or_never(), Some(Some(KEEPALIVE)));
    }

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
