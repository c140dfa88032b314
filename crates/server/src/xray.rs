//! The cost of a response: every table operation behind it, as DynamoDB would charge for it.

use roundtable_table::TableOperation;

pub(crate) fn report(operations: &[TableOperation]) -> serde_json::Value {
    let reads: f64 = operations.iter().map(|each| each.capacity.read_units()).sum();
    let writes: u64 = operations.iter().map(|each| each.capacity.write_units).sum();
    let elapsed: u128 = operations.iter().map(|each| each.elapsed.as_micros()).sum();
    serde_json::json!({
        "operations": operations.iter().map(operation_report).collect::<Vec<_>>(),
        "readUnits": reads,
        "writeUnits": writes,
        "microseconds": u64::try_from(elapsed).unwrap_or(u64::MAX),
    })
}

fn operation_report(operation: &TableOperation) -> serde_json::Value {
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
