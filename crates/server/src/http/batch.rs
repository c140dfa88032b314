//! The answers to several requests in one body. Each is sent as soon as it and those before it are ready.
//!
//! A task of its own executes the requests: a response is polled only while its client reads, and work
//! that is not polled would keep its permit.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::stream::{self, StreamExt as _};
use roundtable_graphql::Request;
use roundtable_interface::ClientInfo;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::AppState;
use super::body_budget::BodyPermits;
use crate::request_policy::AllowedOperations;

/// Requests of a batch executed at the same time: one task runs them all, and each takes a permit that
/// other clients wait for.
const CONCURRENCY: usize = 2;

/// Executes a batch and returns its answers. The budget of the body is held as long as that takes.
pub(super) fn respond(
    app: AppState,
    requests: Vec<Request>,
    client: ClientInfo,
    wants_cost: bool,
    permits: BodyPermits,
) -> Body {
    let (to, from) = mpsc::channel(1);
    // Ends with the response, also if the client is gone.
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let _permits = permits;
        if execute(&app, requests, client, wants_cost, &to).await.is_none() {
            app.metrics.record_slow_client();
            let slow = io::Error::new(io::ErrorKind::TimedOut, "the client reads too slowly");
            // The channel may be full, and its reader gone.
            let _ = to.try_send(Err(slow));
        }
    });
    let parts = stream::unfold((from, tasks), async |(mut from, tasks)| {
        let part: Result<Bytes, io::Error> = from.recv().await?;
        Some((part, (from, tasks)))
    });
    Body::from_stream(parts)
}

/// Sends the answers in order; `None` if the client does not take one in time.
async fn execute(
    app: &AppState,
    requests: Vec<Request>,
    client: ClientInfo,
    wants_cost: bool,
    to: &mpsc::Sender<Result<Bytes, io::Error>>,
) -> Option<()> {
    let limit = Duration::from_secs(app.process.settings.live.slow_seconds.max(1));
    let (client, executor) = (Arc::new(client), &app.executor);
    let answers = requests.into_iter().map(|request| {
        let client = Arc::clone(&client);
        let allowed = AllowedOperations::QueriesAndMutations;
        async move { executor.execute(request, &client, allowed, wants_cost).await }
    });
    // Executed to its end before the next two, so that nothing waits in the middle while an answer does.
    let mut answers: Vec<_> = answers.collect();
    let mut before: &[u8] = b"[";
    while !answers.is_empty() {
        let next = answers.drain(..CONCURRENCY.min(answers.len()));
        let ready: Vec<_> = stream::iter(next).buffered(CONCURRENCY).collect().await;
        for answer in ready {
            let bytes = answer.into_bytes_between(before, b"");
            to.send_timeout(Ok(bytes), limit).await.ok()?;
            before = b",";
        }
    }
    to.send_timeout(Ok(Bytes::from_static(b"]")), limit).await.ok()
}
