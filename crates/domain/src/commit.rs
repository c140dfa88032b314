//! Transactions: a service writes everything of a mutation at once, and names each write so that it
//! can tell which condition failed.

use std::time::Duration;

use roundtable_model::table::{CancelReason, Error, Table, Transaction, Write};

use crate::idempotency::{AttemptOutcome, IdempotentRequest};
use crate::{Context, ServiceError};

/// Attempts at a transaction that only conflicts with others, before the service sees an error.
const ATTEMPTS_MAX: u32 = 6;
/// The wait before the first retry; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(10);

/// The name of the write that records a request.
const REQUEST: &str = "request";

/// The writes of one mutation.
#[derive(Debug)]
pub struct Commit<'a> {
    context: &'a Context,
    transaction: Transaction,
    names: Vec<&'static str>,
}

/// The reason why nothing was written.
#[derive(Debug)]
pub enum CommitError {
    ConditionsFailed(FailedConditions),
    Failed(ServiceError),
}

/// The names of writes whose conditions did not hold.
#[derive(Debug, Default)]
pub struct FailedConditions(Vec<&'static str>);

impl FailedConditions {
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(&name)
    }
}

impl Context {
    pub fn commit(&self) -> Commit<'_> {
        Commit { context: self, transaction: Transaction::new(), names: Vec::new() }
    }

    /// Ends a mutation that has nothing to change. It still records the request: a repetition must
    /// have no effect even if the state has changed by then.
    pub(crate) async fn finish_unchanged<O: serde::Serialize, T>(
        &self,
        request: Option<&IdempotentRequest>,
        outcome: &O,
        answer: T,
    ) -> Result<AttemptOutcome<T>, ServiceError> {
        self.commit().recording(request, outcome)?.finish(answer).await
    }
}

impl Commit<'_> {
    #[must_use]
    pub fn with(self, name: &'static str, write: impl Into<Write>) -> Self {
        let table = self.context.core().table().clone();
        self.to(&table, name, write)
    }

    /// Adds any number of writes to the core table under one name.
    #[must_use]
    pub fn with_all(
        self,
        name: &'static str,
        writes: impl IntoIterator<Item = impl Into<Write>>,
    ) -> Self {
        writes.into_iter().fold(self, |commit, write| commit.with(name, write))
    }

    #[must_use]
    pub fn to(mut self, table: &Table, name: &'static str, write: impl Into<Write>) -> Self {
        self.transaction = self.transaction.with(table, write);
        self.names.push(name);
        self
    }

    /// Records the request with its outcome, so that repeating the request has no further effect.
    pub(crate) fn recording<O: serde::Serialize>(
        self,
        request: Option<&IdempotentRequest>,
        outcome: &O,
    ) -> Result<Self, ServiceError> {
        match request {
            Some(request) => {
                let write = request.record_write(self.context, outcome)?;
                Ok(self.with(REQUEST, write))
            }
            None => Ok(self),
        }
    }

    /// Runs the transaction; the mutation retries if a condition did not hold.
    pub(crate) async fn finish<T>(self, outcome: T) -> Result<AttemptOutcome<T>, ServiceError> {
        match self.run().await {
            Ok(()) => Ok(AttemptOutcome::Done(outcome)),
            Err(CommitError::ConditionsFailed(_)) => Ok(AttemptOutcome::Retry),
            Err(CommitError::Failed(failure)) => Err(failure),
        }
    }

    /// Writes everything or nothing. Retries a transaction that only conflicts with another one.
    pub async fn run(self) -> Result<(), CommitError> {
        if self.transaction.writes.is_empty() {
            // Nothing changes and there is no request to record.
            return Ok(());
        }
        let mut wait = FIRST_WAIT;
        for attempts in 1.. {
            match self.context.store().transact(self.transaction.clone()).await {
                Ok(_) => return Ok(()),
                Err(Error::Cancelled { reasons }) => {
                    let failed = self.failed_conditions(reasons)?;
                    if !failed.0.is_empty() {
                        return Err(CommitError::ConditionsFailed(failed));
                    }
                    if attempts == ATTEMPTS_MAX {
                        return Err(CommitError::Failed(ServiceError::Busy));
                    }
                    tokio::time::sleep(wait).await;
                    wait *= 2;
                }
                Err(error) => return Err(CommitError::Failed(error.into())),
            }
        }
        Err(CommitError::Failed(ServiceError::Busy))
    }

    /// Names the writes whose conditions failed; empty if the transaction only conflicted with
    /// another one.
    fn failed_conditions(
        &self,
        reasons: Vec<Option<CancelReason>>,
    ) -> Result<FailedConditions, CommitError> {
        let mut failed = FailedConditions::default();
        for (name, reason) in self.names.iter().zip(reasons) {
            match reason {
                None | Some(CancelReason::Conflict | CancelReason::Throttled) => {}
                Some(CancelReason::ConditionFailed { .. }) => failed.0.push(name),
                Some(CancelReason::Invalid(invalid)) => {
                    return Err(CommitError::Failed(Error::from(invalid).into()));
                }
                Some(other) => {
                    return Err(CommitError::Failed(ServiceError::Internal(other.to_string())));
                }
            }
        }
        Ok(failed)
    }
}

impl From<ServiceError> for CommitError {
    fn from(failure: ServiceError) -> Self {
        Self::Failed(failure)
    }
}
