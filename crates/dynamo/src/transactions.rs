//! Write transactions. Each request gets a fresh token that only its retries reuse; a caller's token
//! is passed on unchanged.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    CancellationReason, ConditionCheck, Delete as WireDelete, Put as WirePut,
    ReturnConsumedCapacity, TransactWriteItem, Update as WireUpdate,
};
use parking_lot::Mutex;
use roundtable_table::{
    CancelReason, Capacity, Error, Invalid, Item, Result, Returning, TableDefinition, TableWrite,
    Transaction, Write, limits,
};

use crate::errors::{build_error, code, code_of, to_error};
use crate::expiry::{hide_expired, require_unexpired};
use crate::expression::Expressions;
use crate::retry::{fresh_token, is_rejected, is_transient, send_once};
use crate::values::{from_wire, key_to_wire, to_wire};
use crate::writes::{
    EXPIRED_RETRIES_MAX, expired_items_reappeared, is_blocked_by_expired, on_failure,
    on_failure_or_expiry,
};
use crate::{Dynamo, cost};

/// The part of one write in a cancelled transaction.
#[derive(Clone)]
enum WriteVerdict {
    Unaffected,
    /// It failed only because of an expired item.
    Expired,
    Failed(CancelReason),
}

enum TransactionFailure {
    Cancelled(Vec<WriteVerdict>),
    Final(Error),
}

impl Dynamo {
    pub(crate) async fn write_transaction(&self, transaction: Transaction) -> Result<Capacity> {
        let mut swept = Capacity::ZERO;
        for _ in 0..EXPIRED_RETRIES_MAX {
            // The same token must be sent with the same request, which contains the time.
            let now = match &transaction.token {
                Some(token) => {
                    let first_sent = self.tokens.first_sent(token, Instant::now());
                    first_sent.unwrap_or_else(|| self.now_seconds())
                }
                None => self.now_seconds(),
            };
            let verdicts = match self.try_transaction(&transaction, now).await {
                Ok(capacity) => return Ok(capacity + swept),
                Err(TransactionFailure::Final(error)) => return Err(error),
                Err(TransactionFailure::Cancelled(verdicts)) => verdicts,
            };
            if verdicts.iter().any(|verdict| matches!(verdict, WriteVerdict::Failed(_))) {
                let reasons = verdicts.into_iter().map(|verdict| match verdict {
                    WriteVerdict::Failed(reason) => Some(reason),
                    WriteVerdict::Unaffected | WriteVerdict::Expired => None,
                });
                return Err(Error::Cancelled { reasons: reasons.collect() });
            }
            for (write, verdict) in transaction.writes.iter().zip(verdicts) {
                if let (WriteVerdict::Expired, Some(key)) = (verdict, write.write.key(&write.table))
                {
                    swept += self.sweep(&write.table, &key).await?;
                }
            }
        }
        Err(expired_items_reappeared())
    }

    async fn try_transaction(
        &self,
        transaction: &Transaction,
        now: u64,
    ) -> Result<Capacity, TransactionFailure> {
        let wire = transaction.writes.iter().map(|write| to_wire_write(write, now));
        let token = transaction.token.clone().unwrap_or_else(fresh_token);
        let request = self
            .client
            .transact_write_items()
            .set_transact_items(Some(wire.collect::<Result<Vec<_>>>()?))
            .client_request_token(&token)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let table = transaction.writes.first().map_or("", |write| &write.table.name);
        // An attempt without a verdict may have been executed, whatever the next one is told.
        let is_open = AtomicBool::new(false);
        let may_retry = |error: &SdkError<TransactWriteItemsError, HttpResponse>| {
            if !is_rejected(error) && cancelled(error).is_none() {
                is_open.store(true, Ordering::Relaxed);
            }
            should_retry(error)
        };
        let error = match self.backoff().send(may_retry, || send_once!(request)).await {
            Ok(response) => {
                self.tokens.record(transaction.token.as_ref(), now, Instant::now());
                return Ok(cost::write(response.consumed_capacity.iter().flatten()));
            }
            Err(error) => error,
        };
        let is_open = is_open.into_inner();
        // The conflict may be with an earlier attempt.
        if let Some(reasons) =
            cancelled(&error).filter(|reasons| !is_open || !are_transient(reasons))
        {
            return Err(TransactionFailure::Cancelled(
                self.classify(transaction, reasons, now).await?,
            ));
        }
        if code_of(&error) == Some(code::VALIDATION)
            && let Some(verdicts) = self.find_invalid_updates(transaction).await
        {
            return Err(TransactionFailure::Cancelled(verdicts));
        }
        if is_rejected(&error) && !is_open {
            let throttled = WriteVerdict::Failed(CancelReason::Throttled);
            let verdicts = transaction.writes.iter().map(|_| throttled.clone()).collect();
            return Err(TransactionFailure::Cancelled(verdicts));
        }
        let error = to_error(&error, table);
        if matches!(error, Error::Unavailable { .. }) {
            // It may have happened, so a repetition must send the identical request.
            self.tokens.record(transaction.token.as_ref(), now, Instant::now());
        }
        Err(TransactionFailure::Final(error))
    }

    /// Finds the invalid updates of a transaction that a server rejected as a whole instead of naming
    /// them (DynamoDB Local); `None` if the rejection must have another cause.
    async fn find_invalid_updates(&self, transaction: &Transaction) -> Option<Vec<WriteVerdict>> {
        let mut verdicts = Vec::with_capacity(transaction.writes.len());
        for write in &transaction.writes {
            let fault = match &write.write {
                Write::Update(update) => self.find_fault(&write.table, update).await,
                _ => None,
            };
            verdicts.push(fault.map_or(WriteVerdict::Unaffected, |fault| {
                WriteVerdict::Failed(CancelReason::Invalid(fault))
            }));
        }
        let found = verdicts.iter().any(|verdict| matches!(verdict, WriteVerdict::Failed(_)));
        found.then_some(verdicts)
    }

    async fn classify(
        &self,
        transaction: &Transaction,
        reasons: &[CancellationReason],
        now: u64,
    ) -> Result<Vec<WriteVerdict>> {
        let mut verdicts = Vec::with_capacity(transaction.writes.len());
        for (at, write) in transaction.writes.iter().enumerate() {
            verdicts.push(match reasons.get(at) {
                Some(reason) => self.classify_write(write, reason, now).await?,
                None => WriteVerdict::Unaffected,
            });
        }
        Ok(verdicts)
    }

    async fn classify_write(
        &self,
        write: &TableWrite,
        reason: &CancellationReason,
        now: u64,
    ) -> Result<WriteVerdict> {
        let table = &*write.table;
        let detail = || reason.message().unwrap_or("no reason given").to_owned();
        Ok(match reason.code() {
            None | Some("None") => WriteVerdict::Unaffected,
            Some("ConditionalCheckFailed") => {
                let item = reason.item().cloned().filter(|wire| !wire.is_empty());
                classify_condition_failure(
                    table,
                    &write.write,
                    item.map(from_wire).transpose()?,
                    now,
                )
            }
            Some("TransactionConflict") => WriteVerdict::Failed(CancelReason::Conflict),
            Some("ThrottlingError" | "ProvisionedThroughputExceeded") => {
                WriteVerdict::Failed(CancelReason::Throttled)
            }
            Some("ValidationError") => {
                let fault = match &write.write {
                    Write::Update(update) => self.find_fault(table, update).await,
                    _ => None,
                };
                let rejected = || Invalid::Rejected { detail: detail() };
                WriteVerdict::Failed(CancelReason::Invalid(fault.unwrap_or_else(rejected)))
            }
            Some(code) => {
                let detail = format!("{code}: {}", detail());
                WriteVerdict::Failed(CancelReason::Invalid(Invalid::Rejected { detail }))
            }
        })
    }
}

impl From<Error> for TransactionFailure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

/// Returns the cancellation reasons, if the transaction was cancelled.
fn cancelled<R>(error: &SdkError<TransactWriteItemsError, R>) -> Option<&[CancellationReason]> {
    match error.as_service_error()? {
        TransactWriteItemsError::TransactionCanceledException(cancelled) => {
            Some(cancelled.cancellation_reasons())
        }
        _ => None,
    }
}

/// Returns whether to retry a transaction; its token keeps it from happening twice.
fn should_retry(error: &SdkError<TransactWriteItemsError, HttpResponse>) -> bool {
    match cancelled(error) {
        Some(reasons) => are_transient(reasons),
        None => is_transient(error) || code_of(error) == Some(code::IN_PROGRESS),
    }
}

/// Returns whether all failures are transient.
fn are_transient(reasons: &[CancellationReason]) -> bool {
    let mut faults = reasons.iter().filter_map(CancellationReason::code).peekable();
    faults.peek().is_some()
        && faults.all(|fault| {
            matches!(
                fault,
                "None"
                    | "TransactionConflict"
                    | "ThrottlingError"
                    | "ProvisionedThroughputExceeded"
            )
        })
}

fn classify_condition_failure(
    table: &TableDefinition,
    write: &Write,
    item: Option<Item>,
    now: u64,
) -> WriteVerdict {
    if let (Write::Put(_) | Write::Update(_), Some(item)) = (write, &item)
        && is_blocked_by_expired(table, write.condition(), item, now)
    {
        return WriteVerdict::Expired;
    }
    let visible =
        item.filter(|item| write.returning() == Returning::Old && !table.is_expired(item, now));
    WriteVerdict::Failed(CancelReason::ConditionFailed { item: visible.map(Box::new) })
}

fn to_wire_write(write: &TableWrite, now: u64) -> Result<TransactWriteItem> {
    let table = &*write.table;
    let item = TransactWriteItem::builder();
    let mut expressions = Expressions::default();
    // Puts and updates must not find an expired item; the others just do not see it.
    let extended = match &write.write {
        Write::Put(_) | Write::Update(_) => require_unexpired(table, write.write.condition(), now),
        Write::Delete(_) | Write::Check(_) => hide_expired(table, write.write.condition(), now),
    };
    Ok(match &write.write {
        Write::Put(put) => {
            let condition = extended.and_then(|extended| expressions.condition(&extended));
            let put = WirePut::builder()
                .table_name(&table.name)
                .set_item(Some(to_wire(&put.item)))
                .set_condition_expression(condition)
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .return_values_on_condition_check_failure(on_failure_or_expiry(
                    table,
                    put.returning,
                ));
            item.put(put.build().map_err(build_error)?)
        }
        Write::Delete(delete) => {
            let condition = extended.and_then(|extended| expressions.condition(&extended));
            let delete = WireDelete::builder()
                .table_name(&table.name)
                .set_key(Some(key_to_wire(&table.key, &delete.key)))
                .set_condition_expression(condition)
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .return_values_on_condition_check_failure(on_failure(delete.returning));
            item.delete(delete.build().map_err(build_error)?)
        }
        Write::Check(check) => {
            let condition =
                expressions.required_condition(extended.as_ref().unwrap_or(&check.condition));
            let check = ConditionCheck::builder()
                .table_name(&table.name)
                .set_key(Some(key_to_wire(&table.key, &check.key)))
                .condition_expression(condition)
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .return_values_on_condition_check_failure(on_failure(check.returning));
            item.condition_check(check.build().map_err(build_error)?)
        }
        Write::Update(update) => {
            let actions = expressions.update(&update.actions);
            let condition = extended.and_then(|extended| expressions.condition(&extended));
            let on_failure = on_failure_or_expiry(table, update.returning);
            let update = WireUpdate::builder()
                .table_name(&table.name)
                .set_key(Some(key_to_wire(&table.key, &update.key)))
                .update_expression(actions)
                .set_condition_expression(condition)
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .return_values_on_condition_check_failure(on_failure);
            item.update(update.build().map_err(build_error)?)
        }
    }
    .build())
}

/// The time that each caller's token was first sent with. Without it (after a restart, or from another
/// process), repeating a transaction whose request contains the time fails as a reused token.
#[derive(Debug, Default)]
pub(crate) struct TokenCache(Mutex<HashMap<String, (u64, Instant)>>);

impl TokenCache {
    const LIFETIME: Duration = Duration::from_millis(limits::TOKEN_LIFETIME_MS);
    /// Above this many entries, tokens that DynamoDB no longer remembers are removed.
    const PRUNE_ABOVE: usize = 10_000;

    /// Returns the time to send with a token, if it is still valid at `at`.
    fn first_sent(&self, token: &str, at: Instant) -> Option<u64> {
        let tokens = self.0.lock();
        let (now, sent) = tokens.get(token)?;
        Self::is_valid(*sent, at).then_some(*now)
    }

    /// Records that a token was sent at `at` with the time `now`, unless it is still valid.
    fn record(&self, token: Option<&String>, now: u64, at: Instant) {
        let Some(token) = token else { return };
        let mut tokens = self.0.lock();
        if tokens.len() >= Self::PRUNE_ABOVE {
            tokens.retain(|_, (_, sent)| Self::is_valid(*sent, at));
        }
        let entry = tokens.entry(token.clone()).or_insert((now, at));
        if !Self::is_valid(entry.1, at) {
            *entry = (now, at);
        }
    }

    fn is_valid(sent: Instant, at: Instant) -> bool {
        at.saturating_duration_since(sent) < Self::LIFETIME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_remembered_with_its_first_time_until_dynamodb_forgets_it() {
        let (cache, token, start) = (TokenCache::default(), String::from("t"), Instant::now());
        let last = start + TokenCache::LIFETIME / 2;
        cache.record(Some(&token), 7, start);
        cache.record(Some(&token), 8, last);
        assert_eq!(cache.first_sent("t", last), Some(7));
        let later = start + TokenCache::LIFETIME;
        assert_eq!(cache.first_sent("t", later), None);
        cache.record(Some(&token), 9, later);
        assert_eq!(cache.first_sent("t", later), Some(9), "remembered anew");
    }
}
