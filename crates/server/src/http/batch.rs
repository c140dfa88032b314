//! The answers to several requests in one body. They are sent two at a time, when both are ready.
//!
//! A task of its own executes the requests: a response is polled only while its client reads, and work
//! that is not polled would keep its permit.

use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, StreamExt as _};
use roundtable_graphql::{Answer, Request};
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::SendError;

use super::AppState;
use super::body_budget::BodyPermits;
use crate::answer_budget::ReservedAnswer;
use crate::authentication::ClientIdentity;
use crate::request_policy::AllowedOperations;

/// Requests of a batch executed at the same time: one task runs them all, and each takes a permit that
/// other clients wait for.
const CONCURRENCY: usize = 2;

pub(super) struct Batch {
    pub(super) requests: Vec<Request>,
    pub(super) identity: ClientIdentity,
    pub(super) wants_cost: bool,
    /// The budget of the body, held until all is executed.
    pub(super) permits: BodyPermits,
}

impl Batch {
    /// Executes the requests and sends their answers, as long as the client takes them.
    pub(super) async fn answer(self, app: AppState, to: Sender<Bytes>) {
        let Self { requests, identity, wants_cost, permits } = self;
        let _ = execute(&app, requests, identity, wants_cost, &to).await;
        drop(permits);
    }
}

/// Sends the answers in order; an error if the client is gone.
async fn execute(
    app: &AppState,
    requests: Vec<Request>,
    identity: ClientIdentity,
    wants_cost: bool,
    to: &Sender<Bytes>,
) -> Result<(), SendError<Bytes>> {
    let (identity, executor) = (Arc::new(identity), &app.executor);
    let answers = requests.into_iter().map(|request| {
        let identity = Arc::clone(&identity);
        let allowed = AllowedOperations::QueriesAndMutations;
        async move { executor.execute(request, &identity.client, allowed, wants_cost).await }
    });
    // Executed to its end before the next two, so that nothing waits in the middle while an answer does.
    let mut answers: Vec<_> = answers.collect();
    let mut before: &[u8] = b"[";
    while !answers.is_empty() {
        // A client decides how long the first answers wait, and may sign out in the meantime.
        if before == b","
            && let Err(error) = app.check_credential(&identity).await
        {
            for _ in answers {
                let refused = ReservedAnswer::from(Answer::refused(&error.clone().into()));
                to.send(refused.into_bytes_between(before, b"")).await?;
            }
            break;
        }
        let next = answers.drain(..CONCURRENCY.min(answers.len()));
        let ready: Vec<_> = tokio::select! {
            ready = stream::iter(next).buffered(CONCURRENCY).collect() => ready,
            () = to.closed() => return Ok(()),
        };
        for answer in ready {
            to.send(answer.into_bytes_between(before, b"")).await?;
            before = b",";
        }
    }
    to.send(Bytes::from_static(b"]")).await
}
