//! Runs an action in the middle of a mutation, to try all interleavings of the two.

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{self, Waker};

use roundtable_domain::Context;
use roundtable_model::table::{Observer, TableOperation};

use crate::Town;

/// An action that runs after a number of operations.
pub struct Interleaving {
    operations_left: AtomicUsize,
    action: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Interleaving {
    /// Returns `false` if the mutation ended before it.
    pub fn happened(&self) -> bool {
        self.action.lock().unwrap().is_none()
    }
}

impl Town {
    /// Returns a context that runs `action` after this many operations. The action must not use
    /// that context itself. Trying all numbers until it no longer happens tries every interleaving.
    pub fn interleave(
        &self,
        operations: usize,
        action: impl AsyncFnOnce() + Send + 'static,
    ) -> (Context, Arc<Interleaving>) {
        let action = move || {
            // A store in memory is ready at once.
            let polled = pin!(action()).poll(&mut task::Context::from_waker(Waker::noop()));
            assert!(polled.is_ready(), "it had to wait");
        };
        let meanwhile = Arc::new(Interleaving {
            operations_left: AtomicUsize::new(operations),
            action: Mutex::new(Some(Box::new(action))),
        });
        (self.context().observed(meanwhile.clone()), meanwhile)
    }
}

impl Observer for Interleaving {
    fn observe(&self, _: TableOperation) {
        if self.operations_left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let action = self.action.lock().unwrap().take();
            action.unwrap()();
        }
    }
}

impl fmt::Debug for Interleaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meanwhile").finish_non_exhaustive()
    }
}
