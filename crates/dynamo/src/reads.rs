//! Reads of single items, and of several at one point in time.

use std::collections::HashMap;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_get_items::{
    TransactGetItemsError, TransactGetItemsOutput,
};
use aws_sdk_dynamodb::types::{
    CancellationReason, Get as WireGet, ReturnConsumedCapacity, TransactGetItem,
};
use roundtable_table::{
    CancelReason, Error, Get, GetManyOutput, GetOutput, Invalid, Item, Limit, Result,
    TableDefinition, TableGet, limits,
};

use crate::errors::{build_error, code, code_of, to_error};
use crate::expiry::live;
use crate::expression::Expressions;
use crate::read_projection::ReadProjection;
use crate::retry::{is_transient, send_once};
use crate::values::{WireItem, from_wire, key_to_wire};
use crate::{Dynamo, cost};

/// Renders a projection as an expression with its names.
pub(crate) fn projected(
    read_projection: &ReadProjection,
) -> (Option<String>, Option<HashMap<String, String>>) {
    let mut expressions = Expressions::default();
    let text = expressions.projection(&read_projection.requested);
    (text, expressions.names())
}

impl Dynamo {
    pub(crate) async fn read_one(&self, table: &TableDefinition, get: Get) -> Result<GetOutput> {
        let read_projection = ReadProjection::new(table, None, &get.projection, false);
        let (projection, names) = projected(&read_projection);
        let response = self
            .client
            .get_item()
            .table_name(&table.name)
            .set_key(Some(key_to_wire(&table.key, &get.key)))
            .consistent_read(get.strong)
            .set_projection_expression(projection)
            .set_expression_attribute_names(names)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| to_error(&error, &table.name))?;
        let item = self.visible(table, &read_projection, response.item)?;
        Ok(GetOutput { item, capacity: cost::read(&response.consumed_capacity) })
    }

    /// Returns the requested parts of a fetched item; `None` if it is expired.
    pub(crate) fn visible(
        &self,
        table: &TableDefinition,
        read_projection: &ReadProjection,
        wire: Option<WireItem>,
    ) -> Result<Option<Item>> {
        let Some(wire) = wire else { return Ok(None) };
        Ok(live(table, from_wire(wire)?, self.now_seconds())
            .map(|item| read_projection.apply(item)))
    }

    pub(crate) async fn read_transaction(&self, gets: Vec<TableGet>) -> Result<GetManyOutput> {
        let read_projections: Vec<ReadProjection> = gets
            .iter()
            .map(|get| ReadProjection::new(&get.table, None, &get.get.projection, false))
            .collect();
        let response = self.send_transaction(&gets, &read_projections).await?;
        let mut found = response.responses.unwrap_or_default().into_iter();
        let items = gets
            .iter()
            .zip(&read_projections)
            .map(|(get, read_projection)| {
                let wire = found.next().and_then(|response| response.item);
                self.visible(&get.table, read_projection, wire)
            })
            .collect::<Result<Vec<_>>>()?;
        // Servers other than Amazon's may not check the limit.
        check_transaction_bytes(items.iter().flatten().map(Item::size).sum())?;
        let capacity = cost::read(response.consumed_capacity.iter().flatten());
        Ok(GetManyOutput { items, capacity })
    }

    async fn send_transaction(
        &self,
        gets: &[TableGet],
        read_projections: &[ReadProjection],
    ) -> Result<TransactGetItemsOutput> {
        let wire = gets.iter().zip(read_projections).map(|(get, read_projection)| {
            let (projection, names) = projected(read_projection);
            let get = WireGet::builder()
                .table_name(&get.table.name)
                .set_key(Some(key_to_wire(&get.table.key, &get.get.key)))
                .set_projection_expression(projection)
                .set_expression_attribute_names(names)
                .build()
                .map_err(build_error)?;
            Ok(TransactGetItem::builder().get(get).build())
        });
        let wire = wire.collect::<Result<Vec<_>>>()?;
        let request = self
            .client
            .transact_get_items()
            .set_transact_items(Some(wire))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let again = |error: &_| is_transient(error) || conflicts(error, gets.len()).is_some();
        let error = match self.backoff().send(again, || send_once!(request)).await {
            Ok(response) => return Ok(response),
            Err(error) => error,
        };
        if let Some(conflicts) = conflicts(&error, gets.len()) {
            return Err(conflicts);
        }
        if is_invalid(&error) {
            self.check_size(gets).await?;
        }
        Err(to_error(&error, gets.first().map_or("", |get| &get.table.name)))
    }

    /// Fails if the items are too large to be read together, which may be why DynamoDB rejected the
    /// request. Reads them one by one, because the text of its error may change.
    async fn check_size(&self, gets: &[TableGet]) -> Result<()> {
        let mut bytes = 0;
        for get in gets {
            let alone = Get::new(get.get.key.clone()).strong();
            bytes += self.read_one(&get.table, alone).await?.item.as_ref().map_or(0, Item::size);
        }
        Ok(check_transaction_bytes(bytes)?)
    }
}

/// Fails if the items exceed the size limit of a transaction.
fn check_transaction_bytes(actual: usize) -> Result<(), Invalid> {
    let max = limits::TRANSACTION_BYTES_MAX;
    if actual <= max {
        return Ok(());
    }
    let (limit, subject) = (Limit::TransactionBytes, String::from("one transactional read"));
    Err(Invalid::OverLimit { limit, actual, max, subject })
}

/// Returns whether the request itself was invalid.
fn is_invalid<R>(error: &SdkError<TransactGetItemsError, R>) -> bool {
    match error.as_service_error() {
        Some(TransactGetItemsError::TransactionCanceledException(cancelled)) => {
            let mut codes = cancelled.cancellation_reasons().iter().map(CancellationReason::code);
            codes.any(|code| code == Some("ValidationError"))
        }
        _ => code_of(error) == Some(code::VALIDATION),
    }
}

/// Returns the reads that conflicted with a concurrent transaction, if that was the error.
fn conflicts<R>(error: &SdkError<TransactGetItemsError, R>, reads: usize) -> Option<Error> {
    let Some(TransactGetItemsError::TransactionCanceledException(cancelled)) =
        error.as_service_error()
    else {
        let met = code_of(error) == Some(code::CONFLICT);
        return met
            .then(|| Error::Cancelled { reasons: vec![Some(CancelReason::Conflict); reads] });
    };
    let reasons: Vec<Option<CancelReason>> = cancelled
        .cancellation_reasons()
        .iter()
        .map(|reason| match reason.code() {
            Some("TransactionConflict") => Some(CancelReason::Conflict),
            Some("ThrottlingError" | "ProvisionedThroughputExceeded") => {
                Some(CancelReason::Throttled)
            }
            _ => None,
        })
        .collect();
    reasons.iter().any(Option::is_some).then_some(Error::Cancelled { reasons })
}
