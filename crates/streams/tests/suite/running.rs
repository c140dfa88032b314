//! The runner beside concurrent writers, stopped and restarted, with its metrics.

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::SmallRng;
use roundtable_streams::Runner;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::dead_letters::{FailingKeys, failing_runner};
use crate::facts::{Facts, assert_counted, like_key};
use crate::test_store::TestStore;

/// Waits until `holds` is true.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    until_found(async || holds()).await;
}

/// Waits until an asynchronous check is true.
pub(crate) async fn until_found(holds: impl AsyncFn() -> bool) {
    for _ in 0..5_000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("the condition never became true");
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
    let lanes = runner.metrics().lanes;
    lanes.iter().filter(|lane| lane.processor == processor).map(|lane| lane.processed).sum()
}

/// It stops with everything saved, and continues after a restart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runner_keeps_up_with_writers_and_stops_when_asked() {
    for store in [TestStore::reference().await, TestStore::engine().await] {
        let facts = Facts(&store.context);
        let runner = store.runner();
        let (stop, running) = start(&runner);
        facts.history(1, 80).await;
        facts.like("p1", "somebody-new").await;
        until(|| runner.metrics().lanes.iter().all(|lane| lane.behind == 0)).await;
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
        store.runner().drain().await.unwrap();
        assert_counted(&store.context).await;

        // A new runner finds everything saved.
        let again = store.runner();
        again.drain().await.unwrap();
        let metrics = again.metrics();
        assert!(metrics.lanes.iter().all(|lane| lane.processed == 0), "{metrics:?}");
        assert_eq!(metrics.behind_ms(), 0);
    }
}

/// Changes parked behind another one continue as soon as that has been redriven, without a restart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redriven_change_no_longer_blocks_later_ones() {
    let store = TestStore::reference().await;
    let (facts, failing) = (Facts(&store.context), FailingKeys::default());
    facts.post("p1").await;
    failing.lock().insert(like_key("p1", "ana"));
    let runner = failing_runner(&store.context, &failing);
    let (stop, running) = start(&runner);
    facts.like("p1", "ana").await;
    let parked =
        |runner: &Runner| runner.metrics().lanes.iter().map(|lane| lane.parked).sum::<u64>();
    until(|| parked(&runner) == 1).await;
    failing.lock().clear();
    facts.unlike("p1", "ana").await;
    until(|| parked(&runner) == 2).await;
    assert_eq!(runner.dead_letters().redrive_all(10).await.unwrap().done, 2);
    let before = processed(&runner, "counters");
    facts.like("p1", "ana").await;
    until(|| processed(&runner, "counters") > before).await;
    stop.send(()).unwrap();
    running.await.unwrap();
    assert_eq!(parked(&runner), 2);
    store.runner().drain().await.unwrap();
    assert_counted(&store.context).await;
}

/// DynamoDB supports two readers of a shard; all processors together are one.
#[tokio::test]
async fn every_change_is_read_once_for_all_processors() {
    let (store, split) = TestStore::split().await;
    let facts = Facts(&store.context);
    facts.history(3, 60).await;
    let runner = store.runner();
    runner.drain().await.unwrap();
    let metrics = runner.metrics();
    let written = crate::facts::changes(&store.context).await;
    assert_eq!((metrics.lanes.len(), split.changes_read() - written), (7, written));
}

#[tokio::test]
async fn metrics_report_progress() {
    let store = TestStore::reference().await;
    let facts = Facts(&store.context);
    facts.post("p1").await;
    facts.like("p1", "ana").await;
    facts.like("p1", "bo").await;
    let runner = store.runner();
    assert!(runner.metrics().lanes.is_empty());
    runner.drain().await.unwrap();
    let metrics = runner.metrics();
    let lane = |name: &str| metrics.lanes.iter().find(|lane| lane.processor == name).unwrap();
    assert_eq!((lane("counters").processed, lane("scores").processed), (2, 1));
    assert_eq!((lane("counters").retried, lane("counters").parked), (0, 0));
    assert_eq!(lane("counters").sequence, lane("purge").sequence, "all have read everything");
    assert_eq!(lane("counters").sequence.as_ref().unwrap().len(), 40);
    assert_eq!((lane("counters").behind, metrics.behind_ms()), (0, 0));
}
