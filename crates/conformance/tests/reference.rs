//! The suite on the oracle itself.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_conformance::{Bench, Reference, Setup};
use roundtable_table::{SharedBackend, Store};

struct InMemory;

#[async_trait]
impl Setup for InMemory {
    async fn bench(&self) -> Bench {
        let clock = Bench::clock();
        let reference = Arc::new(Reference::new(clock.clone()));
        let store = Store::shared(Arc::clone(&reference) as SharedBackend);
        Bench::new(store, clock).sweeping(move || {
            reference.sweep();
            Box::pin(std::future::ready(()))
        })
    }
}

roundtable_conformance::suite!(InMemory);
