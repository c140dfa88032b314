//! Subscriptions: each event is read and answered with a permit, and waited for without one. A
//! subscription ends with the credential of its client, which is checked at each event.

use std::time::Instant;

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use roundtable_domain::Caller;
use roundtable_graphql::{Event, NextEvent, OperationType, PreparedRequest, SubscriptionEvents};
use roundtable_interface::ClientInfo;
use tokio::time::timeout;

use super::{Executor, Operation, refused, reserve, timed_out};
use crate::answer_budget::{ReservedAnswer, TooManyAnswers};
use crate::client_limits::ClientGuard;

/// A subscription that was set up.
struct Subscription {
    executor: Executor,
    operation: Operation,
    events: SubscriptionEvents,
    caller: Option<Caller>,
    _guard: ClientGuard,
}

/// What a read of the events found.
enum Found {
    Later,
    Answer(Result<ReservedAnswer, TooManyAnswers>),
    Last(Result<ReservedAnswer, TooManyAnswers>),
}

/// Sets up a subscription and returns its answers.
pub(super) fn answers(
    executor: Executor,
    prepared: PreparedRequest,
    client: ClientInfo,
    guard: ClientGuard,
) -> BoxStream<'static, ReservedAnswer> {
    let answers = async move {
        let started = Instant::now();
        match Subscription::open(&executor, prepared.clone(), &client, guard).await {
            Ok(subscription) => {
                executor.log.operation(Some(&prepared), &[], started.elapsed());
                subscription.answers()
            }
            Err(failed) => {
                executor.record(&failed.answer);
                let codes = failed.answer.error_codes();
                executor.log.operation(Some(&prepared), codes, started.elapsed());
                stream::iter([*failed]).boxed()
            }
        }
    };
    stream::once(answers).flatten().boxed()
}

impl Subscription {
    /// The error is the only answer.
    async fn open(
        executor: &Executor,
        prepared: PreparedRequest,
        client: &ClientInfo,
        guard: ClientGuard,
    ) -> Result<Self, Box<ReservedAnswer>> {
        let operation = executor.operation(prepared, client, None);
        let (schema, limit) = (executor.schema.clone(), executor.request_timeout());
        let (prepared, context) = (operation.prepared.clone(), operation.context.clone());
        let work = async move { schema.subscribe(&prepared, &context).await };
        let work = executor.scheduler.run_when_permitted(operation.class, &operation.client, work);
        let events = timeout(limit, work)
            .await
            .unwrap_or_else(|_| Err(Box::new(timed_out(limit, OperationType::Subscription))));
        let events = events.map_err(|failed| Box::new((*failed).into()))?;
        operation.read_budget.renew();
        let (executor, caller) = (executor.clone(), client.caller.clone());
        Ok(Self { executor, operation, events, caller, _guard: guard })
    }

    fn answers(self) -> BoxStream<'static, ReservedAnswer> {
        let answers = stream::unfold(Some(self), async |subscription| {
            let (answer, subscription) = subscription?.next().await;
            Some((answer, subscription))
        });
        answers.boxed()
    }

    /// Waits for the next answer, however long that takes. The subscription is gone with the last one.
    async fn next(mut self) -> (ReservedAnswer, Option<Self>) {
        let (answer, goes_on) = loop {
            let found;
            (found, self) = self.read().await;
            match found {
                Found::Later => self.events.changed().await,
                Found::Answer(answer) => break (answer, true),
                Found::Last(answer) => break (answer, false),
            }
        };
        let is_read = answer.is_ok();
        let answer = answer.unwrap_or_else(|too_many| too_many.last_event().into());
        self.executor.record(&answer.answer);
        (answer, (is_read && goes_on).then_some(self))
    }

    /// Reads the next event, and answers it, when there is a permit for that.
    async fn read(mut self) -> (Found, Self) {
        let (class, client) = (self.operation.class, self.operation.client.clone());
        let scheduler = self.executor.scheduler.clone();
        let work = async move {
            let found = match self.events.read().await {
                NextEvent::Later => Found::Later,
                NextEvent::Event(event) => {
                    match check_credential(&self.executor, self.caller.as_ref()).await {
                        Ok(()) => {
                            Found::Answer(answer(&self.executor, &self.operation, event).await)
                        }
                        Err(refused) => Found::Last(Ok(*refused)),
                    }
                }
                NextEvent::Last(event) => {
                    Found::Last(answer(&self.executor, &self.operation, event).await)
                }
            };
            // Each event may read as much as a request.
            self.operation.read_budget.renew();
            (found, self)
        };
        scheduler.run_when_permitted(class, &client, work).await
    }
}

/// The error is the last answer: the client was signed out, or its key was revoked.
async fn check_credential(
    executor: &Executor,
    caller: Option<&Caller>,
) -> Result<(), Box<ReservedAnswer>> {
    let Some(caller) = caller else { return Ok(()) };
    let checked = executor.process.services.accounts().check_credential(caller).await;
    checked.map_err(|refusal| Box::new(refused(refusal.into()).into()))
}

async fn answer(
    executor: &Executor,
    operation: &Operation,
    event: Event,
) -> Result<ReservedAnswer, TooManyAnswers> {
    let Operation { prepared, context, shares, .. } = operation;
    let answer = executor.schema.execute_event(prepared, context, event).await;
    reserve(&executor.answers, shares, answer)
}
