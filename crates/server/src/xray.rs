//! The cost of a response: every table operation behind it, as DynamoDB would charge for it, and the field
//! that asked for it.

use std::sync::Arc;

use parking_lot::Mutex;
use roundtable_graphql::{FieldPath, current_field};
use roundtable_table::{Observer, TableOperation};
use serde_json::{Value, json};

/// Records operations, each with the field whose resolver is running when it ends.
#[derive(Debug, Default)]
pub(crate) struct FieldRecorder(Mutex<Vec<FieldOperation>>);

type FieldOperation = (TableOperation, Option<Arc<FieldPath>>);

impl Observer for FieldRecorder {
    fn observe(&self, operation: TableOperation) {
        self.0.lock().push((operation, current_field()));
    }
}

impl FieldRecorder {
    /// Reports the operations so far, oldest first, and their sum.
    pub(crate) fn report(&self) -> Value {
        let all = self.0.lock();
        let operations = || all.iter().map(|(operation, _)| operation);
        let reads: f64 = operations().map(|each| each.capacity.read_units()).sum();
        let writes: u64 = operations().map(|each| each.capacity.write_units).sum();
        let elapsed: u128 = operations().map(|each| each.elapsed.as_micros()).sum();
        json!({
            "operations": all.iter().map(operation_report).collect::<Vec<_>>(),
            "readUnits": reads,
            "writeUnits": writes,
            "microseconds": u64::try_from(elapsed).unwrap_or(u64::MAX),
        })
    }
}

fn operation_report((operation, field): &FieldOperation) -> Value {
    json!({
        "path": field.as_ref().map(|field| &field.path),
        "field": field.as_ref().map(|field| &field.field),
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
