//! The cache behind feeds and other pages: the latest activities of all actors, the newest of single
//! actors, and posts with their counters, users, groups and uploads.
//!
//! It is exact where all writes go through this process, because readers first read the stream to
//! its end. Elsewhere activities arrive a moment later, and nothing else is cached.

mod changes;
mod entities;
mod load;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use roundtable_model::entities::{Activity, Group, Post, PostCounter, Upload, User};
use roundtable_model::table::Change;
use roundtable_model::{ActivityId, ActorId, FromItem as _, GroupId, MediaKey, PostId, UserId};

use self::changes::FeedChange;
use self::entities::update_cached;
use super::bounded_cache::BoundedCache;
use super::cached_activity::CachedActivity;
use super::merge::MergedTails;
use super::position::FeedPosition;
use super::ring::{RecentRing, RingWalk};
use super::tails::Tails;
use crate::bus::{ReplayLog, Sink};
use crate::settings::FeedMemorySettings;

/// Recent activities of all actors, for live feeds.
pub(crate) type ActivityLog = ReplayLog<ActivityId, Arc<CachedActivity>>;

/// The cache behind feeds. It can be used concurrently; a load never blocks a lookup.
pub(crate) struct FeedMemory {
    /// Locked briefly, never across an await.
    state: RwLock<FeedMemoryState>,
    /// Written under the lock of the state: a reader of the log then finds at least the same state.
    log: ActivityLog,
    is_exact: bool,
    settings: FeedMemorySettings,
    lookups: Lookups,
}

/// Lookups of entities since the process started.
#[derive(Debug, Default)]
struct Lookups {
    all: AtomicU64,
    missed: AtomicU64,
}

impl Lookups {
    fn count(&self, all: usize, missed: usize) {
        self.all.fetch_add(all as u64, Ordering::Relaxed);
        self.missed.fetch_add(missed as u64, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct FeedMemoryState {
    ring: RecentRing,
    tails: Tails,
    posts: BoundedCache<PostId, Post>,
    people: BoundedCache<UserId, User>,
    groups: BoundedCache<GroupId, Group>,
    post_counters: BoundedCache<PostId, PostCounter>,
    uploads: BoundedCache<MediaKey, Upload>,
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
    pub post_counters: usize,
    pub post_counter_bytes: usize,
    pub uploads: usize,
    pub upload_bytes: usize,
    /// Entities looked up since the process started, and those of them that had to be read.
    pub lookups: u64,
    pub missed_lookups: u64,
}

impl FeedMemory {
    pub(crate) fn new(settings: &FeedMemorySettings, is_exact: bool) -> Self {
        let capacity = |max| if is_exact { max } else { 0 };
        let state = FeedMemoryState {
            ring: RecentRing::new(settings.recent),
            tails: Tails::new(settings.each, settings.actors),
            posts: BoundedCache::new(capacity(settings.posts)),
            people: BoundedCache::new(capacity(settings.people)),
            groups: BoundedCache::new(capacity(settings.groups)),
            post_counters: BoundedCache::new(capacity(settings.post_counters)),
            uploads: BoundedCache::new(capacity(settings.uploads)),
            is_following: !is_exact,
        };
        Self {
            state: RwLock::new(state),
            log: ReplayLog::default(),
            is_exact,
            settings: settings.clone(),
            lookups: Lookups::default(),
        }
    }

    pub(crate) const fn log(&self) -> &ActivityLog {
        &self.log
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
        let (post_counters, post_counter_bytes) = state.post_counters.stats();
        let (uploads, upload_bytes) = state.uploads.stats();
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
            post_counters,
            post_counter_bytes,
            uploads,
            upload_bytes,
            lookups: self.lookups.all.load(Ordering::Relaxed),
            missed_lookups: self.lookups.missed.load(Ordering::Relaxed),
        }
    }
}

impl FeedMemory {
    pub(crate) const ENTITY_TYPES: &[&str] = &[
        Activity::ENTITY.name,
        Post::ENTITY.name,
        User::ENTITY.name,
        Group::ENTITY.name,
        PostCounter::ENTITY.name,
        Upload::ENTITY.name,
    ];

    fn apply_one(&self, state: &mut FeedMemoryState, change: FeedChange<'_>) {
        match change {
            FeedChange::ActivityAdded(entry) => {
                state.remember(&entry);
                self.log.push_new(entry.position.id.clone(), entry);
            }
            FeedChange::ActivityRemoved(home, position) => {
                state.ring.remove(&position);
                state.tails.remove(&home, &position);
            }
            FeedChange::Post(id, item) => update_cached::<Post>(state, &id, item),
            FeedChange::User(id, item) => update_cached::<User>(state, &id, item),
            FeedChange::Group(id, item) => update_cached::<Group>(state, &id, item),
            FeedChange::PostCounter(id, item) => update_cached::<PostCounter>(state, &id, item),
            FeedChange::Upload(key, item) => update_cached::<Upload>(state, &key, item),
            FeedChange::Undecodable => self.clear(state),
        }
    }

    /// Clears everything after a gap.
    fn clear(&self, state: &mut FeedMemoryState) {
        state.ring.clear();
        state.tails.clear();
        state.posts.clear();
        state.people.clear();
        state.groups.clear();
        state.post_counters.clear();
        state.uploads.clear();
        self.log.mark_gap();
    }
}

impl Sink for FeedMemory {
    /// Applying a change again, together with all that followed it, is harmless.
    fn apply(&self, changes: &[Change]) {
        // Irrelevant changes, which are most, are dropped before the lock is taken.
        let changes: Vec<FeedChange<'_>> = changes.iter().filter_map(FeedChange::of).collect();
        if changes.is_empty() {
            return;
        }
        let mut state = self.state.write();
        changes.into_iter().for_each(|change| self.apply_one(&mut state, change));
        drop(state);
        self.log.wake();
    }

    fn start(&self) {
        self.reset(true);
    }

    /// Everything cached before is unreliable.
    fn reset(&self, is_complete: bool) {
        let mut state = self.state.write();
        state.is_following = is_complete;
        self.clear(&mut state);
        drop(state);
        self.log.wake();
    }
}

impl FeedMemoryState {
    fn remember(&mut self, entry: &Arc<CachedActivity>) {
        self.ring.insert(entry);
        self.tails.insert(&entry.home(), entry);
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
