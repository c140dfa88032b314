//! Transactions: an attempt writes everything of a mutation at once, and names each write so that
//! it can tell which condition failed.

use roundtable_model::table::{CancelReason, Error, Table, Transaction, Write};
use serde::Serialize;

use crate::idempotency::IdempotentRequest;
use crate::mutation::AttemptOutcome;
use crate::{Context, ServiceError};

/// The name of the write that records a request.
const REQUEST: &str = "request";

/// The writes of one attempt at a mutation.
#[derive(Debug)]
pub(crate) struct Commit<'a> {
    context: &'a Context,
    request: Option<&'a IdempotentRequest>,
    transaction: Transaction,
    names: Vec<&'static str>,
}

/// The names of writes whose conditions did not hold.
#[derive(Debug, Default)]
pub(crate) struct FailedConditions(Vec<&'static str>);

impl FailedConditions {
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.contains(&name)
    }
}

impl<'a> Commit<'a> {
    pub(crate) fn new(context: &'a Context, request: Option<&'a IdempotentRequest>) -> Self {
        Self { context, request, transaction: Transaction::new(), names: Vec::new() }
    }

    #[must_use]
    pub(crate) fn with(self, name: &'static str, write: impl Into<Write>) -> Self {
        let table = self.context.core().table().clone();
        self.to(&table, name, write)
    }

    /// Adds any number of writes to the core table under one name.
    #[must_use]
    pub(crate) fn with_all(
        self,
        name: &'static str,
        writes: impl IntoIterator<Item = impl Into<Write>>,
    ) -> Self {
        writes.into_iter().fold(self, |commit, write| commit.with(name, write))
    }

    /// Adds writes to the core table that have names already.
    #[must_use]
    pub(crate) fn with_named(
        self,
        writes: impl IntoIterator<Item = (&'static str, Write)>,
    ) -> Self {
        writes.into_iter().fold(self, |commit, (name, write)| commit.with(name, write))
    }

    #[must_use]
    pub(crate) fn to(mut self, table: &Table, name: &'static str, write: impl Into<Write>) -> Self {
        self.transaction = self.transaction.with(table, write);
        self.names.push(name);
        self
    }

    /// Writes everything, and records the request with its outcome, so that repeating the request
    /// has no further effect. The mutation retries if a condition did not hold.
    pub(crate) async fn finish<O: Serialize, T, E: From<ServiceError>>(
        self,
        outcome: O,
        answer: T,
    ) -> Result<AttemptOutcome<T>, E> {
        let commit = match self.request {
            Some(request) => {
                let write = request.record_write(self.context, &outcome)?;
                self.with(REQUEST, write)
            }
            None => self,
        };
        commit.finish_unrecorded(answer).await
    }

    /// Writes everything for a mutation without a request, or before its last commit.
    pub(crate) async fn finish_unrecorded<T, E: From<ServiceError>>(
        self,
        answer: T,
    ) -> Result<AttemptOutcome<T>, E> {
        self.finish_or(answer, |_| Ok(AttemptOutcome::Retry)).await
    }

    /// As [`Commit::finish_unrecorded`], but `failed` decides what a failed condition means. A
    /// transaction that only conflicted with another one is retried in any case; one that the store
    /// throttles fails.
    pub(crate) async fn finish_or<T, E: From<ServiceError>>(
        self,
        answer: T,
        failed: impl FnOnce(FailedConditions) -> Result<AttemptOutcome<T>, E>,
    ) -> Result<AttemptOutcome<T>, E> {
        if self.transaction.writes.is_empty() {
            // Nothing changes and there is no request to record.
            return Ok(AttemptOutcome::Done(answer));
        }
        let Self { context, transaction, names, .. } = self;
        match context.store().transact(transaction).await {
            Ok(_) => Ok(AttemptOutcome::Done(answer)),
            Err(Error::Cancelled { reasons }) => {
                let throttled = reasons.contains(&Some(CancelReason::Throttled));
                let conditions = failed_conditions(&names, reasons)?;
                match conditions.0.is_empty() {
                    // The backend has repeated it already, and more attempts add to the load.
                    true if throttled => Err(ServiceError::Throttled.into()),
                    true => Ok(AttemptOutcome::Retry),
                    false => failed(conditions),
                }
            }
            Err(error) => Err(ServiceError::of_write(error).into()),
        }
    }
}

/// Names the writes whose conditions failed; empty if the transaction only conflicted with another
/// one, or was throttled.
fn failed_conditions(
    names: &[&'static str],
    reasons: Vec<Option<CancelReason>>,
) -> Result<FailedConditions, ServiceError> {
    let mut failed = FailedConditions::default();
    for (name, reason) in names.iter().zip(reasons) {
        match reason {
            None | Some(CancelReason::Conflict | CancelReason::Throttled) => {}
            Some(CancelReason::ConditionFailed { .. }) => failed.0.push(name),
            Some(CancelReason::Invalid(invalid)) => return Err(Error::from(invalid).into()),
            Some(other) => return Err(ServiceError::Internal(other.to_string())),
        }
    }
    Ok(failed)
}
