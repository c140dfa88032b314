//! Batches of pending events: their progress, handover between jobs, and their fate when the
//! endpoint accepts nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use roundtable_domain::{NewPost, PageInput, WebhookJob};
use roundtable_model::entities::Job;
use roundtable_model::{Entity, Json, Role, Shards, Span};
use roundtable_streams::new_job;
use roundtable_testkit::{SplitStreamBackend, Town};
use tokio::time::Instant;

use super::{
    Endpoints, HOUR_MS, QUEUE, bookkeeping, delivery_only, register, runner, town, waiting,
    webhooks,
};
use crate::running::{start, until};
use crate::test_store::clock;

const DAY_MS: u64 = 24 * HOUR_MS;

/// Creates posts whose events form one batch.
async fn posts(town: &Town, count: usize) {
    for _ in 0..count {
        town.posts().create(&town.caller("ana"), &NewPost::text("more"), None).await.unwrap();
        town.advance_ms(1);
    }
}

async fn is_on(town: &Town) -> bool {
    let ada = town.staff("ada", Role::Admin);
    let listed = webhooks(town).list(&ada, &PageInput::first()).await.unwrap().into_items();
    listed.iter().all(|webhook| webhook.enabled)
}

/// R44: the progress of a batch and the backoff of its endpoint hold for any other job and any
/// other process.
#[tokio::test]
async fn accepted_events_are_not_sent_again_by_other_jobs() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let weary = register(&town, "weary", &["post.created"]).await;
    posts(&town, 30).await;
    delivery_only(&town, &endpoints).drain().await.unwrap();
    assert_eq!(endpoints.received("weary", "content").len(), 26, "it has accepted 25");
    for _ in 0..3 {
        posts(&town, 1).await;
        delivery_only(&town, &endpoints).drain().await.unwrap();
    }
    assert_eq!(endpoints.received("weary", "content").len(), 26, "and backs off");
    endpoints.is_well.store(true, Ordering::SeqCst);
    town.advance_ms(1_000);
    delivery_only(&town, &endpoints).drain().await.unwrap();
    let mut ids = endpoints.ids();
    let failed = ids.remove(25);
    assert_eq!(ids.get(25), Some(&failed), "it resumes");
    let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
    assert_eq!((ids.len(), distinct.len()), (33, 33), "nothing is repeated");
    assert_eq!(waiting(&town, &weary).await, 0);
}

/// R44: the same while jobs arrive between any two pages of a large batch.
#[tokio::test]
async fn jobs_that_arrive_meanwhile_do_not_restart_a_batch() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let all = register(&town, "all", &["post.created"]).await;
    posts(&town, 45).await;
    let runner = delivery_only(&town, &endpoints);
    let (stop, running) = start(&runner);
    for number in 0..200 {
        let job = WebhookJob::Deliver { webhook: all.id.clone() };
        let id = format!("errand-{number}").parse().unwrap();
        let job = new_job(QUEUE, id, town.now(), &job).unwrap();
        town.context().ops().table().put(job.put()).await.unwrap();
        tokio::task::yield_now().await;
    }
    until(|| endpoints.ids().len() >= 45).await;
    stop.send(()).unwrap();
    running.await.unwrap();
    delivery_only(&town, &endpoints).drain().await.unwrap();
    assert_eq!(endpoints.ids().len(), 45);
    assert_eq!(waiting(&town, &all).await, 0);
}

/// R44: events that waited because no worker was running have not failed.
#[tokio::test]
async fn time_without_attempts_does_not_count_as_failing() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    register(&town, "failing", &["post.created"]).await;
    town.post("ana", "one").await;
    town.advance_ms(3 * DAY_MS);
    runner(&town, &endpoints).drain().await.unwrap();
    assert_eq!(endpoints.received("failing", "content"), ["post.created one"]);
    assert!(is_on(&town).await);
    // The same holds after the first failure.
    town.advance_ms(3 * DAY_MS);
    runner(&town, &endpoints).drain().await.unwrap();
    assert!(is_on(&town).await);
    endpoints.is_well.store(true, Ordering::SeqCst);
    endpoints.received.lock().clear();
    town.advance_ms(HOUR_MS);
    runner(&town, &endpoints).drain().await.unwrap();
    assert_eq!(endpoints.received("failing", "content"), ["post.created one"]);
}

/// R44: the pending events of a disabled endpoint become dead letters. Redriven after the endpoint
/// is enabled again, they continue in order.
#[tokio::test]
async fn undelivered_events_of_a_disabled_endpoint_can_be_redriven() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let failing = register(&town, "failing", &["post.created"]).await;
    let runner = runner(&town, &endpoints);
    for text in ["one", "two", "three"] {
        town.post("ana", text).await;
        runner.drain().await.unwrap();
    }
    for _ in 0..26 {
        town.advance_ms(HOUR_MS);
        runner.drain().await.unwrap();
    }
    assert!(!is_on(&town).await);
    let letters = runner.dead_letters();
    let parked = letters.list(&QUEUE, None, None).await.unwrap().items;
    assert_eq!((parked.len(), waiting(&town, &failing).await), (3, 0));
    assert!(parked.iter().all(|letter| letter.error.contains("the endpoint was disabled")));

    // Redriven too early, they become dead letters again.
    endpoints.received.lock().clear();
    assert_eq!(letters.redrive_all(10).await.unwrap().done, 3);
    runner.drain().await.unwrap();
    assert_eq!((letters.count().await.unwrap(), endpoints.ids().len()), (3, 0));

    endpoints.is_well.store(true, Ordering::SeqCst);
    let ada = town.staff("ada", Role::Admin);
    webhooks(&town).replay(&ada, &failing.id, town.now(), None).await.unwrap();
    assert_eq!(letters.redrive_all(10).await.unwrap().done, 3);
    runner.drain().await.unwrap();
    let said = ["post.created one", "post.created two", "post.created three"];
    assert_eq!(endpoints.received("failing", "content"), said);
    assert_eq!((waiting(&town, &failing).await, letters.count().await.unwrap()), (0, 0));
}

/// R57: operators see what waits for an endpoint and why, and enable it once it works.
#[tokio::test]
async fn deliveries_of_a_failing_endpoint_are_listed() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let (ada, hooks) = (town.staff("ada", Role::Admin), webhooks(&town));
    let failing = register(&town, "failing", &["post.created"]).await;
    let listed = async |limit| {
        let page = PageInput { limit: Some(limit), after: None };
        hooks.deliveries(&ada, &failing.id, &page).await.unwrap()
    };
    assert!(listed(20).await.items.is_empty());
    town.post("ana", "one").await;
    let runner = delivery_only(&town, &endpoints);
    runner.drain().await.unwrap();
    town.post("ana", "two").await;
    runner.drain().await.unwrap();
    let waiting = listed(20).await.into_items();
    assert_eq!(waiting.len(), 2);
    assert_eq!(waiting[0].event_types, ["roundtable.post.created"]);
    assert_eq!((waiting[0].progress.sent, waiting[0].attempts > 0), (0, true));
    assert!(
        waiting[0].progress.failing_since.is_some() && waiting[0].progress.not_before.is_some()
    );
    assert!(waiting[0].progress.reason.is_some(), "{waiting:?}");
    assert_eq!((waiting[1].attempts, &waiting[1].progress.reason), (0, &None));
    assert_eq!((listed(1).await.items.len(), listed(1).await.next.is_some()), (1, true));

    hooks.disable(&failing.id, "it fails").await.unwrap();
    town.advance_ms(60 * 60 * 1000);
    runner.drain().await.unwrap();
    assert!(listed(20).await.items.is_empty(), "they are dead letters");
    endpoints.is_well.store(true, Ordering::SeqCst);
    assert!(hooks.enable(&ada, &failing.id, None).await.unwrap().enabled);
    assert_eq!(runner.dead_letters().redrive_all(10).await.unwrap().done, 2);
    runner.drain().await.unwrap();
    town.post("ana", "three").await;
    runner.drain().await.unwrap();
    let said = ["post.created one", "post.created two", "post.created three"];
    let received = endpoints.received("failing", "content");
    assert!(received.ends_with(&said.map(String::from)), "{received:?}");
}

/// R44: if an endpoint is enabled again at any moment while its outbox is cleared, every event is
/// sent or among the dead letters.
#[tokio::test]
async fn enabling_an_endpoint_while_it_is_cleared_loses_nothing() {
    for gap in 1.. {
        let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
        let failing = register(&town, "failing", &["post.created"]).await;
        for text in ["one", "two"] {
            town.post("ana", text).await;
            delivery_only(&town, &endpoints).drain().await.unwrap();
        }
        webhooks(&town).disable(&failing.id, "it fails").await.unwrap();
        town.advance_ms(10_000);
        endpoints.received.lock().clear();
        endpoints.is_well.store(true, Ordering::SeqCst);
        let (ada, id, on) = (town.staff("ada", Role::Admin), failing.id.clone(), webhooks(&town));
        let now = town.now().plus_ms(5_000);
        let (context, meanwhile) = town.interleave(gap, async move || {
            on.replay(&ada, &id, now, None).await.unwrap();
        });
        let events = roundtable_streams::EventDelivery::new(context.clone(), endpoints.clone());
        let watch = roundtable_streams::EventDetector::new(context.clone());
        let builder = roundtable_streams::Runner::builder(context, [0; 32]).without_delays();
        let cleared = builder.with(watch).with_job_handler(events).build();
        cleared.drain().await.unwrap();
        let happened = meanwhile.happened();
        let letters = cleared.dead_letters().count().await.unwrap();
        let received = endpoints.received("failing", "content").len();
        assert_eq!(letters + received, 2, "{letters} and {received} after {gap} operations");
        assert_eq!(waiting(&town, &failing).await, 0);
        if !happened {
            assert!(gap > 10);
            return;
        }
    }
}

/// R44: a batch has a job to send it from the first moment, also on stores with single writes.
#[tokio::test]
async fn every_batch_has_a_job_to_send_it() {
    for gap in 1.. {
        let clock = clock();
        let split = SplitStreamBackend::new(Arc::new(roundtable_conformance::Reference::new(
            clock.clone(),
        )));
        let store = roundtable_model::table::Store::shared(Arc::new(split));
        let town = Town::on(store, clock, Town::settings(), 0).await;
        for name in ["ana", "ada"] {
            town.add_user(name, |_| {}).await;
        }
        town.grant_role("ada", Role::Admin).await;
        let all = register(&town, "all", &["post.created"]).await;
        town.post("ana", "one").await;
        let (context, queue) = (town.context().clone(), format!("events.{}", all.id));
        let (watched, meanwhile) = town.interleave(gap, async move || {
            let rows = async |queue: &str| {
                let due = Span::until(context.now().plus_ms(1));
                let jobs = context.ops().jobs(&queue.parse().unwrap(), due, Shards::ONE);
                jobs.page().await.unwrap().items.len()
            };
            assert_eq!(rows(&queue).await, rows("events").await);
        });
        let events = roundtable_streams::EventDetector::new(watched.clone());
        roundtable_streams::Runner::builder(watched, [0; 32])
            .without_delays()
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

/// R44: events of a newer version are sent as far as this version understands them. Unreadable
/// events become dead letters and block nothing.
#[tokio::test]
async fn unknown_events_do_not_block_others() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let all = register(&town, "all", &["post.created"]).await;
    let queue = format!("events.{}", all.id).parse().unwrap();
    let newer = serde_json::json!([{
        "id": "e1", "type": "roundtable.future.seen", "subject": "f1",
        "time": town.now(), "ids": { "futureId": "f1" },
    }]);
    let waits: Job = new_job(queue, "0-newer".parse().unwrap(), town.now(), &newer).unwrap();
    let payload = Json::encode(&serde_json::json!("nonsense")).unwrap();
    let broken = Job { id: "1-broken".parse().unwrap(), payload, ..waits.clone() };
    for waits in [waits, broken] {
        town.context().ops().table().put(waits.put()).await.unwrap();
    }
    town.advance_ms(1_000);
    town.post("ana", "one").await;
    let runner = delivery_only(&town, &endpoints);
    runner.drain().await.unwrap();
    assert_eq!(endpoints.received("all", "futureId"), ["future.seen f1", "post.created -"]);
    let letters = runner.dead_letters().list(&QUEUE, None, None).await.unwrap().items;
    assert_eq!(letters.len(), 1);
    assert_eq!(waiting(&town, &all).await, 0);
    assert!(bookkeeping(town.context(), "JOB#events").await.is_empty());
}

/// R44: a slow endpoint with many pending events does not delay shutdown.
#[tokio::test(start_paused = true)]
async fn a_slow_endpoint_does_not_delay_shutdown() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let slow = register(&town, "slow", &["post.created"]).await;
    posts(&town, 20).await;
    let runner = delivery_only(&town, &endpoints);
    let (stop, running) = start(&runner);
    until(|| !endpoints.ids().is_empty()).await;
    let stopping = Instant::now();
    stop.send(()).unwrap();
    running.await.unwrap();
    assert!(stopping.elapsed() <= Duration::from_secs(20), "{:?}", stopping.elapsed());
    assert!(endpoints.ids().len() < 4);
    // Accepted events are not sent again.
    delivery_only(&town, &endpoints).drain().await.unwrap();
    assert_eq!(endpoints.ids().len(), 20);
    assert_eq!(waiting(&town, &slow).await, 0);
}
