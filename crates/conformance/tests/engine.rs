//! The suite on the embedded engine: with default options, and with frequent checkpoints.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its store has failed")]

use std::sync::Arc;
use std::time::Duration;

use roundtable_conformance::TestBench;
use roundtable_engine::{Engine, Options};
use roundtable_table::{SharedBackend, Store};

/// Longer than any case advances its clock, so that streams keep everything.
const RETENTION: Duration = Duration::from_hours(24 * 365);

fn bench(memtable_bytes: usize) -> TestBench {
    let clock = TestBench::clock();
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        clock: clock.clone(),
        memtable_bytes,
        retention: RETENTION,
        // Cases that need a sweep start it.
        upkeep_interval: RETENTION,
        ..Options::default()
    };
    let engine = Arc::new(Engine::open(directory.path(), options).unwrap());
    let store = Store::shared(Arc::clone(&engine) as SharedBackend);
    let sweep = move || {
        engine.sweep().unwrap();
        Box::pin(std::future::ready(())) as _
    };
    TestBench::new(store, clock).with_sweep(sweep).with_resource(directory)
}

mod in_memory {
    use async_trait::async_trait;
    use roundtable_conformance::{Setup, TestBench};

    struct Embedded;

    #[async_trait]
    impl Setup for Embedded {
        async fn bench(&self) -> TestBench {
            super::bench(64 << 20)
        }
    }

    roundtable_conformance::suite!(Embedded);
}

mod in_the_tree {
    use async_trait::async_trait;
    use roundtable_conformance::{Setup, TestBench};

    /// So little memory that every few writes go to the B-tree.
    struct Checkpointed;

    #[async_trait]
    impl Setup for Checkpointed {
        async fn bench(&self) -> TestBench {
            super::bench(1 << 10)
        }
    }

    roundtable_conformance::suite!(Checkpointed);
}
