//! What waits for an endpoint: how far it has come, who goes on with it, and what becomes of it when the
//! endpoint takes nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use roundtable_domain::{Errand, NewPost, PageInput};
use roundtable_model::entities::Job;
use roundtable_model::{Entity, Json, Role, Shards, Span};
use roundtable_streams::job;
use roundtable_testkit::{Split, Town};
use tokio::time::Instant;

use super::{
    Endpoints, HOUR_MS, QUEUE, alone, bookkeeping, register, runner, town, waiting, webhooks,
};
use crate::running::{start, until};
use crate::stage::clock;

const DAY_MS: u64 = 24 * HOUR_MS;

/// So many posts, which become one parcel.
async fn posts(town: &Town, count: usize) {
    for _ in 0..count {
        town.posts().create(&town.caller("ana"), &NewPost::text("more"), None).await.unwrap();
        town.pass_ms(1);
    }
}

async fn is_on(town: &Town) -> bool {
    let ada = town.staff("ada", Role::Admin);
    let listed = webhooks(town).list(&ada, &PageInput::first()).await.unwrap().into_items();
    listed.iter().all(|webhook| webhook.enabled)
}

/// R44: how much of a parcel is sent, and that its endpoint is to be left alone, does not depend on who
/// comes next: not on another errand, and not on another process.
#[tokio::test]
async fn what_was_taken_stays_taken_whoever_comes_next() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let weary = register(&town, "weary", &["post.created"]).await;
    posts(&town, 30).await;
    alone(&town, &endpoints).drain().await.unwrap();
    assert_eq!(endpoints.heard("weary", "content").len(), 26, "it has taken 25");
    for _ in 0..3 {
        posts(&town, 1).await;
        alone(&town, &endpoints).drain().await.unwrap();
    }
    assert_eq!(endpoints.heard("weary", "content").len(), 26, "and is left alone");
    endpoints.is_well.store(true, Ordering::SeqCst);
    town.pass_ms(1_000);
    alone(&town, &endpoints).drain().await.unwrap();
    let mut ids = endpoints.ids();
    let failed = ids.remove(25);
    assert_eq!(ids.get(25), Some(&failed), "it goes on where it was");
    let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
    assert_eq!((ids.len(), distinct.len()), (33, 33), "nothing comes again");
    assert_eq!(waiting(&town, &weary).await, 0);
}

/// R44: the same while errands arrive between any two pages of a large parcel.
#[tokio::test]
async fn errands_that_arrive_meanwhile_begin_nothing_anew() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let all = register(&town, "all", &["post.created"]).await;
    posts(&town, 45).await;
    let runner = alone(&town, &endpoints);
    let (stop, running) = start(&runner);
    for number in 0..200 {
        let errand = Errand::Deliver { webhook: all.id.clone() };
        let id = format!("errand-{number}").parse().unwrap();
        let errand = job(QUEUE, id, town.now(), &errand).unwrap();
        town.ground().ops().table().put(errand.put()).await.unwrap();
        tokio::task::yield_now().await;
    }
    until(|| endpoints.ids().len() >= 45).await;
    stop.send(()).unwrap();
    running.await.unwrap();
    alone(&town, &endpoints).drain().await.unwrap();
    assert_eq!(endpoints.ids().len(), 45);
    assert_eq!(waiting(&town, &all).await, 0);
}

/// R44: what waited because nobody was there to send it has not failed.
#[tokio::test]
async fn time_in_which_nobody_tried_is_not_the_endpoints_fault() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    register(&town, "failing", &["post.created"]).await;
    town.post("ana", "one").await;
    town.pass_ms(3 * DAY_MS);
    runner(&town, &endpoints).drain().await.unwrap();
    assert_eq!(endpoints.heard("failing", "content"), ["post.created one"]);
    assert!(is_on(&town).await);
    // Nor is it after the first failure.
    town.pass_ms(3 * DAY_MS);
    runner(&town, &endpoints).drain().await.unwrap();
    assert!(is_on(&town).await);
    endpoints.is_well.store(true, Ordering::SeqCst);
    endpoints.heard.lock().clear();
    town.pass_ms(HOUR_MS);
    runner(&town, &endpoints).drain().await.unwrap();
    assert_eq!(endpoints.heard("failing", "content"), ["post.created one"]);
}

/// R44: what an endpoint has not taken when it is turned off are dead letters: turned on again, they are
/// redriven in order, and go on where they were.
#[tokio::test]
async fn what_was_never_taken_can_be_redriven() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let failing = register(&town, "failing", &["post.created"]).await;
    let runner = runner(&town, &endpoints);
    for text in ["one", "two", "three"] {
        town.post("ana", text).await;
        runner.drain().await.unwrap();
    }
    for _ in 0..26 {
        town.pass_ms(HOUR_MS);
        runner.drain().await.unwrap();
    }
    assert!(!is_on(&town).await);
    let letters = runner.dead_letters();
    let parked = letters.list(&QUEUE, None, None).await.unwrap().items;
    assert_eq!((parked.len(), waiting(&town, &failing).await), (3, 0));
    assert!(parked.iter().all(|letter| letter.error.contains("turned off")));

    // Redriven too early, they come back.
    endpoints.heard.lock().clear();
    assert_eq!(letters.redrive_all(10).await.unwrap().done, 3);
    runner.drain().await.unwrap();
    assert_eq!((letters.count().await.unwrap(), endpoints.ids().len()), (3, 0));

    endpoints.is_well.store(true, Ordering::SeqCst);
    let ada = town.staff("ada", Role::Admin);
    webhooks(&town).replay(&ada, &failing.id, town.now()).await.unwrap();
    assert_eq!(letters.redrive_all(10).await.unwrap().done, 3);
    runner.drain().await.unwrap();
    let said = ["post.created one", "post.created two", "post.created three"];
    assert_eq!(endpoints.heard("failing", "content"), said);
    assert_eq!((waiting(&town, &failing).await, letters.count().await.unwrap()), (0, 0));
}

/// R44: whoever turns an endpoint on again, at whatever moment of its being cleared, finds every event
/// sent or among the letters.
#[tokio::test]
async fn turned_on_again_at_any_moment_nothing_is_lost() {
    for gap in 1.. {
        let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
        let failing = register(&town, "failing", &["post.created"]).await;
        for text in ["one", "two"] {
            town.post("ana", text).await;
            alone(&town, &endpoints).drain().await.unwrap();
        }
        webhooks(&town).give_up(&failing.id, "it fails").await.unwrap();
        // It is due again.
        town.pass_ms(10_000);
        endpoints.heard.lock().clear();
        endpoints.is_well.store(true, Ordering::SeqCst);
        let (ada, id, on) = (town.staff("ada", Role::Admin), failing.id.clone(), webhooks(&town));
        let now = town.now().plus_ms(5_000);
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            on.replay(&ada, &id, now).await.unwrap();
        });
        let events = roundtable_streams::Events::new(ground.clone(), endpoints.clone());
        let watch = roundtable_streams::EventWatch::new(ground.clone());
        let setup = roundtable_streams::Runner::on(ground, [0; 32]).at_once();
        let cleared = setup.with(watch).working(events).build();
        cleared.drain().await.unwrap();
        let happened = meanwhile.happened();
        let letters = cleared.dead_letters().count().await.unwrap();
        let heard = endpoints.heard("failing", "content").len();
        assert_eq!(letters + heard, 2, "{letters} and {heard} after {gap} operations");
        assert_eq!(waiting(&town, &failing).await, 0);
        if !happened {
            assert!(gap > 10);
            return;
        }
    }
}

/// R44: what waits has somebody to come for it from the first moment, also where writes are single.
#[tokio::test]
async fn nothing_waits_without_an_errand() {
    for gap in 1.. {
        let clock = clock();
        let split = Split::new(Arc::new(roundtable_conformance::Reference::new(clock.clone())));
        let store = roundtable_model::table::Store::shared(Arc::new(split));
        let town = Town::on(store, clock, Town::settings(), 0).await;
        for name in ["ana", "ada"] {
            town.move_in(name, |_| {}).await;
        }
        town.employ("ada", Role::Admin).await;
        let all = register(&town, "all", &["post.created"]).await;
        town.post("ana", "one").await;
        let (ground, queue) = (town.ground().clone(), format!("events.{}", all.id));
        let (watched, meanwhile) = town.meanwhile(gap, async move || {
            let rows = async |queue: &str| {
                let due = Span::until(ground.now().plus_ms(1));
                let jobs = ground.ops().jobs(&queue.parse().unwrap(), due, Shards::ONE);
                jobs.page().await.unwrap().items.len()
            };
            assert_eq!(rows(&queue).await, rows("events").await);
        });
        let events = roundtable_streams::EventWatch::new(watched.clone());
        roundtable_streams::Runner::on(watched, [0; 32])
            .at_once()
            .with(events)
            .build()
            .drain()
            .await
            .unwrap();
        assert_eq!(waiting(&town, &all).await, 1);
        if !meanwhile.happened() {
            return;
        }
    }
}

/// R44: what a newer version let wait is told by an older one, as far as it understands it; what nobody
/// understands is a dead letter, and keeps nobody waiting.
#[tokio::test]
async fn what_is_not_understood_keeps_nothing_waiting() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let all = register(&town, "all", &["post.created"]).await;
    let queue = format!("events.{}", all.id).parse().unwrap();
    let newer = serde_json::json!([{
        "id": "e1", "type": "roundtable.future.seen", "subject": "f1",
        "time": town.now(), "ids": { "futureId": "f1" },
    }]);
    let waits: Job = job(queue, "0-newer".parse().unwrap(), town.now(), &newer).unwrap();
    let payload = Json::of(&serde_json::json!("nonsense")).unwrap();
    let broken = Job { id: "1-broken".parse().unwrap(), payload, ..waits.clone() };
    for waits in [waits, broken] {
        town.ground().ops().table().put(waits.put()).await.unwrap();
    }
    town.pass_ms(1_000);
    town.post("ana", "one").await;
    let runner = alone(&town, &endpoints);
    runner.drain().await.unwrap();
    assert_eq!(endpoints.heard("all", "futureId"), ["future.seen f1", "post.created -"]);
    let letters = runner.dead_letters().list(&QUEUE, None, None).await.unwrap().items;
    assert_eq!(letters.len(), 1);
    assert_eq!(waiting(&town, &all).await, 0);
    assert!(bookkeeping(town.ground(), "JOB#events").await.is_empty());
}

/// R44: a slow endpoint with much to hear keeps nobody from stopping.
#[tokio::test(start_paused = true)]
async fn a_slow_endpoint_does_not_keep_the_process_from_stopping() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let slow = register(&town, "slow", &["post.created"]).await;
    posts(&town, 20).await;
    let runner = alone(&town, &endpoints);
    let (stop, running) = start(&runner);
    until(|| !endpoints.ids().is_empty()).await;
    let asked = Instant::now();
    stop.send(()).unwrap();
    running.await.unwrap();
    assert!(asked.elapsed() <= Duration::from_secs(20), "{:?}", asked.elapsed());
    assert!(endpoints.ids().len() < 4);
    // What it took, it does not hear again.
    alone(&town, &endpoints).drain().await.unwrap();
    assert_eq!(endpoints.ids().len(), 20);
    assert_eq!(waiting(&town, &slow).await, 0);
}
