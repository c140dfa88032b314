//! Memory that the reads of all services share: posts, users, their counters, groups and uploads by
//! id, and the circles of readers. Feeds have memory of their own for activities.
//!
//! Entities are exact where all writes go through this process, because readers first read the
//! stream to its end. Elsewhere they are read for each request. A circle is checked by its version.

mod bounded_cache;
mod changes;
mod circles;
mod clock_cache;
mod entities;
mod lookup;
mod pending_loads;

use std::fmt;

use parking_lot::RwLock;
use roundtable_model::entities::{Group, Post, PostCounter, Upload, User, UserCounter};
use roundtable_model::table::Change;
use roundtable_model::{GroupId, MediaKey, PostId, UserId};

use self::bounded_cache::BoundedCache;
pub use self::bounded_cache::CacheStats;
use self::changes::EntityChange;
pub(crate) use self::circles::{Circle, CircleCache};
pub(crate) use self::clock_cache::ClockCache;
pub(crate) use self::entities::UserCounterId;
use self::lookup::update_cached;
pub(crate) use self::pending_loads::{LoadTicket, PendingLoads};
use crate::bus::Sink;
use crate::settings::FeedMemorySettings;

/// The caches. They can be used concurrently; a load never blocks a lookup.
pub(crate) struct EntityMemory {
    /// Locked briefly, never across an await.
    state: RwLock<EntityMemoryState>,
    circles: CircleCache,
    is_exact: bool,
}

#[derive(Debug)]
struct EntityMemoryState {
    posts: BoundedCache<PostId, Post>,
    people: BoundedCache<UserId, User>,
    groups: BoundedCache<GroupId, Group>,
    post_counters: BoundedCache<PostId, PostCounter>,
    user_counters: BoundedCache<UserCounterId, UserCounter>,
    uploads: BoundedCache<MediaKey, Upload>,
    /// True while changes are being received. Without them, anything loaded could be outdated unnoticed.
    is_following: bool,
}

/// The caches of entities, by the names of their metrics.
pub type EntityMemoryStats = [(&'static str, CacheStats); 6];

impl EntityMemory {
    pub(crate) fn new(settings: &FeedMemorySettings, is_exact: bool) -> Self {
        let capacity = |max| if is_exact { max } else { 0 };
        let state = EntityMemoryState {
            posts: BoundedCache::new(capacity(settings.posts)),
            people: BoundedCache::new(capacity(settings.people)),
            groups: BoundedCache::new(capacity(settings.groups)),
            post_counters: BoundedCache::new(capacity(settings.post_counters)),
            user_counters: BoundedCache::new(capacity(settings.user_counters)),
            uploads: BoundedCache::new(capacity(settings.uploads)),
            is_following: !is_exact,
        };
        let circles = CircleCache::new(settings.ties);
        Self { state: RwLock::new(state), circles, is_exact }
    }

    /// The circles of recent readers, checked whenever they are used.
    pub(crate) const fn circles(&self) -> &CircleCache {
        &self.circles
    }

    pub(crate) fn stats(&self) -> EntityMemoryStats {
        let state = self.state.read();
        [
            ("posts", state.posts.stats()),
            ("users", state.people.stats()),
            ("groups", state.groups.stats()),
            ("post_counters", state.post_counters.stats()),
            ("user_counters", state.user_counters.stats()),
            ("uploads", state.uploads.stats()),
        ]
    }
}

impl Sink for EntityMemory {
    /// Applying a change again, together with all that followed it, is harmless.
    fn apply(&self, changes: &[Change]) {
        if !self.is_exact {
            return;
        }
        // Irrelevant changes, which are most, are dropped before the lock is taken.
        let changes: Vec<EntityChange<'_>> = changes.iter().filter_map(EntityChange::of).collect();
        if changes.is_empty() {
            return;
        }
        let mut state = self.state.write();
        changes.into_iter().for_each(|change| state.apply(change));
    }

    fn start(&self) {
        self.reset(true);
    }

    /// Everything cached before is unreliable. Circles are not affected: readers check their version.
    fn reset(&self, is_complete: bool) {
        let mut state = self.state.write();
        state.is_following = is_complete;
        state.clear();
    }
}

impl EntityMemoryState {
    fn apply(&mut self, change: EntityChange<'_>) {
        match change {
            EntityChange::Post(id, item) => update_cached::<Post>(self, &id, item),
            EntityChange::User(id, item) => update_cached::<User>(self, &id, item),
            EntityChange::Group(id, item) => update_cached::<Group>(self, &id, item),
            EntityChange::PostCounter(id, item) => update_cached::<PostCounter>(self, &id, item),
            EntityChange::UserCounter(id, item) => update_cached::<UserCounter>(self, &id, item),
            EntityChange::Upload(key, item) => update_cached::<Upload>(self, &key, item),
            EntityChange::Undecodable => self.clear(),
        }
    }

    fn clear(&mut self) {
        self.posts.clear();
        self.people.clear();
        self.groups.clear();
        self.post_counters.clear();
        self.user_counters.clear();
        self.uploads.clear();
    }
}

impl fmt::Debug for EntityMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A list of thousands of entities would not help.
        self.stats().fmt(f)
    }
}

#[cfg(test)]
pub(crate) mod tests;
