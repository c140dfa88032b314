//! Mutations: the one shape of every change that a service makes.
//!
//! A caller's mutation counts against their rate limit, needs an active account, takes effect once
//! per request id, and is attempted again when a concurrent change gets in its way. Commits exist
//! only within an attempt, so this module alone decides about retries.

use std::sync::Arc;
use std::time::Duration;

use roundtable_model::RequestId;
use roundtable_model::entities::User;
use roundtable_model::table::Error;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};

use crate::access::Permission;
use crate::accounts::staff::StaffMember;
use crate::commit::Commit;
use crate::head_locks::{HeadLock, lock_head};
use crate::idempotency::IdempotentRequest;
use crate::limits::MUTATION_TIME_MAX;
use crate::{Caller, Context, ServiceError};

/// Attempts at a mutation that keeps losing to concurrent changes.
const ATTEMPTS_MAX: u32 = 16;
/// The average wait before the second attempt. It doubles each time, up to [`WAIT_MAX`].
const FIRST_WAIT: Duration = Duration::from_micros(500);
const WAIT_MAX: Duration = Duration::from_millis(64);

/// A mutation of a caller whose account is active and below its rate limit.
#[derive(Debug)]
pub(crate) struct Mutation<'a> {
    context: &'a Context,
    caller: &'a Caller,
    /// The caller's profile. Attempts get it as it is at their time.
    pub(crate) account: Arc<User>,
}

/// A mutation that takes effect once per request id.
#[derive(Debug)]
pub(crate) struct OnceMutation<'a> {
    mutation: Mutation<'a>,
    request: Option<IdempotentRequest>,
}

/// A mutation that can answer a repeated request from the recorded outcome.
#[derive(Debug)]
pub(crate) struct ReplayableMutation<'a, Replay> {
    once: OnceMutation<'a>,
    replay: Replay,
}

/// One attempt at a mutation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt<'a> {
    context: &'a Context,
    request: Option<&'a IdempotentRequest>,
    number: u32,
}

/// The result of one attempt at a mutation.
#[derive(Debug)]
pub(crate) enum AttemptOutcome<T> {
    Done(T),
    /// A concurrent change invalidated what the attempt had read.
    Retry,
}

/// The outcome of a mutation that has no request id, of which none is recorded.
#[derive(Deserialize)]
enum NeverRecorded {}

impl<T> AttemptOutcome<T> {
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> AttemptOutcome<U> {
        match self {
            Self::Done(answer) => AttemptOutcome::Done(f(answer)),
            Self::Retry => AttemptOutcome::Retry,
        }
    }
}

impl<'a> Mutation<'a> {
    /// Identifies the request for repetition, if it has an id. `input` is everything the outcome
    /// depends on, without secrets.
    pub(crate) fn once<I: Serialize + ?Sized>(
        self,
        operation: &'static str,
        input: &I,
        id: Option<&RequestId>,
    ) -> Result<OnceMutation<'a>, ServiceError> {
        let request = self.context.idempotent_request(&self.account.id, id, operation, input)?;
        Ok(OnceMutation { mutation: self, request })
    }

    /// Requires a permission that staff roles grant.
    pub(crate) fn staff(&self, permission: Permission) -> Result<StaffMember<'a>, ServiceError> {
        let staff = StaffMember::new(self.caller, &self.account);
        staff.require(permission)?;
        Ok(staff)
    }

    /// Runs a mutation that has no request id.
    pub(crate) async fn run<T, E, Attempted>(
        &self,
        attempt: impl Fn(Arc<User>, Attempt<'a>) -> Attempted,
    ) -> Result<T, E>
    where
        E: From<ServiceError>,
        Attempted: Future<Output = Result<AttemptOutcome<T>, E>>,
    {
        self.context.retry(|current| self.run_attempt(current, &attempt)).await
    }

    /// Makes an attempt with the account as it is now: it may be the account that has changed.
    async fn run_attempt<'s, T, E, Attempted>(
        &self,
        current: Attempt<'s>,
        attempt: &impl Fn(Arc<User>, Attempt<'s>) -> Attempted,
    ) -> Result<AttemptOutcome<T>, E>
    where
        E: From<ServiceError>,
        Attempted: Future<Output = Result<AttemptOutcome<T>, E>>,
    {
        let account = if current.is_retry() {
            Arc::new(self.context.authorize_read(self.caller).await?)
        } else {
            Arc::clone(&self.account)
        };
        attempt(account, current).await
    }
}

impl<'a> OnceMutation<'a> {
    /// Answers a repeated request from its recorded outcome.
    pub(crate) fn replay<O, Replayed, Replay: Fn(O) -> Replayed>(
        self,
        replay: Replay,
    ) -> ReplayableMutation<'a, Replay> {
        ReplayableMutation { once: self, replay }
    }
}

impl<Replay> ReplayableMutation<'_, Replay> {
    /// Runs the mutation, or replays it if the same request succeeded before.
    pub(crate) async fn run<'s, O, T, E, Replayed, Attempted>(
        &'s self,
        attempt: impl Fn(Arc<User>, Attempt<'s>) -> Attempted,
    ) -> Result<T, E>
    where
        O: DeserializeOwned,
        E: From<ServiceError>,
        Replay: Fn(O) -> Replayed,
        Replayed: Future<Output = Result<T, E>>,
        Attempted: Future<Output = Result<AttemptOutcome<T>, E>>,
    {
        let OnceMutation { mutation, request } = &self.once;
        let attempt = |current| mutation.run_attempt(current, &attempt);
        mutation.context.run_once(request.as_ref(), &self.replay, attempt).await
    }
}

impl<'a> Attempt<'a> {
    /// Returns whether an earlier attempt lost to a concurrent change.
    pub(crate) const fn is_retry(self) -> bool {
        self.number > 1
    }

    /// Waits for the lock on a head, which an earlier attempt has lost to others.
    pub(crate) async fn lock_on_retry(self, head: &str) -> HeadLock {
        if self.is_retry() { lock_head(head).await } else { None }
    }

    /// The same attempt without its request, for a change that is made although the request fails.
    pub(crate) const fn unrecorded(self) -> Self {
        Self { request: None, ..self }
    }

    pub(crate) fn commit(self) -> Commit<'a> {
        Commit::new(self.context, self.request)
    }

    /// Ends a mutation that has nothing to change. It still records the request: a repetition must
    /// have no effect even if the state has changed by then.
    pub(crate) async fn unchanged<O: Serialize, T, E: From<ServiceError>>(
        self,
        outcome: O,
        answer: T,
    ) -> Result<AttemptOutcome<T>, E> {
        self.commit().finish(outcome, answer).await
    }
}

impl Context {
    /// Starts a mutation: counts it against the caller's rate limit and loads their profile. Fails
    /// if the account is suspended or deleted.
    pub(crate) async fn mutation<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> Result<Mutation<'a>, ServiceError> {
        self.rate_limiter().check_write(&caller.user_id)?;
        let account = Arc::new(self.authorize_read(caller).await?);
        self.rate_limiter().write(&account.id, account.tier)?;
        Ok(Mutation { context: self, caller, account })
    }

    /// Runs a mutation that has neither a caller nor a request id, such as a processor's.
    pub(crate) async fn retry<'a, T, E, Attempted>(
        &'a self,
        attempt: impl Fn(Attempt<'a>) -> Attempted,
    ) -> Result<T, E>
    where
        E: From<ServiceError>,
        Attempted: Future<Output = Result<AttemptOutcome<T>, E>>,
    {
        self.run_once(None, async |never: NeverRecorded| match never {}, attempt).await
    }

    /// Attempts a mutation until it succeeds, is refused, has an unknown outcome, or has taken
    /// [`MUTATION_TIME_MAX`]. If the same request succeeded before, replays its outcome instead.
    // Not `AsyncFn`: its futures could not be proven `Send`, which a server needs.
    pub(crate) async fn run_once<'a, O, T, E, Replayed, Attempted>(
        &'a self,
        request: Option<&'a IdempotentRequest>,
        replay: impl Fn(O) -> Replayed,
        attempt: impl Fn(Attempt<'a>) -> Attempted,
    ) -> Result<T, E>
    where
        O: DeserializeOwned,
        E: From<ServiceError>,
        Replayed: Future<Output = Result<T, E>>,
        Attempted: Future<Output = Result<AttemptOutcome<T>, E>>,
    {
        let attempts = async {
            let mut wait = FIRST_WAIT;
            for number in 1..=ATTEMPTS_MAX {
                if let Some(outcome) = self.earlier_outcome(request).await? {
                    return replay(outcome).await;
                }
                match attempt(Attempt { context: self, request, number }).await {
                    Ok(AttemptOutcome::Done(answer)) => return Ok(answer),
                    // Mutations that met would meet again if all of them waited equally long.
                    Ok(AttemptOutcome::Retry) => sleep(self.entropy().around(wait)).await,
                    // The same request may have succeeded since the check above and caused this
                    // refusal; or this attempt has, and its answer was lost. Read without a budget: the
                    // refusal for reading too much stays certain.
                    Err(refusal) => {
                        let unlimited = self.without_read_budget();
                        match unlimited.earlier_outcome(request).await {
                            Ok(Some(outcome)) => return replay(outcome).await,
                            Ok(None) => return Err(refusal),
                            Err(error) => return Err(error.with_outcome_unknown().into()),
                        }
                    }
                }
                wait = (wait * 2).min(WAIT_MAX);
            }
            Err(ServiceError::Busy.into())
        };
        let result = timeout(MUTATION_TIME_MAX, attempts).await;
        result.unwrap_or_else(|_| Err(ServiceError::of_write(late()).into()))
    }
}

/// The error of a mutation that ran out of time: a write may have been under way.
fn late() -> Error {
    let seconds = MUTATION_TIME_MAX.as_secs();
    Error::Unavailable { detail: format!("the mutation took longer than {seconds} seconds") }
}
