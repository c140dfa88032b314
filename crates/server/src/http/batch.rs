//! The answers to several requests in one body. Each is sent as soon as it and those before it are ready.
//!
//! A task of its own executes the requests: a response is polled only while its client reads, and work
//! that is not polled would keep its permit.

use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, StreamExt as _};
use roundtable_graphql::Request;
use roundtable_interface::ClientInfo;

use super::AppState;
use super::answer_body::{AnswerSender, Unsent};
use super::body_budget::BodyPermits;
use crate::request_policy::AllowedOperations;

/// Requests of a batch executed at the same time: one task runs them all, and each takes a permit that
/// other clients wait for.
const CONCURRENCY: usize = 2;

pub(super) struct Batch {
    pub(super) requests: Vec<Request>,
    pub(super) client: ClientInfo,
    pub(super) wants_cost: bool,
    /// The budget of the body, held until all is executed.
    pub(super) permits: BodyPermits,
}

impl Batch {
    /// Executes the requests and sends their answers, as long as the client takes them.
    pub(super) async fn answer(self, app: AppState, mut sender: AnswerSender) {
        let Self { requests, client, wants_cost, permits } = self;
        let sent = execute(&app, requests, client, wants_cost, &mut sender).await;
        drop(permits);
        if sent.is_ok() {
            let _ = sender.finish().await;
        }
    }
}

/// Sends the answers in order.
async fn execute(
    app: &AppState,
    requests: Vec<Request>,
    client: ClientInfo,
    wants_cost: bool,
    to: &mut AnswerSender,
) -> Result<(), Unsent> {
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
        let ready: Vec<_> = tokio::select! {
            ready = stream::iter(next).buffered(CONCURRENCY).collect() => ready,
            () = to.closed() => return Err(Unsent::Disconnected),
        };
        for answer in ready {
            to.send(answer.into_bytes_between(before, b"")).await?;
            before = b",";
        }
    }
    to.send(Bytes::from_static(b"]")).await
}
