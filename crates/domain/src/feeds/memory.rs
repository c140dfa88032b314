//! The cache behind feeds: the latest activities of all actors, and the newest of single actors.
//!
//! It is exact where all writes go through this process, because readers first read the stream to
//! its end. Elsewhere activities arrive a moment later.

mod changes;
mod load;

use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;
use roundtable_model::entities::Activity;
use roundtable_model::table::Change;
use roundtable_model::{ActivityId, ActorId, FromItem as _};

use self::changes::FeedChange;
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
}

#[derive(Debug)]
struct FeedMemoryState {
    ring: RecentRing,
    tails: Tails,
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
}

impl FeedMemory {
    pub(crate) fn new(settings: &FeedMemorySettings, is_exact: bool) -> Self {
        let state = FeedMemoryState {
            // Elsewhere nothing fills it, and a ring that is not filled answers nothing.
            ring: RecentRing::new(if is_exact { settings.recent } else { 0 }),
            tails: Tails::new(settings.each, settings.actors),
            is_following: !is_exact,
        };
        Self {
            state: RwLock::new(state),
            log: ReplayLog::default(),
            is_exact,
            settings: settings.clone(),
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
        FeedMemoryStats { recent, recent_bytes, actors, actor_entries, actor_bytes }
    }
}

impl FeedMemory {
    pub(crate) const ENTITY_TYPES: &[&str] = &[Activity::ENTITY.name];

    fn apply_one(&self, state: &mut FeedMemoryState, change: FeedChange) {
        match change {
            FeedChange::ActivityAdded(entry) => {
                state.remember(&entry);
                self.log.push_new(entry.position.id.clone(), entry);
            }
            FeedChange::ActivityRemoved(home, position) => {
                state.ring.remove(&position);
                state.tails.remove(&home, &position);
            }
            FeedChange::Undecodable => self.clear(state),
        }
    }

    /// Clears everything after a gap.
    fn clear(&self, state: &mut FeedMemoryState) {
        state.ring.clear();
        state.tails.clear();
        self.log.mark_gap();
    }
}

impl Sink for FeedMemory {
    /// Applying a change again, together with all that followed it, is harmless.
    fn apply(&self, changes: &[Change]) {
        // Irrelevant changes, which are most, are dropped before the lock is taken.
        let changes: Vec<FeedChange> = changes.iter().filter_map(FeedChange::of).collect();
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
