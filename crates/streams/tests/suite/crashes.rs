//! Stopped between any two steps, and started again: what is counted, purged and told is as if nothing
//! had happened (I1, I4, I6).

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_engine::SimulatedDisk;
use roundtable_testkit::{Yielding, stop_at};
use std::sync::Arc;

use crate::facts::{Facts, assert_counted};
use crate::stage::{Stage, clock, open, runner};

/// A short history that has everything in it.
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
    facts.bury("p1", "p1-c2", true).await;
}

/// Every await point of reading, counting and scoring, once.
#[tokio::test]
async fn stopped_anywhere_it_goes_on_where_it_was() {
    for split in [false, true] {
        let mut stops = 0;
        loop {
            let stage = if split { Stage::split().await.0 } else { Stage::reference().await };
            short_history(Facts(&stage.ground)).await;
            let slow = runner(&stage.slow().await);
            let done = stop_at(stops, slow.drain()).await;
            Facts(&stage.ground).like("p2", "cleo").await;
            stage.runner().drain().await.unwrap();
            assert_counted(&stage.ground).await;
            if let Some(done) = done {
                done.unwrap();
                break;
            }
            stops += 1;
        }
        assert!(stops > 50, "{stops} await points are too few to be all");
    }
}

/// Crash after crash, at random points, while facts are written.
#[tokio::test]
async fn stopped_again_and_again_it_comes_to_an_end() {
    for seed in 0..10 {
        let (split, cuts) = Stage::split().await;
        for (stage, cuts) in [(Stage::reference().await, None), (split, Some(cuts))] {
            let mut random = SmallRng::seed_from_u64(seed);
            let facts = Facts(&stage.ground);
            facts.history(seed, 20).await;
            for round in 0..30 {
                let slow = runner(&stage.slow().await);
                let stops = random.random_range(0..120);
                let _ = stop_at(stops, slow.drain()).await;
                facts.step(&mut random).await;
                if round % 10 == 9
                    && let Some(cuts) = &cuts
                {
                    cuts.cut(stage.ground.core().table().definition()).await;
                }
            }
            stage.runner().drain().await.unwrap();
            assert_counted(&stage.ground).await;
        }
    }
}

/// The embedded engine, which loses power while the runner works: what was not synced is gone, and the
/// effects of a batch are there with its checkpoint or not at all.
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
            let stage = match &tables {
                None => Stage::on(backend, clock.clone()).await,
                Some(tables) => Stage::again(backend, clock.clone(), tables).await,
            };
            tables = Some(stage.tables().clone());
            let facts = Facts(&stage.ground);
            if round == 0 {
                facts.history(seed, 10).await;
            }
            for _ in 0..6 {
                facts.step(&mut random).await;
            }
            let slow = stage.through(Yielding::shared(Arc::clone(&stage.backend))).await;
            let _ = stop_at(random.random_range(0..150), runner(&slow).drain()).await;
            disk = disk.crash(random.random());
            drop((slow, stage));
            engine.abandon();
        }
        let engine = open(&clock, tree.path(), disk);
        let stage = Stage::again(Arc::new(engine), clock, &tables.unwrap()).await;
        stage.runner().drain().await.unwrap();
        assert_counted(&stage.ground).await;
    }
}

/// DynamoDB's API, where the checkpoint follows the effects.
#[tokio::test]
async fn stopped_on_dynamodb_it_goes_on_where_it_was() {
    let stage = Stage::dynoxide().await;
    let facts = Facts(&stage.ground);
    let mut random = SmallRng::seed_from_u64(1);
    facts.history(1, 20).await;
    for _ in 0..25 {
        let slow = runner(&stage.slow().await);
        let _ = stop_at(random.random_range(0..200), slow.drain()).await;
        facts.step(&mut random).await;
    }
    stage.runner().drain().await.unwrap();
    assert_counted(&stage.ground).await;
}
