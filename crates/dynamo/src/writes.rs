//! Single writes. A delete treats an expired item like any other. A put or update deletes it first: an
//! update must not build on it, and the stream should show a removal and an insert.
//!
//! After a failure that leaves open whether the write happened, only idempotent writes are retried.
//! Otherwise a counter could count twice, or a condition fail because of the write's own first attempt;
//! such a failure is [`Error::Unavailable`] at once. Transactions have tokens instead.

use std::fmt::Debug;

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::types::{
    ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure,
};
use roundtable_table::{
    Capacity, Condition, Delete, Error, Get, Invalid, Item, Key, Path, PathStep, Put, Result,
    Returning, TableDefinition, Term, Update, UpdateAction, Value, WriteOutput, update,
};

use crate::errors::{WriteError, code, code_of, to_error};
use crate::expiry::{expired, hide_expired, live, require_unexpired};
use crate::expression::Expressions;
use crate::retry::{is_rejected, is_transient, send_once};
use crate::values::{WireItem, from_wire, key_to_wire, to_wire};
use crate::{Dynamo, cost};

/// Most attempts of a write that finds expired items.
pub(crate) const EXPIRED_RETRIES_MAX: usize = 4;

enum WriteAttempt {
    Done(WriteOutput),
    /// It failed only because of an expired item.
    Expired,
}

impl Dynamo {
    pub(crate) async fn write_put(
        &self,
        table: &TableDefinition,
        put: &Put,
    ) -> Result<WriteOutput> {
        let mut swept = Capacity::ZERO;
        for _ in 0..EXPIRED_RETRIES_MAX {
            match self.try_put(table, put).await? {
                WriteAttempt::Done(written) => {
                    return Ok(WriteOutput { capacity: written.capacity + swept, ..written });
                }
                WriteAttempt::Expired => {
                    let key = table.key.read(&put.item).ok_or_else(missing_key)?;
                    swept += self.sweep(table, &key).await?;
                }
            }
        }
        Err(expired_items_reappeared())
    }

    async fn try_put(&self, table: &TableDefinition, put: &Put) -> Result<WriteAttempt> {
        let now = self.now_seconds();
        let mut expressions = Expressions::default();
        let condition = require_unexpired(table, put.condition.as_ref(), now)
            .and_then(|condition| expressions.condition(&condition));
        let request = self
            .client
            .put_item()
            .table_name(&table.name)
            .set_item(Some(to_wire(&put.item)))
            .set_condition_expression(condition)
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .set_return_values((put.returning == Returning::Old).then_some(ReturnValue::AllOld))
            .return_values_on_condition_check_failure(on_failure_or_expiry(table, put.returning))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let repeatable = put.condition.is_none() && put.returning != Returning::Old;
        match self.backoff().send(should_retry(repeatable), || send_once!(request)).await {
            Ok(response) => {
                let item = match put.returning {
                    Returning::New => Some(put.item.clone()),
                    _ => visible_item(table, response.attributes, now)?,
                };
                let capacity = cost::write(&response.consumed_capacity);
                Ok(WriteAttempt::Done(WriteOutput { item, capacity }))
            }
            Err(error) => {
                classify_failure(&error, table, put.condition.as_ref(), put.returning, now)
            }
        }
    }

    pub(crate) async fn write_delete(
        &self,
        table: &TableDefinition,
        delete: Delete,
    ) -> Result<WriteOutput> {
        let now = self.now_seconds();
        let mut expressions = Expressions::default();
        let condition = hide_expired(table, delete.condition.as_ref(), now)
            .and_then(|condition| expressions.condition(&condition));
        let request = self
            .client
            .delete_item()
            .table_name(&table.name)
            .set_key(Some(key_to_wire(&table.key, &delete.key)))
            .set_condition_expression(condition)
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .set_return_values((delete.returning == Returning::Old).then_some(ReturnValue::AllOld))
            .return_values_on_condition_check_failure(on_failure(delete.returning))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let repeatable = delete.condition.is_none() && delete.returning != Returning::Old;
        let response = self.backoff().send(should_retry(repeatable), || send_once!(request)).await;
        let response =
            response.map_err(|error| write_error(&error, table, delete.returning, now))?;
        let item = visible_item(table, response.attributes, now)?;
        Ok(WriteOutput { item, capacity: cost::write(&response.consumed_capacity) })
    }

    pub(crate) async fn write_update(
        &self,
        table: &TableDefinition,
        update: &Update,
    ) -> Result<WriteOutput> {
        let mut swept = Capacity::ZERO;
        for _ in 0..EXPIRED_RETRIES_MAX {
            match self.try_update(table, update).await? {
                WriteAttempt::Done(written) => {
                    return Ok(WriteOutput { capacity: written.capacity + swept, ..written });
                }
                WriteAttempt::Expired => swept += self.sweep(table, &update.key).await?,
            }
        }
        Err(expired_items_reappeared())
    }

    async fn try_update(&self, table: &TableDefinition, update: &Update) -> Result<WriteAttempt> {
        let now = self.now_seconds();
        let mut expressions = Expressions::default();
        let actions = expressions.update(&update.actions);
        let condition = require_unexpired(table, update.condition.as_ref(), now)
            .and_then(|condition| expressions.condition(&condition));
        let request = self
            .client
            .update_item()
            .table_name(&table.name)
            .set_key(Some(key_to_wire(&table.key, &update.key)))
            .update_expression(actions)
            .set_condition_expression(condition)
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .return_values(match update.returning {
                Returning::Nothing => ReturnValue::None,
                Returning::Old => ReturnValue::AllOld,
                Returning::New => ReturnValue::AllNew,
            })
            .return_values_on_condition_check_failure(on_failure_or_expiry(table, update.returning))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        match self.backoff().send(should_retry(is_idempotent(update)), || send_once!(request)).await
        {
            Ok(response) => {
                let item = match update.returning {
                    Returning::New => response.attributes.map(from_wire).transpose()?,
                    _ => visible_item(table, response.attributes, now)?,
                };
                let capacity = cost::write(&response.consumed_capacity);
                Ok(WriteAttempt::Done(WriteOutput { item, capacity }))
            }
            Err(error) if code_of(&error) == Some(code::VALIDATION) => {
                let fault = self.find_fault(table, update).await;
                Err(fault.map_or_else(|| to_error(&error, &table.name), Error::from))
            }
            Err(error) => {
                classify_failure(&error, table, update.condition.as_ref(), update.returning, now)
            }
        }
    }

    /// Deletes the item at `key` if it has expired, before DynamoDB does.
    pub(crate) async fn sweep(&self, table: &TableDefinition, key: &Key) -> Result<Capacity> {
        let mut expressions = Expressions::default();
        let condition = expired(table, self.now_seconds())
            .and_then(|condition| expressions.condition(&condition));
        let response = self
            .client
            .delete_item()
            .table_name(&table.name)
            .set_key(Some(key_to_wire(&table.key, key)))
            .set_condition_expression(condition)
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        match response {
            Ok(response) => Ok(cost::write(&response.consumed_capacity)),
            Err(error) => match error.as_service_error().and_then(WriteError::condition_failed) {
                // Another client replaced or deleted it, which is fine.
                Some(_) => Ok(Capacity::ZERO),
                None => Err(to_error(&error, &table.name)),
            },
        }
    }

    /// Finds the fault of an update that DynamoDB rejected by applying it here, instead of parsing the
    /// English error. `None` if the update is valid.
    pub(crate) async fn find_fault(
        &self,
        table: &TableDefinition,
        update: &Update,
    ) -> Option<Invalid> {
        let found = self.read_one(table, Get::new(update.key.clone()).strong()).await.ok()?;
        let before = found.item.unwrap_or_else(|| table.key.item(&update.key));
        let after = update::apply(&update.actions, &before, &update.key);
        after.and_then(|after| table.check_item(&after)).err()
    }
}

/// Returns whether applying an update twice has the same result as once.
fn is_idempotent(update: &Update) -> bool {
    // Setting past the end of a list appends; removing an element moves others up.
    let is_stable =
        |path: &Path| path.steps().iter().all(|step| matches!(step, PathStep::Field(_)));
    let repeatable = |action: &UpdateAction| match action {
        UpdateAction::Set(path, Term::Value(_)) | UpdateAction::Remove(path) => is_stable(path),
        UpdateAction::Set(..) | UpdateAction::Add(_, Value::N(_)) => false,
        UpdateAction::Add(..) | UpdateAction::Subtract(..) => true,
    };
    update.condition.is_none()
        && update.returning != Returning::Old
        && update.actions.iter().all(repeatable)
}

/// Returns whether to retry a write: if it certainly did not happen, or may happen twice.
fn should_retry<E: WriteError>(repeatable: bool) -> impl Fn(&SdkError<E, HttpResponse>) -> bool {
    move |error| is_rejected(error) || (repeatable && is_transient(error))
}

/// Returns whether a write failed only because `item` is expired and still stored.
pub(crate) fn is_blocked_by_expired(
    table: &TableDefinition,
    condition: Option<&Condition>,
    item: &Item,
    now_seconds: u64,
) -> bool {
    table.is_expired(item, now_seconds) && condition.is_none_or(|condition| condition.holds(None))
}

/// Classifies the failure of a put or update.
fn classify_failure<E: WriteError, R: Debug>(
    error: &SdkError<E, R>,
    table: &TableDefinition,
    condition: Option<&Condition>,
    returning: Returning,
    now_seconds: u64,
) -> Result<WriteAttempt> {
    let check = error.as_service_error().and_then(WriteError::condition_failed);
    let item = check.and_then(|check| check.item.clone()).map(from_wire).transpose()?;
    if item.is_some_and(|item| is_blocked_by_expired(table, condition, &item, now_seconds)) {
        return Ok(WriteAttempt::Expired);
    }
    Err(write_error(error, table, returning, now_seconds))
}

pub(crate) fn expired_items_reappeared() -> Error {
    Error::Unavailable { detail: String::from("expired items kept reappearing; try again") }
}

fn missing_key() -> Error {
    Error::Unexpected { detail: String::from("an item without a key") }
}

/// Requests the existing item on failure, to detect an expired one.
pub(crate) const fn on_failure_or_expiry(
    table: &TableDefinition,
    returning: Returning,
) -> ReturnValuesOnConditionCheckFailure {
    match table.ttl {
        Some(_) => ReturnValuesOnConditionCheckFailure::AllOld,
        None => on_failure(returning),
    }
}

pub(crate) const fn on_failure(returning: Returning) -> ReturnValuesOnConditionCheckFailure {
    match returning {
        Returning::Old => ReturnValuesOnConditionCheckFailure::AllOld,
        Returning::Nothing | Returning::New => ReturnValuesOnConditionCheckFailure::None,
    }
}

/// Decodes a returned image; `None` if it is expired.
fn visible_item(
    table: &TableDefinition,
    wire: Option<WireItem>,
    now_seconds: u64,
) -> Result<Option<Item>> {
    let item = wire.filter(|wire| !wire.is_empty()).map(from_wire).transpose()?;
    Ok(item.and_then(|item| live(table, item, now_seconds)))
}

fn write_error<E: WriteError, R: Debug>(
    error: &SdkError<E, R>,
    table: &TableDefinition,
    returning: Returning,
    now_seconds: u64,
) -> Error {
    let Some(failed) = error.as_service_error().and_then(WriteError::condition_failed) else {
        return to_error(error, &table.name);
    };
    let item = failed.item.clone().filter(|_| returning == Returning::Old);
    match visible_item(table, item, now_seconds) {
        Ok(item) => Error::ConditionFailed { item: item.map(Box::new) },
        Err(error) => error,
    }
}
