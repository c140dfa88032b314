//! Single writes. A delete takes an expired item as it is. A put or update takes it away first: an
//! update must not build on it, and the stream should tell of one item's end and another's start.
//!
//! A failure that leaves open whether the write happened is retried only where doing it twice is
//! doing it once. Otherwise a counter would count twice, or a condition fail on the write's own
//! first try; such a failure is [`Error::Unavailable`] at once. Transactions have tokens for that.

use std::fmt::Debug;

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::types::{
    ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure,
};
use roundtable_table::{
    Action, Capacity, Condition, Delete, Error, Get, Invalid, Item, Key, Path, Put, Result,
    Returning, Step, TableDefinition, Term, Update, Value, Written, update,
};

use crate::errors::{WriteError, code, code_of, refusal};
use crate::expiry::{expired, guarded, guarded_anew, live};
use crate::expression::Expressions;
use crate::retry::{is_passing, is_undone, once};
use crate::values::{Wire, from_wire, key_to_wire, to_wire};
use crate::{Dynamo, cost};

/// How often an update may find yet another expired item in its way.
pub(crate) const EXPIRED_ROUNDS_MAX: usize = 4;

/// What became of one try.
enum Attempt {
    Done(Written),
    /// An expired item was in the way, and nothing else.
    Expired,
}

impl Dynamo {
    pub(crate) async fn write_put(&self, table: &TableDefinition, put: &Put) -> Result<Written> {
        let mut swept = Capacity::ZERO;
        for _ in 0..EXPIRED_ROUNDS_MAX {
            match self.try_put(table, put).await? {
                Attempt::Done(written) => {
                    return Ok(Written { capacity: written.capacity + swept, ..written });
                }
                Attempt::Expired => {
                    let key = table.key.read(&put.item).ok_or_else(keyless)?;
                    swept += self.sweep(table, &key).await?;
                }
            }
        }
        Err(kept_coming())
    }

    async fn try_put(&self, table: &TableDefinition, put: &Put) -> Result<Attempt> {
        let now = self.now_seconds();
        let mut expressions = Expressions::default();
        let condition = guarded_anew(table, put.condition.as_ref(), now)
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
            .return_values_on_condition_check_failure(on_failure_anew(table, put.returning))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let repeatable = put.condition.is_none() && put.returning != Returning::Old;
        match self.backoff().send(again(repeatable), || once!(request)).await {
            Ok(answer) => {
                let item = match put.returning {
                    Returning::New => Some(put.item.clone()),
                    _ => seen(table, answer.attributes, now)?,
                };
                let capacity = cost::write(&answer.consumed_capacity);
                Ok(Attempt::Done(Written { item, capacity }))
            }
            Err(error) => hindered(&error, table, put.condition.as_ref(), put.returning, now),
        }
    }

    pub(crate) async fn write_delete(
        &self,
        table: &TableDefinition,
        delete: Delete,
    ) -> Result<Written> {
        let now = self.now_seconds();
        let mut expressions = Expressions::default();
        let condition = guarded(table, delete.condition.as_ref(), now)
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
        let answer = self.backoff().send(again(repeatable), || once!(request)).await;
        let answer = answer.map_err(|error| failed(&error, table, delete.returning, now))?;
        let item = seen(table, answer.attributes, now)?;
        Ok(Written { item, capacity: cost::write(&answer.consumed_capacity) })
    }

    pub(crate) async fn write_update(
        &self,
        table: &TableDefinition,
        update: &Update,
    ) -> Result<Written> {
        let mut swept = Capacity::ZERO;
        for _ in 0..EXPIRED_ROUNDS_MAX {
            match self.try_update(table, update).await? {
                Attempt::Done(written) => {
                    return Ok(Written { capacity: written.capacity + swept, ..written });
                }
                Attempt::Expired => swept += self.sweep(table, &update.key).await?,
            }
        }
        Err(kept_coming())
    }

    async fn try_update(&self, table: &TableDefinition, update: &Update) -> Result<Attempt> {
        let now = self.now_seconds();
        let mut expressions = Expressions::default();
        let actions = expressions.update(&update.actions);
        let condition = guarded_anew(table, update.condition.as_ref(), now)
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
            .return_values_on_condition_check_failure(on_failure_anew(table, update.returning))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        match self.backoff().send(again(is_repeatable(update)), || once!(request)).await {
            Ok(answer) => {
                let item = match update.returning {
                    Returning::New => answer.attributes.map(from_wire).transpose()?,
                    _ => seen(table, answer.attributes, now)?,
                };
                let capacity = cost::write(&answer.consumed_capacity);
                Ok(Attempt::Done(Written { item, capacity }))
            }
            Err(error) if code_of(&error) == Some(code::VALIDATION) => {
                let fault = self.fault(table, update).await;
                Err(fault.map_or_else(|| refusal(&error, &table.name), Error::from))
            }
            Err(error) => hindered(&error, table, update.condition.as_ref(), update.returning, now),
        }
    }

    /// Takes the item at `key` away if it has expired, as DynamoDB will do sooner or later.
    pub(crate) async fn sweep(&self, table: &TableDefinition, key: &Key) -> Result<Capacity> {
        let mut expressions = Expressions::default();
        let condition = expired(table, self.now_seconds())
            .and_then(|condition| expressions.condition(&condition));
        let answer = self
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
        match answer {
            Ok(answer) => Ok(cost::write(&answer.consumed_capacity)),
            Err(error) => match error.as_service_error().and_then(WriteError::condition_failed) {
                // Someone wrote a live item there, or took it away: all the better.
                Some(_) => Ok(Capacity::ZERO),
                None => Err(refusal(&error, &table.name)),
            },
        }
    }

    /// What is wrong with an update that DynamoDB refused: found by doing it here, rather than by
    /// reading the English of the refusal. `None` when it could be done.
    pub(crate) async fn fault(&self, table: &TableDefinition, update: &Update) -> Option<Invalid> {
        let found = self.read_one(table, Get::new(update.key.clone()).strong()).await.ok()?;
        let before = found.item.unwrap_or_else(|| table.key.item(&update.key));
        let after = update::apply(&update.actions, &before, &update.key);
        after.and_then(|after| table.check_item(&after)).err()
    }
}

/// Whether doing an update twice is doing it once.
fn is_repeatable(update: &Update) -> bool {
    // Beyond the end of a list, an element is appended; below it, others move up.
    let lasting = |path: &Path| path.steps().iter().all(|step| matches!(step, Step::Field(_)));
    let repeatable = |action: &Action| match action {
        Action::Set(path, Term::Value(_)) | Action::Remove(path) => lasting(path),
        Action::Set(..) | Action::Add(_, Value::N(_)) => false,
        Action::Add(..) | Action::Subtract(..) => true,
    };
    update.condition.is_none()
        && update.returning != Returning::Old
        && update.actions.iter().all(repeatable)
}

/// When to send a write again: if it surely did not happen, or may happen twice.
fn again<E: WriteError>(repeatable: bool) -> impl Fn(&SdkError<E, HttpResponse>) -> bool {
    move |error| is_undone(error) || (repeatable && is_passing(error))
}

/// Whether a write failed only because `item`, which it cannot see, was in its way.
pub(crate) fn hidden_from(
    table: &TableDefinition,
    condition: Option<&Condition>,
    item: &Item,
    now_seconds: u64,
) -> bool {
    table.is_expired(item, now_seconds) && condition.is_none_or(|condition| condition.holds(None))
}

/// What it means that a write that makes an item anew failed.
fn hindered<E: WriteError, R: Debug>(
    error: &SdkError<E, R>,
    table: &TableDefinition,
    condition: Option<&Condition>,
    returning: Returning,
    now_seconds: u64,
) -> Result<Attempt> {
    let check = error.as_service_error().and_then(WriteError::condition_failed);
    let item = check.and_then(|check| check.item.clone()).map(from_wire).transpose()?;
    if item.is_some_and(|item| hidden_from(table, condition, &item, now_seconds)) {
        return Ok(Attempt::Expired);
    }
    Err(failed(error, table, returning, now_seconds))
}

fn kept_coming() -> Error {
    Error::Unavailable { detail: String::from("expired items kept coming back") }
}

fn keyless() -> Error {
    Error::Unexpected { detail: String::from("an item without a key") }
}

/// What a put or update needs to know when it fails: whether an expired item was in its way.
pub(crate) const fn on_failure_anew(
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

/// An image returned, if it can be seen.
fn seen(table: &TableDefinition, wire: Option<Wire>, now_seconds: u64) -> Result<Option<Item>> {
    let item = wire.filter(|wire| !wire.is_empty()).map(from_wire).transpose()?;
    Ok(item.and_then(|item| live(table, item, now_seconds)))
}

fn failed<E: WriteError, R: Debug>(
    error: &SdkError<E, R>,
    table: &TableDefinition,
    returning: Returning,
    now_seconds: u64,
) -> Error {
    let Some(failed) = error.as_service_error().and_then(WriteError::condition_failed) else {
        return refusal(error, &table.name);
    };
    let item = failed.item.clone().filter(|_| returning == Returning::Old);
    match seen(table, item, now_seconds) {
        Ok(item) => Error::ConditionFailed { item: item.map(Box::new) },
        Err(error) => error,
    }
}
