//! Observers of table operations and their cost; the cost report (`xray`) uses one.

use std::fmt;
use std::time::Duration;

use parking_lot::Mutex;

use crate::Capacity;

#[derive(Clone, Debug)]
pub struct TableOperation {
    /// `get`, `query`, `transact_write`…
    pub name: &'static str,
    /// The table; the first one, for a transaction over several.
    pub table: String,
    /// The index, for reads of an index.
    pub index: Option<String>,
    /// The access pattern, if the caller named it.
    pub pattern: Option<&'static str>,
    /// Items returned or written.
    pub items: usize,
    pub capacity: Capacity,
    pub elapsed: Duration,
    pub succeeded: bool,
}

/// Receives every finished operation of a handle.
pub trait Observer: Send + Sync + fmt::Debug {
    fn observe(&self, operation: TableOperation);
}

/// An observer that records operations.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Vec<TableOperation>>);

impl Recorder {
    /// Removes and returns all recorded operations, oldest first.
    pub fn take(&self) -> Vec<TableOperation> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Observer for Recorder {
    fn observe(&self, operation: TableOperation) {
        self.0.lock().push(operation);
    }
}
