//! Delivery of events to webhook endpoints: content, order, retries and isolation.

mod batches;
mod event_types;
mod replays;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_conformance::Reference;
use roundtable_domain::{
    DeliveryError, NewPost, PageInput, PostChange, WebhookError, WebhookMessage, WebhookSender,
    Webhooks,
};
use roundtable_model::entities::Webhook;
use roundtable_model::table::{SharedBackend, Store};
use roundtable_model::{Queue, Role, Visibility};
use roundtable_streams::{EventDelivery, EventDetector, Runner, RunnerBuilder};
use roundtable_testkit::{Town, YieldingBackend, stop_at};

use crate::facts::bookkeeping;
use crate::running::{start, until};
use crate::test_store::{clock, retries};

const QUEUE: Queue = Queue::from_static("events");
const HOUR_MS: u64 = 60 * 60 * 1000;

/// Endpoints whose behavior follows from the last part of their addresses.
#[derive(Default)]
struct Endpoints {
    received: Mutex<Vec<(String, WebhookMessage)>>,
    is_well: AtomicBool,
}

impl Endpoints {
    /// The events an endpoint received, each as its type and the value of `field`.
    fn received(&self, name: &str, field: &str) -> Vec<String> {
        let line = |message: &WebhookMessage| {
            let event: serde_json::Value = serde_json::from_slice(&message.body).unwrap();
            let text = |at: &str| event.pointer(at).and_then(|value| value.as_str());
            let kind = text("/type").unwrap().replace("roundtable.", "");
            format!("{kind} {}", text(&format!("/data/{field}")).unwrap_or("-"))
        };
        let received = self.received.lock();
        received.iter().filter(|(to, _)| to == name).map(|(_, message)| line(message)).collect()
    }

    fn ids(&self) -> Vec<String> {
        self.received.lock().iter().map(|(_, message)| message.id.clone()).collect()
    }

    fn bodies(&self) -> String {
        let received = self.received.lock();
        received
            .iter()
            .map(|(_, message)| String::from_utf8(message.body.clone()).unwrap())
            .collect()
    }
}

#[async_trait]
impl WebhookSender for Endpoints {
    async fn send(&self, to: &Webhook, message: &WebhookMessage) -> Result<(), DeliveryError> {
        let name = to.url.rsplit('/').next().unwrap().to_owned();
        let before = {
            let mut received = self.received.lock();
            let before = received.iter().filter(|(to, _)| *to == name).count();
            received.push((name.clone(), message.clone()));
            before
        };
        tokio::task::yield_now().await;
        let is_well = self.is_well.load(Ordering::SeqCst);
        match name.as_str() {
            "hanging" => std::future::pending().await,
            "failing" if !is_well => Err(DeliveryError::Failed("connection refused".into())),
            "weary" if !is_well && before >= 25 => Err(DeliveryError::Failed("enough".into())),
            "slow" => {
                tokio::time::sleep(Duration::from_secs(9)).await;
                Ok(())
            }
            "gone" => Err(DeliveryError::Gone),
            _ => Ok(()),
        }
    }
}

async fn town() -> Town {
    let town = Town::of(["ana", "bo", "mo", "ada"]).await;
    town.grant_role("ada", Role::Admin).await;
    town
}

async fn register(town: &Town, name: &str, types: &[&str]) -> Webhook {
    let types: Vec<String> = types.iter().map(|name| format!("roundtable.{name}")).collect();
    let url = format!("https://example.com/{name}");
    webhooks(town).create(&town.staff("ada", Role::Admin), &url, &types).await.unwrap().webhook
}

fn webhooks(town: &Town) -> Webhooks {
    Webhooks::new(town.context().clone())
}

fn runner(town: &Town, endpoints: &Arc<Endpoints>) -> Runner {
    let builder = RunnerBuilder::with_all_processors_undelayed(town.context())
        .with_webhook_sender(endpoints.clone());
    builder.with_retries(retries()).build()
}

/// A runner with event delivery only.
fn delivery_only(town: &Town, endpoints: &Arc<Endpoints>) -> Runner {
    let events = EventDelivery::new(town.context().clone(), endpoints.clone());
    let builder =
        Runner::builder(town.context().clone(), [0; 32]).without_delays().with_retries(retries());
    builder.with(EventDetector::new(town.context().clone())).with_job_handler(events).build()
}

async fn waiting(town: &Town, webhook: &Webhook) -> usize {
    bookkeeping(town.context(), &format!("JOB#events.{}", webhook.id)).await.len()
}

/// R32, R44: events arrive in order, each once, at the endpoints that subscribed.
#[tokio::test]
async fn endpoints_receive_the_events_they_subscribed_to() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    town.post("ana", "before anybody listened").await;
    let all = register(&town, "all", &["post.created", "post.updated", "post.deleted"]).await;
    register(&town, "follows", &["follow.created", "follow.deleted"]).await;
    let post = town.post("ana", "one").await;
    let (ana, bo) = (town.caller("ana"), town.caller("bo"));
    town.follow("bo", "ana").await;
    town.like("bo", &post.id).await;
    runner(&town, &endpoints).drain().await.unwrap();
    let change = PostChange { content: Some("two".into()), ..PostChange::default() };
    town.posts().update(&ana, &post.id, &change, None).await.unwrap();
    runner(&town, &endpoints).drain().await.unwrap();
    town.posts().delete(&ana, &post.id, None).await.unwrap();
    town.follows().unfollow(&bo, &town.id("ana"), None).await.unwrap();
    let last = runner(&town, &endpoints);
    last.drain().await.unwrap();
    last.drain().await.unwrap();
    let said = ["post.created one", "post.updated two", "post.deleted -"];
    assert_eq!(endpoints.received("all", "content"), said);
    let who = ["follow.created bo", "follow.deleted bo"];
    assert_eq!(endpoints.received("follows", "followerId"), who);
    assert_eq!(waiting(&town, &all).await, 0);
    assert!(bookkeeping(town.context(), "JOB#events").await.is_empty());
}

/// R44: events have the attributes that `CloudEvents` 1.0 requires.
#[tokio::test]
async fn an_event_is_a_cloud_event() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    register(&town, "all", &["post.created"]).await;
    let at = town.now();
    let post = town.post("ana", "one").await;
    runner(&town, &endpoints).drain().await.unwrap();
    let event: serde_json::Value = serde_json::from_str(&endpoints.bodies()).unwrap();
    assert_eq!(event["specversion"], "1.0");
    assert_eq!(event["id"].as_str(), endpoints.ids().first().map(String::as_str));
    assert_eq!(event["source"], "/roundtable/gg_core");
    assert_eq!(event["type"], "roundtable.post.created");
    assert_eq!(event["subject"], post.id.to_string());
    assert_eq!(event["time"], at.to_string());
    assert_eq!(event["datacontenttype"], "application/json");
    assert_eq!(event["data"]["authorId"], "ana");
}

/// I9: events about content that is not public carry only ids.
#[tokio::test]
async fn events_about_private_content_carry_only_ids() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let ada = town.staff("ada", Role::Admin);
    let url = "https://example.com/all";
    webhooks(&town).create(&ada, url, &["*".to_owned()]).await.unwrap();
    let hidden = NewPost { visibility: Some(Visibility::Followers), ..NewPost::text("xqhushxq") };
    let post = town.post_as("ana", hidden).await;
    town.comment("ana", &post.id, "xqcommentxq").await;
    let group = town.create_private_group("ana", "xqgroupxq").await;
    town.post_into("ana", &group, "xqinsidexq").await;
    let deleted = town.post("ana", "xqdeletedxq").await;
    town.posts().delete(&town.caller("ana"), &deleted.id, None).await.unwrap();
    town.sign_up("tom").await;
    town.set_private("bo", true).await;
    town.post("bo", "xqprivatexq").await;
    town.block("ana", "bo").await;
    runner(&town, &endpoints).drain().await.unwrap();
    let bodies = endpoints.bodies();
    for expected in ["post.created", "comment.created", "group.created", "user.registered"] {
        assert!(bodies.contains(expected), "{expected}");
    }
    assert!(bodies.contains(&post.id.to_string()));
    for never in ["xq", "@example.com", "argon2", "password", "Block", "token"] {
        assert!(!bodies.contains(never), "{never}");
    }
}

/// R44: a failing endpoint is retried at growing intervals until it works; other endpoints are
/// unaffected.
#[tokio::test]
async fn a_failing_endpoint_is_retried_until_it_works() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let failing = register(&town, "failing", &["post.created"]).await;
    register(&town, "good", &["post.created"]).await;
    let runner = runner(&town, &endpoints);
    for text in ["one", "two"] {
        town.post("ana", text).await;
    }
    runner.drain().await.unwrap();
    assert_eq!(endpoints.received("good", "content"), ["post.created one", "post.created two"]);
    assert_eq!(endpoints.received("failing", "content"), ["post.created one"]);
    // More events do not cause more attempts.
    town.clock().advance_ms(100);
    town.posts().create(&town.caller("ana"), &NewPost::text("three"), None).await.unwrap();
    runner.drain().await.unwrap();
    assert_eq!(endpoints.received("failing", "content").len(), 1);
    for _ in 0..40 {
        town.advance_ms(HOUR_MS / 2);
        runner.drain().await.unwrap();
    }
    let tries = endpoints.received("failing", "content");
    assert!(tries.iter().all(|line| line == "post.created one"), "events stay in order");
    assert!(tries.len() > 20 && tries.len() < 32, "{}", tries.len());
    let jobs = bookkeeping(town.context(), "JOB#events").await.len();
    assert_eq!(jobs, 1, "one job waits for all");
    let letters = runner.dead_letters();
    assert_eq!(letters.count().await.unwrap(), 0, "no dead letters");
    endpoints.is_well.store(true, Ordering::SeqCst);
    endpoints.received.lock().clear();
    town.advance_ms(HOUR_MS);
    runner.drain().await.unwrap();
    let said = ["post.created one", "post.created two", "post.created three"];
    assert_eq!(endpoints.received("failing", "content"), said);
    assert_eq!((waiting(&town, &failing).await, letters.count().await.unwrap()), (0, 0));
}

/// R44: an endpoint that fails for a day is disabled, and the audit log records it. One that
/// answers that it is gone is disabled at once.
#[tokio::test]
async fn an_endpoint_that_keeps_failing_or_is_gone_is_disabled() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let failing = register(&town, "failing", &["post.created"]).await;
    let gone = register(&town, "gone", &["post.created"]).await;
    let runner = runner(&town, &endpoints);
    town.post("ana", "one").await;
    for hours in 0..30 {
        runner.drain().await.unwrap();
        let ada = town.staff("ada", Role::Admin);
        let listed = webhooks(&town).list(&ada, &PageInput::first()).await.unwrap().into_items();
        let enabled: Vec<bool> = listed.iter().map(|webhook| webhook.enabled).collect();
        assert_eq!(enabled, [hours < 24, false], "after {hours} hours");
        town.advance_ms(HOUR_MS);
        town.post("ana", "another").await;
    }
    let trail = town.audit_trail().await;
    assert_eq!(trail.iter().filter(|line| line.contains("disableWebhook")).count(), 2, "{trail:?}");
    for webhook in [failing, gone] {
        assert_eq!(waiting(&town, &webhook).await, 0, "the outbox is empty");
    }
}

/// R44: a hanging endpoint does not delay other endpoints.
#[tokio::test]
async fn a_hanging_endpoint_delays_no_other() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    for name in ["hanging", "good"] {
        register(&town, name, &["post.created"]).await;
    }
    let runner = runner(&town, &endpoints);
    let (_stop, running) = start(&runner);
    for number in 1..30 {
        town.post("ana", "more").await;
        until(|| endpoints.received("good", "content").len() == number).await;
    }
    assert_eq!(endpoints.received("hanging", "content").len(), 1);
    running.abort();
}

/// R44: a deleted endpoint receives nothing more, and nothing is left behind.
#[tokio::test]
async fn a_deleted_endpoint_receives_nothing_more() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let failing = register(&town, "failing", &["post.created"]).await;
    let runner = runner(&town, &endpoints);
    town.post("ana", "one").await;
    runner.drain().await.unwrap();
    assert_eq!(waiting(&town, &failing).await, 1);
    webhooks(&town).delete(&town.staff("ada", Role::Admin), &failing.id, None).await.unwrap();
    town.post("ana", "two").await;
    runner.drain().await.unwrap();
    town.advance_ms(HOUR_MS);
    runner.drain().await.unwrap();
    assert_eq!(endpoints.received("failing", "content").len(), 1);
    assert_eq!(waiting(&town, &failing).await, 0);
    assert!(bookkeeping(town.context(), "JOB#events").await.is_empty());
    let ada = town.staff("ada", Role::Admin);
    let gone = webhooks(&town).replay(&ada, &failing.id, town.now(), None).await.unwrap_err();
    assert!(matches!(gone, WebhookError::NoSuchWebhook));
}

/// R44, I11: stopped at any point, every event is delivered, and repeated events have the same id.
#[tokio::test]
async fn an_event_repeated_after_a_stop_has_the_same_id() {
    let (mut stops, mut repeated) = (0, 0);
    loop {
        let (clock, endpoints) = (clock(), Arc::new(Endpoints::default()));
        let backend: SharedBackend = Arc::new(Reference::new(clock.clone()));
        let store = Store::shared(backend.clone());
        let town = Town::on(store, clock.clone(), Town::settings(), 0).await;
        let slow = Store::new(YieldingBackend::shared(backend));
        let slow = Town::on(slow, clock, Town::settings(), 1).await;
        for name in ["ana", "ada"] {
            town.add_user(name, |_| {}).await;
        }
        town.grant_role("ada", Role::Admin).await;
        let all = register(&town, "all", &["post.created"]).await;
        for text in ["one", "two"] {
            town.post("ana", text).await;
        }
        let done = stop_at(stops, delivery_only(&slow, &endpoints).drain()).await;
        // Longer than the claim of a worker, and then longer than the claim on a batch.
        for _ in 0..3 {
            delivery_only(&town, &endpoints).drain().await.unwrap();
            town.advance_ms(61_000);
        }
        let received = endpoints.received("all", "content");
        let distinct: BTreeSet<String> = endpoints.ids().into_iter().collect();
        assert_eq!(distinct.len(), 2, "{received:?}");
        assert_eq!(received.first().map(String::as_str), Some("post.created one"));
        assert_eq!(received.last().map(String::as_str), Some("post.created two"));
        assert!(received.len() <= 4, "{received:?}");
        repeated += usize::from(received.len() > 2);
        assert_eq!(waiting(&town, &all).await, 0);
        assert!(bookkeeping(town.context(), "JOB#events").await.is_empty());
        if done.is_some() {
            break;
        }
        stops += 1;
    }
    assert!(stops > 15 && repeated > 0, "{stops} stops, {repeated} of them with repetitions");
}
