//! The runner at work: beside its writers, stopped and started, with figures to look at.

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::SmallRng;
use roundtable_streams::Runner;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::facts::{Facts, assert_counted, like_key};
use crate::letters::{Refused, picky};
use crate::stage::Stage;

/// Waits for something that others bring about.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    until_found(async || holds()).await;
}

/// The same of what has to be looked up.
pub(crate) async fn until_found(holds: impl AsyncFn() -> bool) {
    for _ in 0..5_000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("it never came to be");
}

pub(crate) fn start(runner: &Runner) -> (oneshot::Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = oneshot::channel();
    let runner = runner.clone();
    let running = tokio::spawn(async move {
        runner
            .run(async move {
                let _ = stopped.await;
            })
            .await;
    });
    (stop, running)
}

pub(crate) fn processed(runner: &Runner, processor: &str) -> u64 {
    let lanes = runner.figures().lanes;
    lanes.iter().filter(|lane| lane.processor == processor).map(|lane| lane.processed).sum()
}

/// It keeps up with its writers; asked to stop, it stops with everything written down; and goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_runs_beside_its_writers_and_stops_when_asked() {
    for stage in [Stage::reference().await, Stage::engine().await] {
        let facts = Facts(&stage.ground);
        let runner = stage.runner();
        let (stop, running) = start(&runner);
        facts.history(1, 80).await;
        facts.like("p1", "somebody-new").await;
        until(|| runner.figures().lanes.iter().all(|lane| lane.behind == 0)).await;
        stop.send(()).unwrap();
        running.await.unwrap();

        let mut random = SmallRng::seed_from_u64(2);
        for _ in 0..20 {
            facts.step(&mut random).await;
        }
        facts.like("p2", "somebody-new").await;
        let before = processed(&runner, "counters");
        let (stop, running) = start(&runner);
        until(|| processed(&runner, "counters") > before).await;
        stop.send(()).unwrap();
        running.await.unwrap();
        stage.runner().drain().await.unwrap();
        assert_counted(&stage.ground).await;

        // A second look finds nothing that was not written down.
        let again = stage.runner();
        again.drain().await.unwrap();
        let figures = again.figures();
        assert!(figures.lanes.iter().all(|lane| lane.processed == 0), "{figures:?}");
        assert_eq!(figures.behind_ms(), 0);
    }
}

/// Whoever waits behind a parked change goes on as soon as that has been redriven, without a restart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_redriven_no_longer_holds_anything_up() {
    let stage = Stage::reference().await;
    let (facts, refused) = (Facts(&stage.ground), Refused::default());
    facts.post("p1").await;
    refused.lock().insert(like_key("p1", "ana"));
    let runner = picky(&stage.ground, &refused);
    let (stop, running) = start(&runner);
    facts.like("p1", "ana").await;
    let parked =
        |runner: &Runner| runner.figures().lanes.iter().map(|lane| lane.parked).sum::<u64>();
    until(|| parked(&runner) == 1).await;
    refused.lock().clear();
    facts.unlike("p1", "ana").await;
    until(|| parked(&runner) == 2).await;
    assert_eq!(runner.dead_letters().redrive_all(10).await.unwrap().done, 2);
    let before = processed(&runner, "counters");
    facts.like("p1", "ana").await;
    until(|| processed(&runner, "counters") > before).await;
    stop.send(()).unwrap();
    running.await.unwrap();
    assert_eq!(parked(&runner), 2);
    stage.runner().drain().await.unwrap();
    assert_counted(&stage.ground).await;
}

/// DynamoDB serves two readers of a shard well: all processors together are one.
#[tokio::test]
async fn every_change_is_read_once_for_all_processors() {
    let (stage, split) = Stage::split().await;
    let facts = Facts(&stage.ground);
    facts.history(3, 60).await;
    let runner = stage.runner();
    runner.drain().await.unwrap();
    let figures = runner.figures();
    let written = crate::facts::changes(&stage.ground).await;
    assert_eq!((figures.lanes.len(), split.shown() - written), (7, written));
}

/// How far behind everything is, and what was done.
#[tokio::test]
async fn figures_tell_what_was_done() {
    let stage = Stage::reference().await;
    let facts = Facts(&stage.ground);
    facts.post("p1").await;
    facts.like("p1", "ana").await;
    facts.like("p1", "bo").await;
    let runner = stage.runner();
    assert!(runner.figures().lanes.is_empty());
    runner.drain().await.unwrap();
    let figures = runner.figures();
    let lane = |name: &str| figures.lanes.iter().find(|lane| lane.processor == name).unwrap();
    assert_eq!((lane("counters").processed, lane("scores").processed), (2, 1));
    assert_eq!((lane("counters").retried, lane("counters").parked), (0, 0));
    assert_eq!(lane("counters").sequence, lane("purge").sequence, "all have read everything");
    assert_eq!(lane("counters").sequence.as_ref().unwrap().len(), 40);
    assert_eq!((lane("counters").behind, figures.behind_ms()), (0, 0));
}
