//! The cache behind feeds: the latest activities of all actors, the newest of single actors, and
//! the posts, users and groups they are about.
//!
//! It is exact where all writes go through this process, because readers first read the stream to
//! its end. Elsewhere activities arrive a moment later, and nothing else is cached.

mod changes;
mod entities;
mod load;
mod updates;

use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;
use roundtable_model::entities::{Activity, Group, Post, User};
use roundtable_model::table::Change;
use roundtable_model::{ActorId, GroupId, PostId, UserId};
use tokio::sync::watch;

use self::changes::FeedChange;
use self::entities::update_cached;
use super::bounded_cache::BoundedCache;
use super::cached_activity::CachedActivity;
use super::log::ActivityLog;
use super::merge::MergedTails;
use super::position::FeedPosition;
use super::ring::{RecentRing, RingWalk};
use super::tails::Tails;
use crate::settings::FeedMemorySettings;
use crate::stream_reader::{ChangeSink, StreamReader};
use crate::{Context, ServiceError};

/// The cache behind feeds. It can be used concurrently; a load never blocks a lookup.
pub(crate) struct FeedMemory {
    /// Locked briefly, never across an await.
    state: RwLock<FeedMemoryState>,
    stream_reader: StreamReader,
    /// The end of the log, for subscriptions waiting for the next entry.
    changed: watch::Sender<u64>,
    is_exact: bool,
    settings: FeedMemorySettings,
}

#[derive(Debug)]
struct FeedMemoryState {
    ring: RecentRing,
    tails: Tails,
    log: ActivityLog,
    posts: BoundedCache<PostId, Post>,
    people: BoundedCache<UserId, User>,
    groups: BoundedCache<GroupId, Group>,
    /// True while changes are being received. Without them, anything loaded could be outdated unnoticed.
    is_following: bool,
}

/// Sizes of the cache. Bytes are estimates; activities in both lists count twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedMemoryStats {
    /// The latest activities of all actors.
    pub recent: usize,
    pub recent_bytes: usize,
    /// Actors with cached activities.
    pub actors: usize,
    pub actor_entries: usize,
    /// Including the actors themselves.
    pub actor_bytes: usize,
    pub posts: usize,
    pub post_bytes: usize,
    pub people: usize,
    pub people_bytes: usize,
    pub groups: usize,
    pub group_bytes: usize,
}

impl FeedMemory {
    pub(crate) fn new(settings: &FeedMemorySettings, is_exact: bool) -> Self {
        let capacity = |max| if is_exact { max } else { 0 };
        let state = FeedMemoryState {
            ring: RecentRing::new(settings.recent),
            tails: Tails::new(settings.each, settings.actors),
            log: ActivityLog::new(updates::LOG_MAX),
            posts: BoundedCache::new(capacity(settings.posts)),
            people: BoundedCache::new(capacity(settings.people)),
            groups: BoundedCache::new(capacity(settings.groups)),
            is_following: !is_exact,
        };
        Self {
            state: RwLock::new(state),
            stream_reader: StreamReader::default(),
            changed: watch::Sender::new(0),
            is_exact,
            settings: settings.clone(),
        }
    }

    /// Applies everything that happened before this call. Does nothing where other processes write:
    /// there [`FeedMemory::apply`] is called instead.
    pub(crate) async fn catch_up(self: &Arc<Self>, context: &Context) -> Result<(), ServiceError> {
        if !self.is_exact {
            return Ok(());
        }
        StreamReader::catch_up(self, context).await
    }

    /// Applies changes of the core table in order. Applying a change again, together with all that
    /// followed it, is harmless.
    pub(crate) fn apply(&self, changes: &[Change]) {
        // Irrelevant changes, which are most, are dropped before the lock is taken.
        let changes: Vec<FeedChange<'_>> = changes.iter().filter_map(FeedChange::of).collect();
        if changes.is_empty() {
            return;
        }
        let mut state = self.state.write();
        changes.into_iter().for_each(|change| state.apply(change));
        self.publish(state);
    }

    /// Sets whether all changes arrive from here on, and clears the cache. Has no effect where
    /// memory is exact, which detects gaps itself.
    pub(crate) fn set_complete(&self, everything: bool) {
        if !self.is_exact {
            let mut state = self.state.write();
            state.is_following = everything;
            state.clear();
            self.publish(state);
        }
    }

    /// Adds a reader's own activity, which the stream may not have delivered yet. Not needed where
    /// memory is exact, because readers have read the stream. It is not logged for subscriptions,
    /// because it may be old.
    pub(crate) fn remember_own(&self, activity: &Activity) {
        if !self.is_exact {
            self.state.write().remember(&Arc::new(CachedActivity::of(activity)));
        }
    }

    /// Walks down the latest activities of all actors from below a position. Returns at most
    /// `wanted` that match, after scanning at most `budget`, and the position down to which the
    /// scan is complete; that position is `None` if nothing is left.
    ///
    /// Returns `None` if the ring cannot answer: it has nothing below that position, or not everything.
    ///
    /// `is_mine` must not call this cache.
    pub(crate) fn recent(
        &self,
        below: Option<&FeedPosition>,
        wanted: usize,
        budget: usize,
        is_mine: impl Fn(&CachedActivity) -> bool,
    ) -> Option<RingWalk> {
        self.state.read().ring.walk(below, wanted, budget, is_mine)
    }

    /// The newest `wanted` activities of these distinct actors below a position.
    pub(crate) fn merged(
        &self,
        homes: &mut dyn Iterator<Item = &ActorId>,
        below: Option<&FeedPosition>,
        wanted: usize,
    ) -> MergedTails {
        let state = self.state.read();
        // Nothing is loaded before changes are received.
        let may_load = state.is_following;
        state.tails.merged(homes, below, wanted, may_load)
    }

    pub(crate) fn stats(&self) -> FeedMemoryStats {
        let state = self.state.read();
        let (recent, recent_bytes) = state.ring.stats();
        let (actors, actor_entries, actor_bytes) = state.tails.stats();
        let (posts, post_bytes) = state.posts.stats();
        let (people, people_bytes) = state.people.stats();
        let (groups, group_bytes) = state.groups.stats();
        FeedMemoryStats {
            recent,
            recent_bytes,
            actors,
            actor_entries,
            actor_bytes,
            posts,
            post_bytes,
            people,
            people_bytes,
            groups,
            group_bytes,
        }
    }
}

impl ChangeSink for FeedMemory {
    fn stream_reader(&self) -> &StreamReader {
        &self.stream_reader
    }

    fn receive(&self, changes: &[Change]) {
        self.apply(changes);
    }

    /// Everything cached before is unreliable.
    fn start(&self, _is_gap: bool) {
        let mut state = self.state.write();
        state.is_following = true;
        state.clear();
        self.publish(state);
    }
}

impl FeedMemoryState {
    fn apply(&mut self, change: FeedChange<'_>) {
        match change {
            FeedChange::ActivityAdded(entry) => {
                self.remember(&entry);
                self.log.push(&entry);
            }
            FeedChange::ActivityRemoved(home, position) => {
                self.ring.remove(&position);
                self.tails.remove(&home, &position);
            }
            FeedChange::Post(id, item) => update_cached::<Post>(self, &id, item),
            FeedChange::User(id, item) => update_cached::<User>(self, &id, item),
            FeedChange::Group(id, item) => update_cached::<Group>(self, &id, item),
            FeedChange::Undecodable => self.clear(),
        }
    }

    fn remember(&mut self, entry: &Arc<CachedActivity>) {
        self.ring.insert(entry);
        self.tails.insert(&entry.home(), entry);
    }

    /// Clears everything after a gap.
    fn clear(&mut self) {
        self.ring.clear();
        self.tails.clear();
        self.posts.clear();
        self.people.clear();
        self.groups.clear();
        self.log.mark_gap();
    }
}

impl fmt::Debug for FeedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A list of millions of activities would not help.
        self.stats().fmt(f)
    }
}

#[cfg(test)]
mod tests;
