//! Telling an endpoint again what it has missed, from wherever the stream still holds it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use roundtable_conformance::Reference;
use roundtable_model::entities::Webhook;
use roundtable_model::table::Store;
use roundtable_model::{Role, Time};
use roundtable_streams::Runner;
use roundtable_testkit::{Split, Stuttering, Town};

use super::{Endpoints, alone, bookkeeping, register, runner, town, waiting, webhooks};
use crate::stage::clock;

/// How long a replay waits before it looks again.
const LOOK_AGAIN_MS: u64 = 10_000;

async fn replay(town: &Town, webhook: &Webhook, from: Time) {
    let ada = town.staff("ada", Role::Admin);
    webhooks(town).replay(&ada, &webhook.id, from).await.unwrap();
}

/// Works until nothing is left to do.
async fn settle(town: &Town, runner: &Runner) {
    for _ in 0..100 {
        runner.drain().await.unwrap();
        if bookkeeping(town.ground(), "JOB#events").await.is_empty() {
            return;
        }
        town.pass_ms(LOOK_AGAIN_MS);
    }
    panic!("it never comes to an end");
}

/// R44: what the stream holds is told again, under the same ids.
#[tokio::test]
async fn a_replay_tells_everything_again_under_the_same_ids() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let all = register(&town, "all", &["post.created", "follow.created"]).await;
    town.post("ana", "one").await;
    let from = town.now();
    town.follow("bo", "ana").await;
    town.pass_ms(1_000);
    town.post("ana", "two").await;
    let runner = runner(&town, &endpoints);
    runner.drain().await.unwrap();
    let first = endpoints.ids();
    assert_eq!(first.len(), 3);
    // Some streams tell times to the second: nothing of that second is left out.
    for (from, told) in [(from, &first[1..]), (from.plus_ms(999), &first[1..])] {
        endpoints.heard.lock().clear();
        replay(&town, &all, from).await;
        runner.drain().await.unwrap();
        assert_eq!(endpoints.ids(), told);
    }
    endpoints.heard.lock().clear();
    replay(&town, &all, Time::from_ms(0)).await;
    runner.drain().await.unwrap();
    assert_eq!(endpoints.ids(), first, "nothing of the stream was forgotten");
}

/// R44: a replay takes nothing away from what waits, and what waits nothing from a replay.
#[tokio::test]
async fn a_replay_waits_beside_what_waits_already() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let failing = register(&town, "failing", &["post.created"]).await;
    for text in ["one", "two"] {
        town.post("ana", text).await;
    }
    alone(&town, &endpoints).drain().await.unwrap();
    assert_eq!(waiting(&town, &failing).await, 1);
    replay(&town, &failing, failing.created_at).await;
    alone(&town, &endpoints).drain().await.unwrap();
    assert_eq!(waiting(&town, &failing).await, 2);
    endpoints.is_well.store(true, Ordering::SeqCst);
    endpoints.heard.lock().clear();
    town.pass_ms(10_000);
    alone(&town, &endpoints).drain().await.unwrap();
    let mut heard = endpoints.heard("failing", "content");
    heard.sort_unstable();
    let each = ["post.created one", "post.created one", "post.created two", "post.created two"];
    assert_eq!(heard, each);
    assert_eq!(waiting(&town, &failing).await, 0);
}

/// R44: on a store whose stream comes in shards, some of which have ended and some have not, and shows
/// nothing now and then where something is.
#[tokio::test]
async fn a_replay_goes_through_every_shard_and_past_empty_pages() {
    for seed in 0..12 {
        let clock = clock();
        let split = Arc::new(Split::new(Arc::new(Reference::new(clock.clone()))));
        let stuttering = Stuttering::new(split.clone(), seed);
        let town = Town::on(Store::new(stuttering), clock, Town::settings(), 0).await;
        for name in ["ana", "ada"] {
            town.move_in(name, |_| {}).await;
        }
        town.employ("ada", Role::Admin).await;
        let all = register(&town, "all", &["post.created"]).await;
        for text in ["one", "two", "three", "four"] {
            town.post("ana", text).await;
            split.cut(town.ground().core().table().definition()).await;
        }
        town.post("ana", "five").await;
        let endpoints = Arc::new(Endpoints::default());
        let runner = alone(&town, &endpoints);
        for _ in 0..100 {
            if endpoints.ids().into_iter().collect::<BTreeSet<_>>().len() == 5 {
                break;
            }
            settle(&town, &runner).await;
        }
        let first: BTreeSet<String> = endpoints.ids().into_iter().collect();
        assert_eq!(first.len(), 5);
        endpoints.heard.lock().clear();
        replay(&town, &all, all.created_at).await;
        settle(&town, &runner).await;
        assert_eq!(endpoints.ids().into_iter().collect::<BTreeSet<_>>(), first, "seed {seed}");
    }
}

/// R44: an endpoint that was given up is told of everything that happened meanwhile, and of what happens
/// from then on.
#[tokio::test]
async fn after_a_replay_nothing_is_missing() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let all = register(&town, "all", &["post.created"]).await;
    let runner = alone(&town, &endpoints);
    webhooks(&town).give_up(&all.id, "it has failed").await.unwrap();
    town.post("ana", "one").await;
    runner.drain().await.unwrap();
    assert!(endpoints.ids().is_empty());
    replay(&town, &all, all.created_at).await;
    // Between the request and the work.
    town.post("ana", "two").await;
    runner.drain().await.unwrap();
    town.post("ana", "three").await;
    runner.drain().await.unwrap();
    let heard: BTreeSet<String> = endpoints.heard("all", "content").into_iter().collect();
    let all = ["post.created one", "post.created three", "post.created two"];
    assert_eq!(heard, all.map(String::from).into());
}
