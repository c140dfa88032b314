//! Batches. Items that DynamoDB leaves unprocessed are sent again, with backoff.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{
    DeleteRequest, KeysAndAttributes, PutRequest, ReturnConsumedCapacity, WriteRequest,
};
use roundtable_table::{
    BatchGet, BatchWrite, Capacity, Error, GetManyOutput, Item, Key, Result, TableDefinition,
};

use crate::errors::{build_error, to_error};
use crate::read_projection::ReadProjection;
use crate::reads::projected;
use crate::retry::{is_transient, send_once};
use crate::values::{from_wire, key_to_wire, to_wire};
use crate::{Dynamo, cost};

impl Dynamo {
    pub(crate) async fn read_batch(
        &self,
        table: &TableDefinition,
        batch: BatchGet,
    ) -> Result<GetManyOutput> {
        let read_projection = ReadProjection::new(table, None, &batch.projection, true);
        let (projection, names) = projected(&read_projection);
        let mut left = Some(
            KeysAndAttributes::builder()
                .set_keys(Some(batch.keys.iter().map(|key| key_to_wire(&table.key, key)).collect()))
                .consistent_read(batch.strong)
                .set_projection_expression(projection)
                .set_expression_attribute_names(names)
                .build()
                .map_err(build_error)?,
        );
        let mut found: HashMap<Key, Item> = HashMap::new();
        let mut capacity = Capacity::ZERO;
        let mut backoff = self.backoff();
        while let Some(keys) = left.take() {
            let request = self
                .client
                .batch_get_item()
                .request_items(&table.name, keys)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let response = backoff.send(is_transient, || send_once!(request)).await;
            let response = response.map_err(|error| to_error(&error, &table.name))?;
            capacity += cost::read(response.consumed_capacity.iter().flatten());
            let mut responses = response.responses.unwrap_or_default();
            for wire in responses.remove(&table.name).unwrap_or_default() {
                let item = from_wire(wire)?;
                if let Some(key) = table.key.read(&item) {
                    found.insert(key, item);
                }
            }
            left = response.unprocessed_keys.and_then(|mut tables| tables.remove(&table.name));
            if left.is_some() && !backoff.pause().await {
                return Err(unprocessed("reads"));
            }
        }
        let now = self.now_seconds();
        let items = batch.keys.iter().map(|key| {
            let item = found.remove(key).filter(|item| !table.is_expired(item, now))?;
            Some(read_projection.apply(item))
        });
        Ok(GetManyOutput { items: items.collect(), capacity })
    }

    pub(crate) async fn write_batch(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        let requests = writes.iter().map(|write| to_request(table, write));
        let mut left = Some(requests.collect::<Result<Vec<_>>>()?);
        let mut capacity = Capacity::ZERO;
        let mut backoff = self.backoff();
        while let Some(requests) = left.take() {
            let request = self
                .client
                .batch_write_item()
                .request_items(&table.name, requests)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let response = backoff.send(is_transient, || send_once!(request)).await;
            let response = response.map_err(|error| to_error(&error, &table.name))?;
            capacity += cost::write(response.consumed_capacity.iter().flatten());
            left = response.unprocessed_items.and_then(|mut tables| tables.remove(&table.name));
            left = left.filter(|requests| !requests.is_empty());
            if left.is_some() && !backoff.pause().await {
                return Err(unprocessed("writes"));
            }
        }
        Ok(capacity)
    }
}

fn unprocessed(what: &str) -> Error {
    Error::Unavailable { detail: format!("throttled: {what} of a batch were left unprocessed") }
}

fn to_request(table: &TableDefinition, write: &BatchWrite) -> Result<WriteRequest> {
    let request = WriteRequest::builder();
    Ok(match write {
        BatchWrite::Put(item) => {
            let put = PutRequest::builder().set_item(Some(to_wire(item)));
            request.put_request(put.build().map_err(build_error)?)
        }
        BatchWrite::Delete(key) => {
            let delete = DeleteRequest::builder().set_key(Some(key_to_wire(&table.key, key)));
            request.delete_request(delete.build().map_err(build_error)?)
        }
    }
    .build())
}
