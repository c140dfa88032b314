//! Home feeds: everything readers may see from the people they follow, the groups they are in and
//! themselves, newest first, at any depth (R25).
//!
//! Where an entry comes from never changes what is shown. Candidates come from [memory](Memory) as far
//! as it reaches, below it from the table: an actor's activities, or the copies of them in the reader's
//! own feed where [those are complete](coverage). Every candidate is then checked against the present.

mod circles;
mod coverage;
mod entry;
mod home;
mod known;
mod live;
mod loads;
mod log;
mod memory;
mod merge;
mod place;
mod ring;
mod shelf;
mod stored;
mod tails;

use std::sync::Arc;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, Post};
use roundtable_model::table::Change;

pub(crate) use self::circles::Circle;
pub use self::live::LiveFeed;
pub use self::memory::MemoryFigures;

use self::circles::Circles;
use self::entry::Entry;
use self::memory::Memory;
use self::place::Place;
use crate::follower::Hears;
use crate::rounds::until_stopped;
use crate::{Ground, refusals};

/// Entries of a page, unless asked otherwise.
pub const FEED_ITEMS: usize = 50;

refusals! {
    /// Why a feed was not shown.
    FeedError {}
}

/// The home feeds of everybody.
#[derive(Clone, Debug)]
pub struct Feeds {
    ground: Ground,
    memory: Arc<Memory>,
    circles: Arc<Circles>,
}

/// Something in a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedEntry {
    /// What happened, with its text as it is now.
    pub activity: Activity,
    /// The post it is about, if it is about one, or about a comment on it.
    pub post: Option<Arc<Post>>,
    /// How this page found it.
    pub source: FeedSource,
}

/// How a page found an entry; never changes what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedSource {
    /// Among what its actor did.
    FanIn,
    /// Among the copies in the reader's own feed.
    FanOut,
}

/// Candidates for a page, newest first.
#[derive(Debug, Default)]
struct Found {
    entries: Vec<(Arc<Entry>, FeedSource)>,
    /// Everything at this place and above it is among them; `None`: everything there is.
    down_to: Option<Place>,
}

/// How much is remembered.
#[derive(Clone, Debug)]
pub struct FeedFigures {
    /// Of activities, and what they are about.
    pub memory: MemoryFigures,
    /// Readers whose circles are known.
    pub circles: usize,
    /// Whom they are tied to, altogether.
    pub ties: usize,
}

#[boxed]
impl Feeds {
    /// The feeds on this ground. There is one of these in a process: what it remembers is worth sharing.
    pub fn new(ground: Ground) -> Self {
        let settings = &ground.settings().feed.memory;
        let memory = Memory::new(settings, ground.store().capabilities().one_process);
        let circles = Circles::new(settings.ties);
        Self { ground, memory: Arc::new(memory), circles: Arc::new(circles) }
    }

    /// The same feeds, read through this ground: for one request's cost.
    #[must_use]
    pub fn on(&self, ground: Ground) -> Self {
        Self { ground, ..self.clone() }
    }

    /// Reads the latest activities of everybody into memory: until then pages are as right, and some
    /// cost more.
    pub async fn warm_up(&self) -> Result<(), FeedError> {
        Ok(self.memory.fill_ring(&self.ground).await?)
    }

    /// Reads the latest activities of everybody into memory and keeps up with what happens, until it is
    /// told to stop, so that readers find it done and those who listen are told. Where other processes
    /// write as well, [`Feeds::apply`] takes its place.
    pub async fn follow(&self, stop: impl Future<Output = ()>) {
        if !self.ground.store().capabilities().one_process {
            return stop.await;
        }
        // While it fails, readers read the stream themselves, and are told what is wrong with it.
        until_stopped(stop, "feeds", || async {
            self.memory.catch_up(&self.ground).await?;
            self.memory.fill_ring(&self.ground).await?;
            self.memory.follower().wait(&self.ground).await
        })
        .await;
    }

    /// Hears of changes of the core table, in the order of each item's: for those who read the stream
    /// elsewhere.
    pub fn apply(&self, changes: &[Change]) {
        self.memory.apply(changes);
    }

    /// Whether [`Feeds::apply`] hears of everything that happens. As long as it does not, nothing is
    /// remembered: pages are read from the table. Of no account where all writes go through this process.
    pub fn hears(&self, everything: bool) {
        self.memory.hears(everything);
    }

    /// How much is remembered.
    pub fn figures(&self) -> FeedFigures {
        let (circles, ties) = self.circles.figures();
        FeedFigures { memory: self.memory.figures(), circles, ties }
    }
}
