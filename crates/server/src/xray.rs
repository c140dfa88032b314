//! What an answer cost: every table operation behind it, as DynamoDB would charge for it.

use async_graphql::Value;
use roundtable_table::Operation;

/// The operations, and their sum.
pub(crate) fn shown(operations: &[Operation]) -> Value {
    let reads: f64 = operations.iter().map(|each| each.capacity.read_units()).sum();
    let writes: u64 = operations.iter().map(|each| each.capacity.write_units).sum();
    let elapsed: u128 = operations.iter().map(|each| each.elapsed.as_micros()).sum();
    let shown = serde_json::json!({
        "operations": operations.iter().map(one).collect::<Vec<_>>(),
        "readUnits": reads,
        "writeUnits": writes,
        "microseconds": u64::try_from(elapsed).unwrap_or(u64::MAX),
    });
    Value::from_json(shown).unwrap_or_default()
}

fn one(operation: &Operation) -> serde_json::Value {
    serde_json::json!({
        "operation": operation.name,
        "pattern": operation.pattern,
        "table": operation.table,
        "index": operation.index,
        "items": operation.items,
        "readUnits": operation.capacity.read_units(),
        "writeUnits": operation.capacity.write_units,
        "microseconds": u64::try_from(operation.elapsed.as_micros()).unwrap_or(u64::MAX),
        "succeeded": operation.succeeded,
    })
}
