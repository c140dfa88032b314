//! The newest activities of single actors, loaded once and kept exact by every change.

use std::sync::Arc;

use roundtable_model::{ActorId, Time};

use super::cached_activity::CachedActivity;
use super::packed::PackedActivities;
use super::position::FeedPosition;
use crate::memory::{ClockCache, LoadTicket, PendingLoads};

/// The newest activities of one actor, without gaps.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) activities: PackedActivities,
    /// The time of the newest activity, inline because most tails that are examined have nothing
    /// new enough.
    pub(super) newest: Time,
    /// Everything from here on is cached; `None`, as for most, if that is everything.
    down_to: Option<Box<FeedPosition>>,
}

/// A change of an actor's activities during a load.
#[derive(Clone, Debug)]
enum TailChange {
    Added(Arc<CachedActivity>),
    Removed(FeedPosition),
}

#[derive(Debug)]
pub(super) struct Tails {
    held: ClockCache<ActorId, Tail>,
    loads: PendingLoads<ActorId, Vec<TailChange>>,
    each_max: usize,
    all_max: usize,
    entries: usize,
    bytes: usize,
}

impl Tails {
    pub(super) fn new(each_max: usize, all_max: usize) -> Self {
        let (held, loads) = (ClockCache::default(), PendingLoads::default());
        Self { held, loads, each_max, all_max, entries: 0, bytes: 0 }
    }

    /// Returns whether the cache is disabled.
    pub(super) const fn is_off(&self) -> bool {
        self.each_max == 0 || self.all_max == 0
    }

    pub(super) fn get(&self, home: &ActorId) -> Option<&Tail> {
        self.held.get(home)
    }

    /// Estimates whether the tails of `more` further actors would fit.
    pub(super) fn has_space(&self, held: usize, more: usize) -> bool {
        let typical = match self.held.len() {
            0 => self.each_max,
            tails => self.entries / tails,
        };
        held.saturating_add(more).saturating_mul(typical + 1) <= self.all_max
    }

    pub(super) fn begin(&mut self, home: &ActorId) -> LoadTicket {
        self.loads.begin(home)
    }

    /// Stores loaded activities, newest first; `is_all` if there are no others.
    pub(super) fn finish(
        &mut self,
        home: &ActorId,
        ticket: LoadTicket,
        newest: Vec<CachedActivity>,
        is_all: bool,
    ) {
        let Some(changes) = self.loads.end(home, ticket) else { return };
        if self.held.contains(home) || self.is_off() {
            return;
        }
        let mut tail = Tail::of(newest, is_all);
        for one in changes {
            match one {
                TailChange::Added(entry) => tail.insert(&entry),
                TailChange::Removed(position) => tail.remove(&position),
            }
        }
        tail.truncate(self.each_max);
        self.entries += tail.activities.len();
        self.bytes += tail.activities.bytes();
        self.held.put(home.clone(), tail);
        self.evict_to_fit();
    }

    /// Ends a load without a result.
    pub(super) fn abandon(&mut self, home: &ActorId, ticket: LoadTicket) {
        self.loads.end(home, ticket);
    }

    pub(super) fn insert(&mut self, home: &ActorId, entry: &Arc<CachedActivity>) {
        if let Some(notes) = self.loads.notes(home) {
            notes.push(TailChange::Added(Arc::clone(entry)));
        }
        self.change(home, |tail| tail.insert(entry));
    }

    pub(super) fn remove(&mut self, home: &ActorId, position: &FeedPosition) {
        if let Some(notes) = self.loads.notes(home) {
            notes.push(TailChange::Removed(position.clone()));
        }
        self.change(home, |tail| tail.remove(position));
    }

    pub(super) fn clear(&mut self) {
        self.loads.invalidate_all();
        self.held.clear();
        (self.entries, self.bytes) = (0, 0);
    }

    /// The numbers of tails and of activities in them, and roughly their bytes.
    pub(super) fn stats(&self) -> (usize, usize, usize) {
        let each = 2 * size_of::<ActorId>() + size_of::<Tail>() + size_of::<usize>();
        (self.held.len(), self.entries, self.bytes + self.held.len() * each)
    }

    #[cfg(test)]
    pub(super) fn is_loading(&self, home: &ActorId) -> bool {
        self.loads.contains(home)
    }

    fn change(&mut self, home: &ActorId, change: impl FnOnce(&mut Tail)) {
        let Some(tail) = self.held.get_mut(home) else { return };
        let (entries, bytes) = (tail.activities.len(), tail.activities.bytes());
        change(tail);
        tail.truncate(self.each_max);
        self.entries = self.entries - entries + tail.activities.len();
        self.bytes = self.bytes - bytes + tail.activities.bytes();
        self.evict_to_fit();
    }

    /// An empty tail takes space, too.
    fn evict_to_fit(&mut self) {
        while self.entries + self.held.len() > self.all_max
            && let Some(gone) = self.held.evict()
        {
            self.entries -= gone.activities.len();
            self.bytes -= gone.activities.bytes();
        }
    }
}

impl Tail {
    fn of(newest: Vec<CachedActivity>, is_all: bool) -> Self {
        let activities = PackedActivities::of(newest);
        let down_to = activities.oldest().filter(|_| !is_all).map(Box::new);
        let mut tail = Self { activities, newest: Time::EPOCH, down_to };
        tail.note_newest();
        tail
    }

    /// Everything from here on is cached; `None` if that is everything.
    pub(super) fn down_to(&self) -> Option<&FeedPosition> {
        self.down_to.as_deref()
    }

    /// The number of activities below a position.
    pub(super) fn count_below(&self, position: Option<&FeedPosition>) -> usize {
        match position {
            Some(position) if position.at <= self.newest => self.activities.count_below(position),
            Some(_) | None => self.activities.len(),
        }
    }

    fn insert(&mut self, entry: &Arc<CachedActivity>) {
        if self.down_to().is_none_or(|down_to| entry.position >= *down_to) {
            self.activities.insert(entry);
            self.note_newest();
        }
    }

    fn remove(&mut self, position: &FeedPosition) {
        if self.activities.remove(position) {
            self.note_newest();
        }
    }

    fn truncate(&mut self, max: usize) {
        if self.activities.len() > max {
            self.activities.truncate(max);
            self.down_to = self.activities.oldest().map(Box::new);
        }
    }

    fn note_newest(&mut self) {
        self.newest = self.activities.newest().unwrap_or(Time::EPOCH);
    }
}

#[cfg(test)]
mod tests;
