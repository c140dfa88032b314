//! Reads of single items, and of several at one moment.

use std::collections::HashMap;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_get_items::{
    TransactGetItemsError, TransactGetItemsOutput,
};
use aws_sdk_dynamodb::types::{
    CancellationReason, Get as WireGet, ReturnConsumedCapacity, TransactGetItem,
};
use roundtable_table::{
    CancelReason, Error, Found, FoundMany, Get, Invalid, Item, Limit, Result, TableDefinition,
    TableGet, limits,
};

use crate::errors::{code, code_of, refusal, unbuilt};
use crate::expiry::live;
use crate::expression::Expressions;
use crate::retry::{is_passing, once};
use crate::values::{Wire, from_wire, key_to_wire};
use crate::view::View;
use crate::{Dynamo, cost};

/// A view's projection as an expression with its names.
pub(crate) fn projected(view: &View) -> (Option<String>, Option<HashMap<String, String>>) {
    let mut expressions = Expressions::default();
    let text = expressions.projection(&view.asked);
    (text, expressions.names())
}

impl Dynamo {
    pub(crate) async fn read_one(&self, table: &TableDefinition, get: Get) -> Result<Found> {
        let view = View::new(table, None, &get.projection, false);
        let (projection, names) = projected(&view);
        let answer = self
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
            .map_err(|error| refusal(&error, &table.name))?;
        let item = self.visible(table, &view, answer.item)?;
        Ok(Found { item, capacity: cost::read(&answer.consumed_capacity) })
    }

    /// What the caller may see of an item fetched.
    pub(crate) fn visible(
        &self,
        table: &TableDefinition,
        view: &View,
        wire: Option<Wire>,
    ) -> Result<Option<Item>> {
        let Some(wire) = wire else { return Ok(None) };
        Ok(live(table, from_wire(wire)?, self.now_seconds()).map(|item| view.show(item)))
    }

    pub(crate) async fn read_together(&self, gets: Vec<TableGet>) -> Result<FoundMany> {
        let views: Vec<View> = gets
            .iter()
            .map(|get| View::new(&get.table, None, &get.get.projection, false))
            .collect();
        let answer = self.send_together(&gets, &views).await?;
        let mut found = answer.responses.unwrap_or_default().into_iter();
        let items = gets
            .iter()
            .zip(&views)
            .map(|(get, view)| {
                let wire = found.next().and_then(|response| response.item);
                self.visible(&get.table, view, wire)
            })
            .collect::<Result<Vec<_>>>()?;
        // Servers other than Amazon's may not look at it.
        fit_together(items.iter().flatten().map(Item::size).sum())?;
        let capacity = cost::read(answer.consumed_capacity.iter().flatten());
        Ok(FoundMany { items, capacity })
    }

    async fn send_together(
        &self,
        gets: &[TableGet],
        views: &[View],
    ) -> Result<TransactGetItemsOutput> {
        let wire = gets.iter().zip(views).map(|(get, view)| {
            let (projection, names) = projected(view);
            let get = WireGet::builder()
                .table_name(&get.table.name)
                .set_key(Some(key_to_wire(&get.table.key, &get.get.key)))
                .set_projection_expression(projection)
                .set_expression_attribute_names(names)
                .build()
                .map_err(unbuilt)?;
            Ok(TransactGetItem::builder().get(get).build())
        });
        let wire = wire.collect::<Result<Vec<_>>>()?;
        let request = self
            .client
            .transact_get_items()
            .set_transact_items(Some(wire))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let again = |error: &_| is_passing(error) || conflicts(error, gets.len()).is_some();
        let error = match self.backoff().send(again, || once!(request)).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        if let Some(conflicts) = conflicts(&error, gets.len()) {
            return Err(conflicts);
        }
        if is_invalid(&error) {
            self.check_size(gets).await?;
        }
        Err(refusal(&error, gets.first().map_or("", |get| &get.table.name)))
    }

    /// Whether it is their size that DynamoDB refused to read items together for: found by reading
    /// them one by one, as its English may change.
    async fn check_size(&self, gets: &[TableGet]) -> Result<()> {
        let mut bytes = 0;
        for get in gets {
            let alone = Get::new(get.get.key.clone()).strong();
            bytes += self.read_one(&get.table, alone).await?.item.as_ref().map_or(0, Item::size);
        }
        Ok(fit_together(bytes)?)
    }
}

/// Refuses to show more together than a transaction may be about.
fn fit_together(actual: usize) -> Result<(), Invalid> {
    let max = limits::TRANSACTION_BYTES_MAX;
    if actual <= max {
        return Ok(());
    }
    let (limit, subject) = (Limit::TransactionBytes, String::from("one transactional read"));
    Err(Invalid::OverLimit { limit, actual, max, subject })
}

/// Whether there is something wrong with the request itself.
fn is_invalid<R>(error: &SdkError<TransactGetItemsError, R>) -> bool {
    match error.as_service_error() {
        Some(TransactGetItemsError::TransactionCanceledException(cancelled)) => {
            let mut codes = cancelled.cancellation_reasons().iter().map(CancellationReason::code);
            codes.any(|code| code == Some("ValidationError"))
        }
        _ => code_of(error) == Some(code::VALIDATION),
    }
}

/// The reads that met a transaction under way, if that is what happened.
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
