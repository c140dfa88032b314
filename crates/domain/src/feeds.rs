//! Home feeds: everything readers may see from users they follow, groups they are in, and
//! themselves, newest first, at any depth (R25).
//!
//! The source of an entry never changes what is shown. Candidates come from [memory](FeedMemory) as
//! far as it reaches and from the table below that: an actor's activities, or their copies in the
//! reader's own feed where [those are complete](coverage). Every candidate is then checked against
//! the current state.

mod bounded_cache;
mod cached_activity;
mod circles;
mod clock_cache;
mod coverage;
mod home;
mod live;
mod log;
mod memory;
mod merge;
mod pending_loads;
mod position;
mod ring;
mod stored_feed;
mod tails;

use std::sync::Arc;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, Post};
use roundtable_model::table::Change;

pub(crate) use self::circles::Circle;
pub use self::live::LiveFeed;
pub use self::memory::FeedMemoryStats;

use self::cached_activity::CachedActivity;
use self::circles::CircleCache;
use self::memory::FeedMemory;
use self::position::FeedPosition;
use crate::catch_up::repeat_until_stopped;
use crate::stream_reader::ChangeSink;
use crate::{Context, refusals};

pub const FEED_ITEMS: usize = 50;

refusals! {
    FeedError {}
}

#[derive(Clone, Debug)]
pub struct Feeds {
    context: Context,
    memory: Arc<FeedMemory>,
    circles: Arc<CircleCache>,
}

/// An entry of a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedEntry {
    /// The activity, with its current text.
    pub activity: Activity,
    /// The post that the activity is about, directly or through a comment.
    pub post: Option<Arc<Post>>,
    pub source: FeedSource,
}

/// The source of an entry. It never changes what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedSource {
    /// The actor's own activities.
    FanIn,
    /// The copies in the reader's feed.
    FanOut,
}

/// Candidates for a page, newest first.
#[derive(Debug, Default)]
struct Candidates {
    entries: Vec<(Arc<CachedActivity>, FeedSource)>,
    /// The candidates are complete down to and including this position; `None` if there is nothing below.
    down_to: Option<FeedPosition>,
}

#[derive(Clone, Debug)]
pub struct FeedStats {
    pub memory: FeedMemoryStats,
    /// Readers with a cached circle.
    pub circles: usize,
    /// Follows, memberships and blocks in all cached circles.
    pub ties: usize,
}

#[boxed]
impl Feeds {
    /// Creates the service. A process has one instance, so that its caches are shared.
    pub fn new(context: Context) -> Self {
        let settings = &context.settings().feed.memory;
        let memory = FeedMemory::new(settings, context.store().capabilities().single_process);
        let circles = CircleCache::new(settings.ties);
        Self { context, memory: Arc::new(memory), circles: Arc::new(circles) }
    }

    /// Returns the same service with another context, to measure one request's cost.
    #[must_use]
    pub fn with_context(&self, context: Context) -> Self {
        Self { context, ..self.clone() }
    }

    /// Loads the latest activities of all actors. Pages are correct without it, but some cost more.
    pub async fn warm_up(&self) -> Result<(), FeedError> {
        Ok(self.memory.fill_ring(&self.context).await?)
    }

    /// Loads the latest activities of all actors and follows the stream until `stop` resolves, so
    /// that readers need not catch up and subscriptions are woken. Where other processes write as
    /// well, [`Feeds::apply`] takes its place.
    pub async fn follow(&self, stop: impl Future<Output = ()>) {
        if !self.context.store().capabilities().single_process {
            return stop.await;
        }
        // While this fails, readers read the stream themselves and get its errors.
        repeat_until_stopped(stop, "feeds", || async {
            self.memory.catch_up(&self.context).await?;
            self.memory.fill_ring(&self.context).await?;
            self.memory.stream_reader().wait(&self.context).await
        })
        .await;
    }

    /// Applies changes of the core table that another task has read; each item's changes must
    /// arrive in order.
    pub fn apply(&self, changes: &[Change]) {
        self.memory.apply(changes);
    }

    /// Sets whether [`Feeds::apply`] receives all changes. While it does not, nothing is cached and
    /// pages are read from the table. Has no effect where all writes go through this process.
    pub fn set_complete(&self, everything: bool) {
        self.memory.set_complete(everything);
    }

    pub fn stats(&self) -> FeedStats {
        let (circles, ties) = self.circles.stats();
        FeedStats { memory: self.memory.stats(), circles, ties }
    }
}
