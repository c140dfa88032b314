//! Transactions: writes that happen together. A token is fresh for each built transaction and
//! reused only by its own retries; a caller's own token is passed on as it is.

use std::collections::HashMap;
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

use crate::errors::{code, code_of, refusal, unbuilt};
use crate::expiry::{guarded, guarded_anew};
use crate::expression::Expressions;
use crate::retry::{fresh_token, is_passing, once};
use crate::values::{from_wire, key_to_wire, to_wire};
use crate::writes::{EXPIRED_ROUNDS_MAX, hidden_from, on_failure, on_failure_anew};
use crate::{Dynamo, cost};

/// What one write had to do with a cancellation.
enum Verdict {
    Innocent,
    /// Only an expired item was in its way.
    Expired,
    Guilty(CancelReason),
}

/// Why a try at a transaction failed.
enum Failure {
    /// Judged write by write.
    Cancelled(Vec<Verdict>),
    Final(Error),
}

impl Dynamo {
    pub(crate) async fn write_together(&self, transaction: Transaction) -> Result<Capacity> {
        let mut swept = Capacity::ZERO;
        for _ in 0..EXPIRED_ROUNDS_MAX {
            // The same token must come with the same request, and that names the time.
            let now = match &transaction.token {
                Some(token) => {
                    let known = self.tokens.first_sent(token, Instant::now());
                    known.unwrap_or_else(|| self.now_seconds())
                }
                None => self.now_seconds(),
            };
            let verdicts = match self.try_together(&transaction, now).await {
                Ok(capacity) => return Ok(capacity + swept),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Cancelled(verdicts)) => verdicts,
            };
            if verdicts.iter().any(|verdict| matches!(verdict, Verdict::Guilty(_))) {
                let reasons = verdicts.into_iter().map(|verdict| match verdict {
                    Verdict::Guilty(reason) => Some(reason),
                    Verdict::Innocent | Verdict::Expired => None,
                });
                return Err(Error::Cancelled { reasons: reasons.collect() });
            }
            for (write, verdict) in transaction.writes.iter().zip(verdicts) {
                if let (Verdict::Expired, Some(key)) = (verdict, write.write.key(&write.table)) {
                    swept += self.sweep(&write.table, &key).await?;
                }
            }
        }
        Err(Error::Unavailable { detail: String::from("expired items kept coming back") })
    }

    async fn try_together(&self, transaction: &Transaction, now: u64) -> Result<Capacity, Failure> {
        let wire = transaction.writes.iter().map(|write| to_wire_write(write, now));
        let token = transaction.token.clone().unwrap_or_else(fresh_token);
        let request = self
            .client
            .transact_write_items()
            .set_transact_items(Some(wire.collect::<Result<Vec<_>>>()?))
            .client_request_token(&token)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let table = transaction.writes.first().map_or("", |write| &write.table.name);
        let error = match self.backoff().send(again, || once!(request)).await {
            Ok(answer) => {
                self.tokens.sent(transaction.token.as_ref(), now, Instant::now());
                return Ok(cost::write(answer.consumed_capacity.iter().flatten()));
            }
            Err(error) => error,
        };
        if let Some(reasons) = cancelled(&error) {
            return Err(Failure::Cancelled(self.judge(transaction, reasons, now).await?));
        }
        if code_of(&error) == Some(code::VALIDATION)
            && let Some(verdicts) = self.accuse(transaction).await
        {
            return Err(Failure::Cancelled(verdicts));
        }
        let error = refusal(&error, table);
        if matches!(error, Error::Unavailable { .. }) {
            // It may have happened, and must be asked about in the same words.
            self.tokens.sent(transaction.token.as_ref(), now, Instant::now());
        }
        Err(Failure::Final(error))
    }

    /// The updates that cannot be done, where a server refuses the whole instead of naming them
    /// (DynamoDB Local); `None` when it must have meant something else.
    async fn accuse(&self, transaction: &Transaction) -> Option<Vec<Verdict>> {
        let mut verdicts = Vec::with_capacity(transaction.writes.len());
        for write in &transaction.writes {
            let fault = match &write.write {
                Write::Update(update) => self.fault(&write.table, update).await,
                _ => None,
            };
            verdicts.push(
                fault.map_or(Verdict::Innocent, |fault| {
                    Verdict::Guilty(CancelReason::Invalid(fault))
                }),
            );
        }
        let found = verdicts.iter().any(|verdict| matches!(verdict, Verdict::Guilty(_)));
        found.then_some(verdicts)
    }

    async fn judge(
        &self,
        transaction: &Transaction,
        reasons: &[CancellationReason],
        now: u64,
    ) -> Result<Vec<Verdict>> {
        let mut verdicts = Vec::with_capacity(transaction.writes.len());
        for (at, write) in transaction.writes.iter().enumerate() {
            verdicts.push(match reasons.get(at) {
                Some(reason) => self.judge_write(write, reason, now).await?,
                None => Verdict::Innocent,
            });
        }
        Ok(verdicts)
    }

    async fn judge_write(
        &self,
        write: &TableWrite,
        reason: &CancellationReason,
        now: u64,
    ) -> Result<Verdict> {
        let table = &*write.table;
        let detail = || reason.message().unwrap_or("no reason given").to_owned();
        Ok(match reason.code() {
            None | Some("None") => Verdict::Innocent,
            Some("ConditionalCheckFailed") => {
                let item = reason.item().cloned().filter(|wire| !wire.is_empty());
                judge_item(table, &write.write, item.map(from_wire).transpose()?, now)
            }
            Some("TransactionConflict") => Verdict::Guilty(CancelReason::Conflict),
            Some("ThrottlingError" | "ProvisionedThroughputExceeded") => {
                Verdict::Guilty(CancelReason::Throttled)
            }
            Some("ValidationError") => {
                let fault = match &write.write {
                    Write::Update(update) => self.fault(table, update).await,
                    _ => None,
                };
                let refused = || Invalid::Refused { detail: detail() };
                Verdict::Guilty(CancelReason::Invalid(fault.unwrap_or_else(refused)))
            }
            Some(code) => {
                let detail = format!("{code}: {}", detail());
                Verdict::Guilty(CancelReason::Invalid(Invalid::Refused { detail }))
            }
        })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

/// The reasons for a cancellation, if that is what happened.
fn cancelled<R>(error: &SdkError<TransactWriteItemsError, R>) -> Option<&[CancellationReason]> {
    match error.as_service_error()? {
        TransactWriteItemsError::TransactionCanceledException(cancelled) => {
            Some(cancelled.cancellation_reasons())
        }
        _ => None,
    }
}

/// When to send a transaction again: its token keeps it from happening twice.
fn again(error: &SdkError<TransactWriteItemsError, HttpResponse>) -> bool {
    match cancelled(error) {
        Some(reasons) => passing(reasons),
        None => is_passing(error) || code_of(error) == Some(code::IN_PROGRESS),
    }
}

/// Whether all that went wrong may go well the next time.
fn passing(reasons: &[CancellationReason]) -> bool {
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

fn judge_item(table: &TableDefinition, write: &Write, item: Option<Item>, now: u64) -> Verdict {
    if let (Write::Put(_) | Write::Update(_), Some(item)) = (write, &item)
        && hidden_from(table, write.condition(), item, now)
    {
        return Verdict::Expired;
    }
    let seen =
        item.filter(|item| write.returning() == Returning::Old && !table.is_expired(item, now));
    Verdict::Guilty(CancelReason::ConditionFailed { item: seen.map(Box::new) })
}

fn to_wire_write(write: &TableWrite, now: u64) -> Result<TransactWriteItem> {
    let table = &*write.table;
    let item = TransactWriteItem::builder();
    let mut expressions = Expressions::default();
    // Puts and updates begin anew where an item has expired; the others just do not see it.
    let seen = match &write.write {
        Write::Put(_) | Write::Update(_) => guarded_anew(table, write.write.condition(), now),
        Write::Delete(_) | Write::Check(_) => guarded(table, write.write.condition(), now),
    };
    Ok(match &write.write {
        Write::Put(put) => {
            let condition = seen.and_then(|seen| expressions.condition(&seen));
            let put = WirePut::builder()
                .table_name(&table.name)
                .set_item(Some(to_wire(&put.item)))
                .set_condition_expression(condition)
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .return_values_on_condition_check_failure(on_failure_anew(table, put.returning));
            item.put(put.build().map_err(unbuilt)?)
        }
        Write::Delete(delete) => {
            let condition = seen.and_then(|seen| expressions.condition(&seen));
            let delete = WireDelete::builder()
                .table_name(&table.name)
                .set_key(Some(key_to_wire(&table.key, &delete.key)))
                .set_condition_expression(condition)
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .return_values_on_condition_check_failure(on_failure(delete.returning));
            item.delete(delete.build().map_err(unbuilt)?)
        }
        Write::Check(check) => {
            let condition = expressions.demanded(seen.as_ref().unwrap_or(&check.condition));
            let check = ConditionCheck::builder()
                .table_name(&table.name)
                .set_key(Some(key_to_wire(&table.key, &check.key)))
                .condition_expression(condition)
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .return_values_on_condition_check_failure(on_failure(check.returning));
            item.condition_check(check.build().map_err(unbuilt)?)
        }
        Write::Update(update) => {
            let actions = expressions.update(&update.actions);
            let condition = seen.and_then(|seen| expressions.condition(&seen));
            let on_failure = on_failure_anew(table, update.returning);
            let update = WireUpdate::builder()
                .table_name(&table.name)
                .set_key(Some(key_to_wire(&table.key, &update.key)))
                .update_expression(actions)
                .set_condition_expression(condition)
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .return_values_on_condition_check_failure(on_failure);
            item.update(update.build().map_err(unbuilt)?)
        }
    }
    .build())
}

/// The time each of the callers' tokens was first sent with. A repetition after a restart, or from
/// another process, of a transaction whose request names the time is answered as a reused token.
#[derive(Debug, Default)]
pub(crate) struct TokenMemory(Mutex<HashMap<String, (u64, Instant)>>);

impl TokenMemory {
    const LIFETIME: Duration = Duration::from_millis(limits::TOKEN_LIFETIME_MS);
    /// Above this many, those that DynamoDB has forgotten are forgotten here.
    const MANY: usize = 10_000;

    /// The time that goes with a token at the moment `at`.
    fn first_sent(&self, token: &str, at: Instant) -> Option<u64> {
        let tokens = self.0.lock();
        let (now, sent) = tokens.get(token)?;
        Self::lasts(*sent, at).then_some(*now)
    }

    /// Notes that a token was sent at the moment `at` with the time `now`, unless it is known.
    fn sent(&self, token: Option<&String>, now: u64, at: Instant) {
        let Some(token) = token else { return };
        let mut tokens = self.0.lock();
        if tokens.len() >= Self::MANY {
            tokens.retain(|_, (_, sent)| Self::lasts(*sent, at));
        }
        let known = tokens.entry(token.clone()).or_insert((now, at));
        if !Self::lasts(known.1, at) {
            *known = (now, at);
        }
    }

    fn lasts(sent: Instant, at: Instant) -> bool {
        at.saturating_duration_since(sent) < Self::LIFETIME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_remembered_with_its_first_time_until_dynamodb_forgets_it() {
        let (memory, token, start) = (TokenMemory::default(), String::from("t"), Instant::now());
        let last = start + TokenMemory::LIFETIME / 2;
        memory.sent(Some(&token), 7, start);
        memory.sent(Some(&token), 8, last);
        assert_eq!(memory.first_sent("t", last), Some(7));
        let later = start + TokenMemory::LIFETIME;
        assert_eq!(memory.first_sent("t", later), None);
        memory.sent(Some(&token), 9, later);
        assert_eq!(memory.first_sent("t", later), Some(9), "remembered anew");
    }
}
