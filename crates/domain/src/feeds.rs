//! Home feeds: everything readers may see from users they follow, groups they are in, and
//! themselves, newest first, at any depth (R25).
//!
//! The source of an entry never changes what is shown. Candidates come from [memory](FeedMemory) as
//! far as it reaches and from the table below that: an actor's activities, or their copies in the
//! reader's own feed where [those are complete](coverage). Every candidate is then checked against
//! the current state.

mod cached_activity;
mod coverage;
mod home;
mod live;
mod memory;
mod merge;
mod packed;
mod position;
mod rank;
mod ring;
mod stored_feed;
mod tails;
mod top;
mod walk;

use std::sync::Arc;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, Post, User};

pub use self::live::LiveFeed;
pub(crate) use self::memory::FeedMemory;
pub use self::memory::FeedMemoryStats;
pub use self::rank::feed_rank;

use self::cached_activity::CachedActivity;
use self::position::FeedPosition;
use crate::memory::{EntityMemory, EntityMemoryStats};
use crate::{Context, LiveBus, refusals};

pub const FEED_ITEMS: usize = 50;

refusals! {
    FeedError {}
}

#[derive(Clone, Debug)]
pub struct Feeds {
    context: Context,
    bus: LiveBus,
}

/// An entry of a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedEntry {
    /// The activity, with its current text.
    pub activity: Activity,
    /// The post that the activity is about, directly or through a comment.
    pub post: Option<Arc<Post>>,
    pub source: FeedSource,
    /// The actor, and the author of the post, as the reader sees their profiles. Without the reader, and
    /// without those whose e-mail address the reader sees.
    pub people: Vec<Arc<User>>,
}

/// The order of a home feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedOrder {
    /// By time, newest first.
    #[default]
    Latest,
    /// By [rank](feed_rank) when its first page was read, highest first.
    Top,
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

/// The size and the use of what feeds and other pages read from memory.
#[derive(Clone, Debug)]
pub struct FeedStats {
    pub memory: FeedMemoryStats,
    pub entities: EntityMemoryStats,
    /// Readers with a cached circle.
    pub circles: usize,
    /// Follows, memberships and blocks in all cached circles.
    pub ties: usize,
}

#[boxed]
impl Feeds {
    /// Creates the service. Its caches belong to the bus.
    pub fn new(context: Context, bus: &LiveBus) -> Self {
        Self { context, bus: bus.clone() }
    }

    /// Returns the same service with another context, to measure one request's cost.
    #[must_use]
    pub fn with_context(&self, context: Context) -> Self {
        Self { context, ..self.clone() }
    }

    pub fn stats(&self) -> FeedStats {
        let (circles, ties) = self.entities().circles().stats();
        FeedStats {
            memory: self.memory().stats(),
            entities: self.entities().stats(),
            circles,
            ties,
        }
    }

    fn memory(&self) -> &FeedMemory {
        self.bus.feed_memory()
    }

    fn entities(&self) -> &EntityMemory {
        self.bus.entity_memory()
    }
}
