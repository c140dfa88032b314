//! What somebody else does in the middle of a mutation: the races that matter, one by one.

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use roundtable_domain::Ground;
use roundtable_model::table::{Observer, Operation};

use crate::Town;

/// Something that happens after a number of operations.
pub struct Meanwhile {
    operations_left: AtomicUsize,
    deed: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Meanwhile {
    /// Whether it has happened: otherwise the mutation was done before.
    pub fn happened(&self) -> bool {
        self.deed.lock().unwrap().is_none()
    }
}

impl Town {
    /// The ground of this town, on which `deed` is done in the gap after this many operations. It must
    /// not stand on that ground itself. Trying gap after gap until it no longer happens tries every
    /// order in which the two can meet.
    pub fn meanwhile(
        &self,
        operations: usize,
        deed: impl AsyncFnOnce() + Send + 'static,
    ) -> (Ground, Arc<Meanwhile>) {
        let deed = move || {
            // A store in memory answers at once, so nothing is ever waited for.
            let polled = pin!(deed()).poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_ready(), "it had to wait");
        };
        let meanwhile = Arc::new(Meanwhile {
            operations_left: AtomicUsize::new(operations),
            deed: Mutex::new(Some(Box::new(deed))),
        });
        (self.ground().observed(meanwhile.clone()), meanwhile)
    }
}

impl Observer for Meanwhile {
    fn observe(&self, _: Operation) {
        if self.operations_left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let deed = self.deed.lock().unwrap().take();
            deed.unwrap()();
        }
    }
}

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meanwhile").finish_non_exhaustive()
    }
}
