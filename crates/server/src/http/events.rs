//! Listening by server-sent events: one subscription for each connection, `next` for every event and
//! `complete` when there will be no more, as the protocol of GraphQL over SSE has it. A connection that
//! ends without it is to be opened again.

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
use roundtable_graphql::{Answer, Refused};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::SendTimeoutError;

use super::App;
use super::refusals::refused;
use crate::gate::Allows;
use crate::identity::Known;

/// A comment, which keeps the connection from looking dead.
const STILL_HERE: Bytes = Bytes::from_static(b":\n\n");
const COMPLETE: Bytes = Bytes::from_static(b"event: complete\ndata:\n\n");

/// Answers with events.
pub(super) fn answer(
    app: &App,
    request: async_graphql::Request,
    known: Known,
    allows: Allows,
) -> Response {
    let Ok(seat) = Arc::clone(&app.seats).try_acquire_owned() else {
        return refused(Refused::new(Code::RateLimited, "too many are listening; try again later"));
    };
    let (to, from) = mpsc::channel(app.process.settings.live.buffer_max.max(1));
    let app = app.clone();
    tokio::spawn(async move {
        let _held = app.meters.listener();
        let events = app.execution.stream(request, &known.client, allows);
        tell(&app, events, &known, &to).await;
        drop(seat);
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

/// Tells a client of everything, until there is nothing more, it leaves, or it does not listen.
async fn tell(
    app: &App,
    mut events: BoxStream<'static, async_graphql::Response>,
    known: &Known,
    to: &mpsc::Sender<Bytes>,
) {
    let settings = &app.process.settings.live;
    let slow = Duration::from_secs(settings.slow_seconds.max(1));
    let over = app.until(known);
    tokio::pin!(over);
    let mut quiet = tokio::time::interval(Duration::from_secs(settings.keepalive_seconds.max(1)));
    quiet.tick().await;
    loop {
        let event = tokio::select! {
            () = to.closed() => return,
            // Breaks off: there would be more, and whoever takes it for complete would not come back.
            () = &mut over => return,
            () = app.stopping.clone().wished() => return,
            _ = quiet.tick() => STILL_HERE,
            next = events.next() => match next {
                Some(answer) => Bytes::from(format!("event: next\ndata: {}\n\n", Answer(&answer).to_json())),
                None => COMPLETE,
            },
        };
        let last = event == COMPLETE;
        let handed = hand(to, event, slow).await;
        if handed == Handed::Unread {
            app.meters.slow();
        }
        if last || handed != Handed::Over {
            return;
        }
    }
}

/// What became of an event.
#[derive(Debug, PartialEq, Eq)]
enum Handed {
    Over,
    /// The client has left.
    Gone,
    /// The client is there, and takes nothing.
    Unread,
}

async fn hand(to: &mpsc::Sender<Bytes>, event: Bytes, slow: Duration) -> Handed {
    match to.send_timeout(event, slow).await {
        Ok(()) => Handed::Over,
        Err(SendTimeoutError::Closed(_)) => Handed::Gone,
        Err(SendTimeoutError::Timeout(_)) => Handed::Unread,
    }
}

impl App {
    /// Waits until what somebody has shown is over.
    pub(super) async fn until(&self, known: &Known) {
        let Some(until) = known.until else { return std::future::pending().await };
        let now = self.process.services.ground.clock().now_seconds();
        tokio::time::sleep(Duration::from_secs(until.saturating_sub(now))).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_leaves_is_not_slow() {
        let (to, from) = mpsc::channel(1);
        let (slow, soon) = (Duration::from_mins(1), Duration::from_millis(1));
        assert_eq!(hand(&to, STILL_HERE, slow).await, Handed::Over);
        assert_eq!(hand(&to, STILL_HERE, soon).await, Handed::Unread);
        let leaving = async { drop(from) };
        let (handed, ()) = futures::future::join(hand(&to, STILL_HERE, slow), leaving).await;
        assert_eq!(handed, Handed::Gone);
    }
}
