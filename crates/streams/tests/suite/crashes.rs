//! The runner is stopped between any two steps and restarted: counters, purges and notifications
//! are as if nothing had happened (I1, I4, I6).

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_engine::SimulatedDisk;
use roundtable_testkit::{YieldingBackend, stop_at};
use std::sync::Arc;

use crate::facts::{Facts, assert_counted};
use crate::test_store::{TestStore, clock, open, runner};

/// A short history with every kind of fact.
async fn short_history(facts: Facts<'_>) {
    facts.post("p1").await;
    facts.post("p2").await;
    facts.like("p1", "ana").await;
    facts.comment("p1", "p1-c1", None).await;
    facts.comment("p1", "p1-c2", Some("p1-c1")).await;
    facts.like_comment("p1", "p1-c1", "bo").await;
    facts.share("p1", "bo").await;
    facts.like("p2", "ana").await;
    facts.unlike("p2", "ana").await;
    facts.set_deleted("p1", "p1-c2", true).await;
}

#[tokio::test]
async fn a_runner_stopped_at_any_await_point_resumes() {
    for split in [false, true] {
        let mut stops = 0;
        loop {
            let store =
                if split { TestStore::split().await.0 } else { TestStore::reference().await };
            short_history(Facts(&store.context)).await;
            let slow = runner(&store.slow().await);
            let done = stop_at(stops, slow.drain()).await;
            Facts(&store.context).like("p2", "cleo").await;
            store.runner().drain().await.unwrap();
            assert_counted(&store.context).await;
            if let Some(done) = done {
                done.unwrap();
                break;
            }
            stops += 1;
        }
        assert!(stops > 50, "{stops} await points are too few to be all");
    }
}

#[tokio::test]
async fn a_runner_that_crashes_repeatedly_completes() {
    for seed in 0..10 {
        let (split, splitter) = TestStore::split().await;
        for (store, splitter) in [(TestStore::reference().await, None), (split, Some(splitter))] {
            let mut random = SmallRng::seed_from_u64(seed);
            let facts = Facts(&store.context);
            facts.history(seed, 20).await;
            for round in 0..30 {
                let slow = runner(&store.slow().await);
                let stops = random.random_range(0..120);
                let _ = stop_at(stops, slow.drain()).await;
                facts.step(&mut random).await;
                if round % 10 == 9
                    && let Some(splitter) = &splitter
                {
                    splitter.split(store.context.core().table().definition()).await;
                }
            }
            store.runner().drain().await.unwrap();
            assert_counted(&store.context).await;
        }
    }
}

/// The embedded engine loses power while the runner works: unsynced writes are lost, and the
/// effects of a batch are stored with its checkpoint or not at all.
#[tokio::test]
async fn a_power_loss_leaves_effects_and_checkpoints_together() {
    for seed in 0..4 {
        let mut random = SmallRng::seed_from_u64(seed);
        let (clock, tree) = (clock(), tempfile::tempdir().unwrap());
        let mut disk = SimulatedDisk::new();
        let mut tables = None;
        for round in 0..12 {
            let engine = open(&clock, tree.path(), disk.clone());
            let backend = Arc::new(engine.clone());
            let store = match &tables {
                None => TestStore::on(backend, clock.clone()).await,
                Some(tables) => TestStore::reopened(backend, clock.clone(), tables).await,
            };
            tables = Some(store.tables().clone());
            let facts = Facts(&store.context);
            if round == 0 {
                facts.history(seed, 10).await;
            }
            for _ in 0..6 {
                facts.step(&mut random).await;
            }
            let slow = store.through(YieldingBackend::shared(Arc::clone(&store.backend))).await;
            let _ = stop_at(random.random_range(0..150), runner(&slow).drain()).await;
            disk = disk.crash(random.random());
            drop((slow, store));
            engine.abandon();
        }
        let engine = open(&clock, tree.path(), disk);
        let store = TestStore::reopened(Arc::new(engine), clock, &tables.unwrap()).await;
        store.runner().drain().await.unwrap();
        assert_counted(&store.context).await;
    }
}

#[tokio::test]
async fn a_runner_stopped_on_dynamodb_resumes() {
    let store = TestStore::dynoxide().await;
    let facts = Facts(&store.context);
    let mut random = SmallRng::seed_from_u64(1);
    facts.history(1, 20).await;
    for _ in 0..25 {
        let slow = runner(&store.slow().await);
        let _ = stop_at(random.random_range(0..200), slow.drain()).await;
        facts.step(&mut random).await;
    }
    store.runner().drain().await.unwrap();
    assert_counted(&store.context).await;
}
