//! The suite on the reference backend itself.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_conformance::{Reference, Setup, TestBench};
use roundtable_table::{SharedBackend, Store};

struct InMemory;

#[async_trait]
impl Setup for InMemory {
    async fn bench(&self) -> TestBench {
        let clock = TestBench::clock();
        let reference = Arc::new(Reference::new(clock.clone()));
        let store = Store::shared(Arc::clone(&reference) as SharedBackend);
        TestBench::new(store, clock).with_sweep(move || {
            reference.sweep();
            Box::pin(std::future::ready(()))
        })
    }
}

roundtable_conformance::suite!(InMemory);
