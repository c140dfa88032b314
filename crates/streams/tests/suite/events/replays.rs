//! Replays of missed events, as far as the stream still holds them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use roundtable_conformance::Reference;
use roundtable_model::entities::Webhook;
use roundtable_model::table::Store;
use roundtable_model::{Role, Time};
use roundtable_streams::Runner;
use roundtable_testkit::{SplitStreamBackend, StutteringBackend, Town};

use super::{Endpoints, bookkeeping, delivery_only, register, runner, town, waiting, webhooks};
use crate::test_store::clock;

/// The delay of a replay after an empty read.
const EMPTY_READ_DELAY_MS: u64 = 10_000;

async fn replay(town: &Town, webhook: &Webhook, from: Time) {
    let ada = town.staff("ada", Role::Admin);
    webhooks(town).replay(&ada, &webhook.id, from, None).await.unwrap();
}

/// Runs until all work is done.
async fn settle(town: &Town, runner: &Runner) {
    for _ in 0..100 {
        runner.drain().await.unwrap();
        if bookkeeping(town.context(), "JOB#events").await.is_empty() {
            return;
        }
        town.advance_ms(EMPTY_READ_DELAY_MS);
    }
    panic!("the work never ends");
}

/// R44
#[tokio::test]
async fn a_replay_sends_everything_again_under_the_same_ids() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let all = register(&town, "all", &["post.created", "follow.created"]).await;
    town.post("ana", "one").await;
    let from = town.now();
    town.follow("bo", "ana").await;
    town.advance_ms(1_000);
    town.post("ana", "two").await;
    let runner = runner(&town, &endpoints);
    runner.drain().await.unwrap();
    let first = endpoints.ids();
    assert_eq!(first.len(), 3);
    // Some streams report times to the second: all events of that second are included.
    for (from, expected) in [(from, &first[1..]), (from.plus_ms(999), &first[1..])] {
        endpoints.received.lock().clear();
        replay(&town, &all, from).await;
        runner.drain().await.unwrap();
        assert_eq!(endpoints.ids(), expected);
    }
    endpoints.received.lock().clear();
    replay(&town, &all, Time::from_ms(0)).await;
    runner.drain().await.unwrap();
    assert_eq!(endpoints.ids(), first, "the stream was not trimmed");
}

/// R44: pending events and replayed events do not replace each other.
#[tokio::test]
async fn a_replay_does_not_replace_pending_events() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let failing = register(&town, "failing", &["post.created"]).await;
    for text in ["one", "two"] {
        town.post("ana", text).await;
    }
    delivery_only(&town, &endpoints).drain().await.unwrap();
    assert_eq!(waiting(&town, &failing).await, 1);
    replay(&town, &failing, failing.created_at).await;
    delivery_only(&town, &endpoints).drain().await.unwrap();
    assert_eq!(waiting(&town, &failing).await, 2);
    endpoints.is_well.store(true, Ordering::SeqCst);
    endpoints.received.lock().clear();
    town.advance_ms(10_000);
    delivery_only(&town, &endpoints).drain().await.unwrap();
    let mut received = endpoints.received("failing", "content");
    received.sort_unstable();
    let each = ["post.created one", "post.created one", "post.created two", "post.created two"];
    assert_eq!(received, each);
    assert_eq!(waiting(&town, &failing).await, 0);
}

/// R44: on a store with open and ended shards that sometimes returns empty pages.
#[tokio::test]
async fn a_replay_reads_every_shard_and_passes_empty_pages() {
    for seed in 0..12 {
        let clock = clock();
        let split = Arc::new(SplitStreamBackend::new(Arc::new(Reference::new(clock.clone()))));
        let stuttering = StutteringBackend::new(split.clone(), seed);
        let town = Town::on(Store::new(stuttering), clock, Town::settings(), 0).await;
        for name in ["ana", "ada"] {
            town.add_user(name, |_| {}).await;
        }
        town.grant_role("ada", Role::Admin).await;
        let all = register(&town, "all", &["post.created"]).await;
        for text in ["one", "two", "three", "four"] {
            town.post("ana", text).await;
            split.split(town.context().core().table().definition()).await;
        }
        town.post("ana", "five").await;
        let endpoints = Arc::new(Endpoints::default());
        let runner = delivery_only(&town, &endpoints);
        for _ in 0..100 {
            if endpoints.ids().into_iter().collect::<BTreeSet<_>>().len() == 5 {
                break;
            }
            settle(&town, &runner).await;
        }
        let first: BTreeSet<String> = endpoints.ids().into_iter().collect();
        assert_eq!(first.len(), 5);
        endpoints.received.lock().clear();
        replay(&town, &all, all.created_at).await;
        settle(&town, &runner).await;
        assert_eq!(endpoints.ids().into_iter().collect::<BTreeSet<_>>(), first, "seed {seed}");
    }
}

/// R44: after a replay, a disabled endpoint has received everything that happened meanwhile, and
/// receives later events.
#[tokio::test]
async fn after_a_replay_nothing_is_missing() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let all = register(&town, "all", &["post.created"]).await;
    let runner = delivery_only(&town, &endpoints);
    webhooks(&town).disable(&all.id, "it has failed").await.unwrap();
    town.post("ana", "one").await;
    runner.drain().await.unwrap();
    assert!(endpoints.ids().is_empty());
    replay(&town, &all, all.created_at).await;
    // Between the request and the replay.
    town.post("ana", "two").await;
    runner.drain().await.unwrap();
    town.post("ana", "three").await;
    runner.drain().await.unwrap();
    let received: BTreeSet<String> = endpoints.received("all", "content").into_iter().collect();
    let all = ["post.created one", "post.created three", "post.created two"];
    assert_eq!(received, all.map(String::from).into());
}
