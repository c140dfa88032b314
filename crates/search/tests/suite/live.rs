//! The indexer of a running process: fed by the live bus, stopped at any time.

use std::time::{Duration, Instant};

use futures::channel::oneshot;
use roundtable_domain::{LiveBus, Search};
use roundtable_engine::{Engine, Options};
use roundtable_model::table::{ManualClock, Store};
use roundtable_search::{IndexLocation, IndexSettings, Indexer};
use roundtable_testkit::Town;

use super::names;

/// R58: fed by the live bus; new posts are findable within moments, and a restart loses none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_index_finds_new_posts_and_survives_restarts() {
    let directory = tempfile::tempdir().unwrap();
    let clock = std::sync::Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let engine = Engine::open(directory.path(), Options::default()).unwrap();
    let store = Store::new(engine.clone());
    let town = Town::on(store, clock, Town::settings(), 0).await;
    town.add_user("ana", |_| {}).await;
    for round in 0..3 {
        let bus = LiveBus::new(town.context().clone());
        let location = IndexLocation::Directory(directory.path().join("search"));
        let settings = IndexSettings::default();
        let indexer = Indexer::new(town.context().clone(), &bus, location, settings);
        let (status, index) = (indexer.status(), indexer.index());
        let search = Search::new(town.context().with_memory_of(&bus), index);
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(indexer.run(async {
            let _ = stopped.await;
        }));
        let (stop_bus, bus_stopped) = oneshot::channel::<()>();
        let reading = tokio::spawn(async move {
            bus.run(async {
                let _ = bus_stopped.await;
            })
            .await;
        });
        until(async || status().answers).await;
        for n in 0..20 {
            town.post("ana", &format!("heron {round} {n}")).await;
        }
        let wanted = 20 * (round + 1);
        until(async || names(&search, None, "heron").await.len() == wanted).await;
        assert_eq!(status().builds, u64::from(round == 0), "a restart does not build it again");
        // The last posts of a round may not be committed.
        town.post("ana", &format!("swan {round}")).await;
        let _ = stop.send(());
        let _ = stop_bus.send(());
        running.await.unwrap();
        reading.await.unwrap();
    }
    let mut last = super::indexer(&town, &directory.path().join("search"));
    last.catch_up().await.unwrap();
    assert_eq!(names(&super::search_of(&town, &last), None, "swan").await.len(), 3);
}

/// Waits for an effect of another task.
async fn until(holds: impl AsyncFn() -> bool) {
    let begin = Instant::now();
    while !holds().await {
        assert!(begin.elapsed() < Duration::from_secs(30), "it does not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
