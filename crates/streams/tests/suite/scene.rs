//! A town whose activities are copied into feeds, and what its feeds hold.

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{FeedPolicy, FeedSettings, NewPromotion, Promotions, Settings};
use roundtable_model::entities::FeedItem;
use roundtable_model::table::{ManualClock, SharedBackend, Store};
use roundtable_model::{ActorId, PromotionReason, Queue, Role, Time};
use roundtable_streams::{FanOut, QueueFigures, Runner, Setup};
use roundtable_testkit::Town;

use crate::facts::{all, everything};
use crate::refusing::Refusing;
use crate::stage::{BEGIN_MS, Stage, retries};

const QUEUE: Queue = Queue::named("fan-out");

/// A town on a store that can be made to refuse.
pub(crate) struct Scene {
    pub(crate) town: Town,
    pub(crate) store: Refusing,
}

impl Scene {
    /// Everybody's activities are copied.
    pub(crate) async fn pushed<const N: usize>(names: [&str; N]) -> Self {
        Self::with(push, names).await
    }

    pub(crate) async fn with<const N: usize>(
        change: impl FnOnce(&mut FeedSettings),
        names: [&str; N],
    ) -> Self {
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        let change = |settings: &mut Settings| change(&mut settings.feed);
        Self::on(Arc::new(Reference::new(clock.clone())), clock, change, names).await
    }

    /// On DynamoDB's API.
    pub(crate) async fn dynoxide<const N: usize>(
        change: impl FnOnce(&mut FeedSettings),
        names: [&str; N],
    ) -> Self {
        let stage = Stage::dynoxide().await;
        let change = |settings: &mut Settings| {
            change(&mut settings.feed);
            settings.tables = stage.tables().clone();
        };
        Self::on(Arc::clone(&stage.backend), Arc::clone(&stage.clock), change, names).await
    }

    pub(crate) async fn on<const N: usize>(
        backend: SharedBackend,
        clock: Arc<ManualClock>,
        change: impl FnOnce(&mut Settings),
        names: [&str; N],
    ) -> Self {
        let mut settings = Town::settings();
        change(&mut settings);
        let store = Refusing::new(backend);
        let town = Town::on(Store::new(store.clone()), clock, settings, 0).await;
        for name in names {
            town.move_in(name, |_| {}).await;
        }
        Self { town, store }
    }

    pub(crate) fn runner(&self) -> Runner {
        Setup::everything_at_once(self.town.ground()).retrying(retries()).build()
    }

    /// A runner whose pages are small.
    pub(crate) fn small_steps(&self, copies: usize) -> Runner {
        let ground = self.town.ground();
        let fan_out = FanOut::new(ground.clone()).paged(copies);
        let setup = Runner::on(ground.clone(), [0; 32]).with(fan_out.clone()).working(fan_out);
        setup.retrying(retries()).build()
    }

    pub(crate) async fn settle(&self) {
        self.runner().drain().await.unwrap();
    }

    /// When the activities happened that are in somebody's feed, oldest first, in seconds.
    pub(crate) async fn feed(&self, name: &str) -> Vec<u64> {
        let items: Vec<FeedItem> = all(&everything(self.town.ground()).await);
        let mut feed: Vec<u64> = items
            .iter()
            .filter(|item| item.follower_id == self.town.id(name))
            .map(|item| seconds(item.created_at))
            .collect();
        feed.sort_unstable();
        feed
    }

    /// Up to where everything of somebody's has been copied, and since when, in seconds.
    pub(crate) async fn mark(&self, actor: &ActorId) -> Option<(u64, u64)> {
        let promotion = self.town.ground().core().promotion(actor).get().await.unwrap()?;
        Some((seconds(promotion.watermark_since?), seconds(promotion.watermark?)))
    }

    pub(crate) async fn promote(&self, subject: &ActorId, fanout_enabled: bool) {
        let ada = self.town.staff("ada", Role::Admin);
        let (subject_id, reason) = (subject.clone(), PromotionReason::Manual);
        let wish = NewPromotion { subject_id, fanout_enabled, reason, thresholds: None };
        let promotions = Promotions::new(self.town.ground().clone());
        promotions.set(&ada, &wish, None).await.unwrap();
    }
}

pub(crate) fn seconds(time: Time) -> u64 {
    (time.ms() - BEGIN_MS) / 1000
}

pub(crate) fn actor(name: &str) -> ActorId {
    name.parse().unwrap()
}

pub(crate) fn figures(runner: &Runner) -> QueueFigures {
    let queues = runner.figures().queues;
    queues.into_iter().find(|queue| queue.queue == QUEUE.as_str()).unwrap()
}

pub(crate) fn count(figures: &QueueFigures, name: &str) -> u64 {
    figures.counts.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count)
}

pub(crate) fn push(feed: &mut FeedSettings) {
    feed.policy = FeedPolicy::Push;
}
