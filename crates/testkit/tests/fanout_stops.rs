//! A crash between any two steps of the fan-out, and of the cutting that follows it, loses nothing: up to
//! the watermark, and from the horizon on, every reader has every copy, at every moment (I6, I7).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::HashSet;
use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{FeedPolicy, Settings};
use roundtable_model::entities::{Activity, FeedItem};
use roundtable_model::table::{ManualClock, Order, Store};
use roundtable_model::{ActivityId, ActorId, GroupId, Span, Time};
use roundtable_streams::{FanOut, Runner};
use roundtable_testkit::{Town, Yielding, stop_at};
use roundtable_verify::Verify;

/// More await points than there are.
const STOPS_MAX: usize = 2_000;
/// Longer than a worker may be silent.
const LONG_MS: u64 = 61_000;
const READERS: [&str; 3] = ["bo", "cleo", "dan"];
const CAP: usize = 3;

/// Feeds that are full, and what is to be copied into them next: of a person and of a group.
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
        town.move_in("ana", |_| {}).await;
        let group = town.found("ana", "runners").await;
        for reader in READERS {
            town.move_in(reader, |_| {}).await;
            town.follow(reader, "ana").await;
            town.join(reader, &group).await;
        }
        // Some copies are held that were there before anything can go wrong.
        for text in ["one", "two"] {
            town.post("ana", text).await;
            town.post_into("ana", &group, text).await;
        }
        town.settle().await;
        for text in ["three", "four"] {
            town.post("ana", text).await;
        }
        // An interval that ends before it has been copied, and another one.
        town.ground().set_feed_policy(FeedPolicy::Pull);
        town.post("ana", "five").await;
        town.ground().set_feed_policy(FeedPolicy::Push);
        town.post("ana", "six").await;
        town.post_into("ana", &group, "seven").await;
        Self { backend, clock, group }
    }

    /// The same once more, to be changed without this one.
    fn again(&self) -> Self {
        let now = roundtable_model::table::Clock::now_ms(&*self.clock);
        let clock = Arc::new(ManualClock::at_ms(now));
        Self { backend: Arc::new(self.backend.fork()), clock, group: self.group.clone() }
    }

    async fn town(&self, process: u8) -> Town {
        let store = Store::shared(self.backend.clone());
        Town::on(store, self.clock.clone(), settings(), process).await
    }

    async fn slow_town(&self, process: u8) -> Town {
        let store = Store::new(Yielding::shared(self.backend.clone()));
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

/// Only the fan-out, a few copies at a time.
fn fan_out(town: &Town) -> Runner {
    let fan_out = FanOut::new(town.ground().clone()).paged(4);
    let setup = Runner::on(town.ground().clone(), [0; 32]).with(fan_out.clone()).working(fan_out);
    setup.at_once().build()
}

async fn copied(town: &Town, home: &ActorId) -> Vec<Activity> {
    let homes = std::slice::from_ref(home);
    let listing = town.ground().core().activities(homes, Span::ALL).order(Order::Ascending);
    let activities = listing.page().await.unwrap().items;
    activities.into_iter().filter(|activity| activity.fanout).collect()
}

/// The copies that a reader holds, and since when all are held.
async fn held(town: &Town, reader: &str) -> (HashSet<ActivityId>, Time) {
    let (core, reader) = (town.ground().core(), town.id(reader));
    let items: Vec<FeedItem> = core.feed_items(&reader, Span::ALL).page().await.unwrap().items;
    let horizon = core.feed_horizon(&reader).get().await.unwrap();
    let ids = items.into_iter().map(|item| item.activity_id).collect();
    (ids, horizon.map_or(Time::EPOCH, |horizon| horizon.oldest))
}

/// What readers rely on: whatever lies up to the watermark, in or before its interval, is there.
async fn nothing_is_missing(town: &Town, homes: &[ActorId], what: &str) {
    for home in homes {
        let promotion = town.ground().core().promotion(home).get().await.unwrap().unwrap();
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

/// R35, R40, I6
#[tokio::test]
async fn the_fan_out_can_be_stopped_anywhere() {
    let first = Stage::set().await;
    for stops in 0..STOPS_MAX {
        let stage = first.again();
        let slow = stage.slow_town(1).await;
        let done = stop_at(stops, fan_out(&slow).drain()).await;
        let (town, what) = (stage.town(2).await, format!("stopped after {stops}"));
        nothing_is_missing(&town, &stage.homes(), &what).await;
        // Another worker, when the first is known to be dead.
        town.pass_ms(LONG_MS);
        town.settle().await;
        nothing_is_missing(&town, &stage.homes(), &format!("{what}, then again")).await;
        for home in stage.homes() {
            let last = copied(&town, &home).await.pop().unwrap().created_at;
            let promotion = town.ground().core().promotion(&home).get().await.unwrap().unwrap();
            assert_eq!(promotion.watermark, Some(last), "{what}: {home} is complete");
        }
        for reader in READERS {
            let (ids, horizon) = held(&town, reader).await;
            assert_eq!(ids.len(), CAP, "{what}");
            assert!(horizon > Time::EPOCH, "{what}");
        }
        assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0, "{what}");
        let report = Verify::on(town.ground()).check().await.unwrap();
        assert!(report.is_clean(), "{what}: {:#?}", report.findings);
        if let Some(done) = done {
            done.unwrap();
            assert!(stops > 100, "{stops} await points are too few to be all");
            return;
        }
    }
    panic!("there are more await points than expected");
}
