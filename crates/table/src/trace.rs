//! What each table operation did and cost, told to whoever asked: the cost X-ray hangs here.

use std::fmt;
use std::time::Duration;

use parking_lot::Mutex;

use crate::Capacity;

/// One finished operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What was asked: `get`, `query`, `transact_write`…
    pub name: &'static str,
    /// The table (the first one, of a transaction over several).
    pub table: String,
    /// The index, for reads of one.
    pub index: Option<String>,
    /// The access pattern behind it, where the caller named it.
    pub pattern: Option<&'static str>,
    /// Items returned or written.
    pub items: usize,
    /// What it cost.
    pub capacity: Capacity,
    /// How long it took.
    pub elapsed: Duration,
    /// Whether it succeeded.
    pub succeeded: bool,
}

/// Is told of every operation done through a handle.
pub trait Observer: Send + Sync + fmt::Debug {
    /// An operation has finished.
    fn observe(&self, operation: Operation);
}

/// An observer that keeps what it is told.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Vec<Operation>>);

impl Recorder {
    /// Everything told so far, oldest first; forgets it.
    pub fn take(&self) -> Vec<Operation> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Observer for Recorder {
    fn observe(&self, operation: Operation) {
        self.0.lock().push(operation);
    }
}
