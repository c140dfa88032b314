//! A town whose activities are copied into feeds, and access to the feeds.

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{FeedPolicy, FeedSettings, NewPromotion, Promotions, Settings};
use roundtable_model::entities::FeedItem;
use roundtable_model::table::{ManualClock, SharedBackend, Store};
use roundtable_model::{ActorId, PromotionReason, Queue, Role, Time};
use roundtable_streams::{FanOut, QueueMetrics, Runner, RunnerBuilder};
use roundtable_testkit::Town;

use crate::facts::{all, everything};
use crate::refusing_backend::RefusingBackend;
use crate::test_store::{BEGIN_MS, TestStore, retries};

const QUEUE: Queue = Queue::from_static("fan-out");

/// A town on a store that can reject writes.
pub(crate) struct FeedFixture {
    pub(crate) town: Town,
    pub(crate) store: RefusingBackend,
}

impl FeedFixture {
    /// All activities are copied.
    pub(crate) async fn copying_all<const N: usize>(names: [&str; N]) -> Self {
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

    pub(crate) async fn dynoxide<const N: usize>(
        change: impl FnOnce(&mut FeedSettings),
        names: [&str; N],
    ) -> Self {
        let backing = TestStore::dynoxide().await;
        let change = |settings: &mut Settings| {
            change(&mut settings.feed);
            settings.tables = backing.tables().clone();
        };
        Self::on(Arc::clone(&backing.backend), Arc::clone(&backing.clock), change, names).await
    }

    pub(crate) async fn on<const N: usize>(
        backend: SharedBackend,
        clock: Arc<ManualClock>,
        change: impl FnOnce(&mut Settings),
        names: [&str; N],
    ) -> Self {
        let mut settings = Town::settings();
        change(&mut settings);
        let store = RefusingBackend::new(backend);
        let town = Town::on(Store::new(store.clone()), clock, settings, 0).await;
        for name in names {
            town.add_user(name, |_| {}).await;
        }
        Self { town, store }
    }

    pub(crate) fn runner(&self) -> Runner {
        RunnerBuilder::with_all_processors_undelayed(self.town.context())
            .with_retries(retries())
            .build()
    }

    /// A runner with small pages.
    pub(crate) fn small_steps(&self, copies: usize) -> Runner {
        let context = self.town.context();
        let fan_out = FanOut::new(context.clone()).with_page_size(copies);
        let builder = Runner::builder(context.clone(), [0; 32])
            .with(fan_out.clone())
            .with_job_handler(fan_out);
        builder.with_retries(retries()).build()
    }

    pub(crate) async fn settle(&self) {
        self.runner().drain().await.unwrap();
    }

    /// The times of the activities in a user's feed, oldest first, in seconds.
    pub(crate) async fn feed(&self, name: &str) -> Vec<u64> {
        let items: Vec<FeedItem> = all(&everything(self.town.context()).await);
        let mut feed: Vec<u64> = items
            .iter()
            .filter(|item| item.follower_id == self.town.id(name))
            .map(|item| seconds(item.created_at))
            .collect();
        feed.sort_unstable();
        feed
    }

    /// The watermark of an actor and the start of its interval, in seconds.
    pub(crate) async fn watermark(&self, actor: &ActorId) -> Option<(u64, u64)> {
        let promotion = self.town.context().core().promotion(actor).get().await.unwrap()?;
        Some((seconds(promotion.watermark_since?), seconds(promotion.watermark?)))
    }

    pub(crate) async fn promote(&self, subject: &ActorId, fanout_enabled: bool) {
        let ada = self.town.staff("ada", Role::Admin);
        let (subject_id, reason) = (subject.clone(), PromotionReason::Manual);
        let promotion = NewPromotion { subject_id, fanout_enabled, reason, thresholds: None };
        let promotions = Promotions::new(self.town.context().clone());
        promotions.set(&ada, &promotion, None).await.unwrap();
    }
}

pub(crate) fn seconds(time: Time) -> u64 {
    (time.ms() - BEGIN_MS) / 1000
}

pub(crate) fn actor(name: &str) -> ActorId {
    name.parse().unwrap()
}

pub(crate) fn queue_metrics(runner: &Runner) -> QueueMetrics {
    let queues = runner.metrics().queues;
    queues.into_iter().find(|queue| queue.queue == QUEUE.as_str()).unwrap()
}

pub(crate) fn count(metrics: &QueueMetrics, name: &str) -> u64 {
    metrics.counts.iter().find(|(counted, _)| *counted == name).map_or(0, |(_, count)| *count)
}

pub(crate) fn push(feed: &mut FeedSettings) {
    feed.policy = FeedPolicy::Push;
}
