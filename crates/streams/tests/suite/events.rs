//! Endpoints that are told of what happens: what they hear, how often, and who waits for whom.

mod kinds;
mod parcels;
mod replays;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_conformance::Reference;
use roundtable_domain::{
    Deliver, NewPost, Outgoing, PageInput, PostChange, Undelivered, WebhookError, Webhooks,
};
use roundtable_model::entities::Webhook;
use roundtable_model::table::{SharedBackend, Store};
use roundtable_model::{Queue, Role, Visibility};
use roundtable_streams::{EventWatch, Events, Runner, Setup};
use roundtable_testkit::{Town, Yielding, stop_at};

use crate::facts::bookkeeping;
use crate::running::{start, until};
use crate::stage::{clock, retries};

const QUEUE: Queue = Queue::named("events");
const HOUR_MS: u64 = 60 * 60 * 1000;

/// Endpoints, known by the ends of their addresses, which behave as these say.
#[derive(Default)]
struct Endpoints {
    heard: Mutex<Vec<(String, Outgoing)>>,
    is_well: AtomicBool,
}

impl Endpoints {
    /// What an endpoint heard, each as its type and what the data says of `field`.
    fn heard(&self, name: &str, field: &str) -> Vec<String> {
        let told = |message: &Outgoing| {
            let event: serde_json::Value = serde_json::from_slice(&message.body).unwrap();
            let text = |at: &str| event.pointer(at).and_then(|value| value.as_str());
            let kind = text("/type").unwrap().replace("roundtable.", "");
            format!("{kind} {}", text(&format!("/data/{field}")).unwrap_or("-"))
        };
        let heard = self.heard.lock();
        heard.iter().filter(|(to, _)| to == name).map(|(_, message)| told(message)).collect()
    }

    fn ids(&self) -> Vec<String> {
        self.heard.lock().iter().map(|(_, message)| message.id.clone()).collect()
    }

    fn bodies(&self) -> String {
        let heard = self.heard.lock();
        heard.iter().map(|(_, message)| String::from_utf8(message.body.clone()).unwrap()).collect()
    }
}

#[async_trait]
impl Deliver for Endpoints {
    async fn deliver(&self, to: &Webhook, message: &Outgoing) -> Result<(), Undelivered> {
        let name = to.url.rsplit('/').next().unwrap().to_owned();
        let before = {
            let mut heard = self.heard.lock();
            let before = heard.iter().filter(|(to, _)| *to == name).count();
            heard.push((name.clone(), message.clone()));
            before
        };
        tokio::task::yield_now().await;
        let is_well = self.is_well.load(Ordering::SeqCst);
        match name.as_str() {
            "hanging" => std::future::pending().await,
            "failing" if !is_well => Err(Undelivered::Failed("connection refused".into())),
            "weary" if !is_well && before >= 25 => Err(Undelivered::Failed("enough".into())),
            "slow" => {
                tokio::time::sleep(Duration::from_secs(9)).await;
                Ok(())
            }
            "gone" => Err(Undelivered::Gone),
            _ => Ok(()),
        }
    }
}

async fn town() -> Town {
    let town = Town::of(["ana", "bo", "mo", "ada"]).await;
    town.employ("ada", Role::Admin).await;
    town
}

async fn register(town: &Town, name: &str, types: &[&str]) -> Webhook {
    let types: Vec<String> = types.iter().map(|name| format!("roundtable.{name}")).collect();
    let url = format!("https://example.com/{name}");
    webhooks(town).create(&town.staff("ada", Role::Admin), &url, &types).await.unwrap().webhook
}

fn webhooks(town: &Town) -> Webhooks {
    Webhooks::new(town.ground().clone())
}

fn runner(town: &Town, endpoints: &Arc<Endpoints>) -> Runner {
    let setup = Setup::everything_at_once(town.ground()).telling(endpoints.clone());
    setup.retrying(retries()).build()
}

/// With nothing else to do.
fn alone(town: &Town, endpoints: &Arc<Endpoints>) -> Runner {
    let events = Events::new(town.ground().clone(), endpoints.clone());
    let setup = Runner::on(town.ground().clone(), [0; 32]).at_once().retrying(retries());
    setup.with(EventWatch::new(town.ground().clone())).working(events).build()
}

async fn waiting(town: &Town, webhook: &Webhook) -> usize {
    bookkeeping(town.ground(), &format!("JOB#events.{}", webhook.id)).await.len()
}

/// R32, R44: in order, each once, and to whoever asked for it.
#[tokio::test]
async fn everybody_hears_what_they_asked_for() {
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
    assert_eq!(endpoints.heard("all", "content"), said);
    let who = ["follow.created bo", "follow.deleted bo"];
    assert_eq!(endpoints.heard("follows", "followerId"), who);
    assert_eq!(waiting(&town, &all).await, 0);
    assert!(bookkeeping(town.ground(), "JOB#events").await.is_empty());
}

/// R44: the attributes that `CloudEvents` 1.0 demands.
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

/// I9: of what not everybody sees when it is sent, nothing is told but ids.
#[tokio::test]
async fn what_is_not_public_is_ids_only() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let ada = town.staff("ada", Role::Admin);
    let url = "https://example.com/all";
    webhooks(&town).create(&ada, url, &["*".to_owned()]).await.unwrap();
    let hidden = NewPost { visibility: Some(Visibility::Followers), ..NewPost::text("xqhushxq") };
    let post = town.post_as("ana", hidden).await;
    town.comment("ana", &post.id, "xqcommentxq").await;
    let group = town.found_private("ana", "xqgroupxq").await;
    town.post_into("ana", &group, "xqinsidexq").await;
    let deleted = town.post("ana", "xqdeletedxq").await;
    town.posts().delete(&town.caller("ana"), &deleted.id, None).await.unwrap();
    town.sign_up("tom").await;
    town.set_private("bo", true).await;
    town.post("bo", "xqprivatexq").await;
    town.block("ana", "bo").await;
    runner(&town, &endpoints).drain().await.unwrap();
    let bodies = endpoints.bodies();
    for told in ["post.created", "comment.created", "group.created", "user.registered"] {
        assert!(bodies.contains(told), "{told}");
    }
    assert!(bodies.contains(&post.id.to_string()));
    for never in ["xq", "@example.com", "argon2", "password", "Block", "token"] {
        assert!(!bodies.contains(never), "{never}");
    }
}

/// R44: tried again, less and less often, by itself, until it is well; the others never notice.
#[tokio::test]
async fn who_fails_is_tried_again_until_it_is_well() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let failing = register(&town, "failing", &["post.created"]).await;
    register(&town, "good", &["post.created"]).await;
    let runner = runner(&town, &endpoints);
    for text in ["one", "two"] {
        town.post("ana", text).await;
    }
    runner.drain().await.unwrap();
    assert_eq!(endpoints.heard("good", "content"), ["post.created one", "post.created two"]);
    assert_eq!(endpoints.heard("failing", "content"), ["post.created one"]);
    // More events do not make it be asked more often.
    town.clock().advance_ms(100);
    town.posts().create(&town.caller("ana"), &NewPost::text("three"), None).await.unwrap();
    runner.drain().await.unwrap();
    assert_eq!(endpoints.heard("failing", "content").len(), 1);
    for _ in 0..40 {
        town.pass_ms(HOUR_MS / 2);
        runner.drain().await.unwrap();
    }
    let tries = endpoints.heard("failing", "content");
    assert!(tries.iter().all(|told| told == "post.created one"), "nothing overtakes it");
    assert!(tries.len() > 20 && tries.len() < 32, "{}", tries.len());
    let errands = bookkeeping(town.ground(), "JOB#events").await.len();
    assert_eq!(errands, 1, "one comes back for all");
    let letters = runner.dead_letters();
    assert_eq!(letters.count().await.unwrap(), 0, "nobody has to help it");
    endpoints.is_well.store(true, Ordering::SeqCst);
    endpoints.heard.lock().clear();
    town.pass_ms(HOUR_MS);
    runner.drain().await.unwrap();
    let said = ["post.created one", "post.created two", "post.created three"];
    assert_eq!(endpoints.heard("failing", "content"), said);
    assert_eq!((waiting(&town, &failing).await, letters.count().await.unwrap()), (0, 0));
}

/// R44: for a day; then it is off, and the audit says so. One that says it is gone is off at once.
#[tokio::test]
async fn who_fails_for_long_or_is_gone_is_turned_off() {
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
        town.pass_ms(HOUR_MS);
        town.post("ana", "another").await;
    }
    let trail = town.trail().await;
    assert_eq!(trail.iter().filter(|line| line.contains("disableWebhook")).count(), 2, "{trail:?}");
    for webhook in [failing, gone] {
        assert_eq!(waiting(&town, &webhook).await, 0, "nothing waits for nobody");
    }
}

/// R44: an endpoint that hangs has its own time, and takes nobody else's.
#[tokio::test]
async fn who_hangs_keeps_nobody_waiting() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    for name in ["hanging", "good"] {
        register(&town, name, &["post.created"]).await;
    }
    let runner = runner(&town, &endpoints);
    let (_stop, running) = start(&runner);
    for number in 1..30 {
        town.post("ana", "more").await;
        until(|| endpoints.heard("good", "content").len() == number).await;
    }
    assert_eq!(endpoints.heard("hanging", "content").len(), 1);
    running.abort();
}

/// R44: an endpoint that is taken away is told nothing more, and nothing is left behind.
#[tokio::test]
async fn who_is_taken_away_hears_nothing_more() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let failing = register(&town, "failing", &["post.created"]).await;
    let runner = runner(&town, &endpoints);
    town.post("ana", "one").await;
    runner.drain().await.unwrap();
    assert_eq!(waiting(&town, &failing).await, 1);
    webhooks(&town).delete(&town.staff("ada", Role::Admin), &failing.id, None).await.unwrap();
    town.post("ana", "two").await;
    runner.drain().await.unwrap();
    town.pass_ms(HOUR_MS);
    runner.drain().await.unwrap();
    assert_eq!(endpoints.heard("failing", "content").len(), 1);
    assert_eq!(waiting(&town, &failing).await, 0);
    assert!(bookkeeping(town.ground(), "JOB#events").await.is_empty());
    let ada = town.staff("ada", Role::Admin);
    let gone = webhooks(&town).replay(&ada, &failing.id, town.now()).await.unwrap_err();
    assert!(matches!(gone, WebhookError::NoSuchWebhook));
}

/// R44, I11: whatever moment everything stops at, every event is told, and what is told again has the
/// same id.
#[tokio::test]
async fn stopped_anywhere_an_event_comes_again_under_the_same_id() {
    let (mut stops, mut repeated) = (0, 0);
    loop {
        let (clock, endpoints) = (clock(), Arc::new(Endpoints::default()));
        let backend: SharedBackend = Arc::new(Reference::new(clock.clone()));
        let store = Store::shared(backend.clone());
        let town = Town::on(store, clock.clone(), Town::settings(), 0).await;
        let slow = Store::new(Yielding::shared(backend));
        let slow = Town::on(slow, clock, Town::settings(), 1).await;
        for name in ["ana", "ada"] {
            town.move_in(name, |_| {}).await;
        }
        town.employ("ada", Role::Admin).await;
        let all = register(&town, "all", &["post.created"]).await;
        for text in ["one", "two"] {
            town.post("ana", text).await;
        }
        let done = stop_at(stops, alone(&slow, &endpoints).drain()).await;
        // Longer than a worker may be silent, and then longer than a parcel is somebody's.
        for _ in 0..3 {
            alone(&town, &endpoints).drain().await.unwrap();
            town.pass_ms(61_000);
        }
        let heard = endpoints.heard("all", "content");
        let distinct: BTreeSet<String> = endpoints.ids().into_iter().collect();
        assert_eq!(distinct.len(), 2, "{heard:?}");
        assert_eq!(heard.first().map(String::as_str), Some("post.created one"));
        assert_eq!(heard.last().map(String::as_str), Some("post.created two"));
        assert!(heard.len() <= 4, "{heard:?}");
        repeated += usize::from(heard.len() > 2);
        assert_eq!(waiting(&town, &all).await, 0);
        assert!(bookkeeping(town.ground(), "JOB#events").await.is_empty());
        if done.is_some() {
            break;
        }
        stops += 1;
    }
    assert!(stops > 15 && repeated > 0, "{stops} stops, {repeated} of them with repetitions");
}
