//! A crash between any two steps of the fan-out, and of the trimming that follows, loses nothing:
//! up to the watermark, and from the horizon on, every reader has every copy at every moment (I6,
//! I7).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::HashSet;
use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{FeedPolicy, Settings};
use roundtable_model::entities::{Activity, FeedItem};
use roundtable_model::table::{ManualClock, Order, Store};
use roundtable_model::{ActivityId, ActorId, GroupId, Span, Time};
use roundtable_streams::{FanOut, Runner};
use roundtable_testkit::{Town, YieldingBackend, stop_at};
use roundtable_verify::Verifier;

/// More await points than the work has.
const STOPS_MAX: usize = 2_000;
/// Longer than a worker's claim lasts.
const LONG_MS: u64 = 61_000;
const READERS: [&str; 3] = ["bo", "cleo", "dan"];
const CAP: usize = 3;

/// Full feeds, and activities of a user and a group to copy into them.
struct Stage {
    backend: Arc<Reference>,
    clock: Arc<ManualClock>,
    group: GroupId,
}

impl Stage {
    async fn set() -> Self {
        let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
        let backend = Arc::new(Reference::new(clock.clone()));
        let town = Town::on(Store::shared(backend.clone()), clock.clone(), settings(), 0).await;
        town.add_user("ana", |_| {}).await;
        let group = town.create_group("ana", "runners").await;
        for reader in READERS {
            town.add_user(reader, |_| {}).await;
            town.follow(reader, "ana").await;
            town.join(reader, &group).await;
        }
        // Some copies exist before the first stop.
        for text in ["one", "two"] {
            town.post("ana", text).await;
            town.post_into("ana", &group, text).await;
        }
        town.settle().await;
        for text in ["three", "four"] {
            town.post("ana", text).await;
        }
        // An interval that ends before it has been copied, and another one after it.
        town.context().set_feed_policy(FeedPolicy::Pull);
        town.post("ana", "five").await;
        town.context().set_feed_policy(FeedPolicy::Push);
        town.post("ana", "six").await;
        town.post_into("ana", &group, "seven").await;
        Self { backend, clock, group }
    }

    /// Returns an independent copy.
    fn fork(&self) -> Self {
        let now = roundtable_model::table::Clock::now_ms(&*self.clock);
        let clock = Arc::new(ManualClock::at_ms(now));
        Self { backend: Arc::new(self.backend.fork()), clock, group: self.group.clone() }
    }

    async fn town(&self, process: u8) -> Town {
        let store = Store::shared(self.backend.clone());
        Town::on(store, self.clock.clone(), settings(), process).await
    }

    async fn slow_town(&self, process: u8) -> Town {
        let store = Store::new(YieldingBackend::shared(self.backend.clone()));
        Town::on(store, self.clock.clone(), settings(), process).await
    }

    fn homes(&self) -> [ActorId; 2] {
        ["ana".parse().unwrap(), (&self.group).into()]
    }
}

fn settings() -> Settings {
    let mut settings = Town::settings();
    let feed = &mut settings.feed;
    (feed.policy, feed.cap, feed.trim_one_in) = (FeedPolicy::Push, CAP, 1);
    settings
}

/// A runner with only the fan-out, with a few copies per batch.
fn fan_out(town: &Town) -> Runner {
    let fan_out = FanOut::new(town.context().clone()).with_page_size(4);
    let setup = Runner::builder(town.context().clone(), [0; 32])
        .with(fan_out.clone())
        .with_job_handler(fan_out);
    setup.without_delays().build()
}

async fn copied(town: &Town, home: &ActorId) -> Vec<Activity> {
    let homes = std::slice::from_ref(home);
    let listing = town.context().core().activities(homes, Span::ALL).order(Order::Ascending);
    let activities = listing.page().await.unwrap().items;
    activities.into_iter().filter(|activity| activity.fanout).collect()
}

/// The copies in a reader's feed, and its horizon.
async fn held(town: &Town, reader: &str) -> (HashSet<ActivityId>, Time) {
    let (core, reader) = (town.context().core(), town.id(reader));
    let items: Vec<FeedItem> = core.feed_items(&reader, Span::ALL).page().await.unwrap().items;
    let horizon = core.feed_horizon(&reader).get().await.unwrap();
    let ids = items.into_iter().map(|item| item.activity_id).collect();
    (ids, horizon.map_or(Time::EPOCH, |horizon| horizon.oldest))
}

/// Asserts what readers rely on: all copies up to the watermark, in or before its interval, exist.
async fn nothing_is_missing(town: &Town, homes: &[ActorId], what: &str) {
    for home in homes {
        let promotion = town.context().core().promotion(home).get().await.unwrap().unwrap();
        let watermark = promotion.watermark.unwrap();
        for activity in copied(town, home).await {
            if activity.created_at > watermark {
                continue;
            }
            for reader in READERS {
                let (ids, horizon) = held(town, reader).await;
                let is_there = activity.created_at < horizon || ids.contains(&activity.activity_id);
                assert!(is_there, "{what}: {reader} lacks {:?}", activity.preview_text);
            }
        }
    }
}

#[tokio::test]
async fn the_fan_out_survives_a_stop_at_any_point() {
    let first = Stage::set().await;
    for stops in 0..STOPS_MAX {
        let stage = first.fork();
        let slow = stage.slow_town(1).await;
        let done = stop_at(stops, fan_out(&slow).drain()).await;
        let (town, what) = (stage.town(2).await, format!("stopped after {stops}"));
        nothing_is_missing(&town, &stage.homes(), &what).await;
        // Another worker takes over when the claim of the first has expired.
        town.advance_ms(LONG_MS);
        town.settle().await;
        nothing_is_missing(&town, &stage.homes(), &format!("{what}, then again")).await;
        for home in stage.homes() {
            let last = copied(&town, &home).await.pop().unwrap().created_at;
            let promotion = town.context().core().promotion(&home).get().await.unwrap().unwrap();
            assert_eq!(promotion.watermark, Some(last), "{what}: {home} is complete");
        }
        for reader in READERS {
            let (ids, horizon) = held(&town, reader).await;
            assert_eq!(ids.len(), CAP, "{what}");
            assert!(horizon > Time::EPOCH, "{what}");
        }
        assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0, "{what}");
        let report = Verifier::on(town.context()).check().await.unwrap();
        assert!(report.is_clean(), "{what}: {:#?}", report.findings);
        if let Some(done) = done {
            done.unwrap();
            assert!(stops > 100, "{stops} await points are too few to be all");
            return;
        }
    }
    panic!("there are more await points than expected");
}
