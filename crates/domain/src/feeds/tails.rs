//! The newest activities of single actors, loaded once and kept exact by every change.

use std::sync::Arc;

use roundtable_model::{ActorId, Time};

use super::cached_activity::CachedActivity;
use super::clock_cache::ClockCache;
use super::pending_loads::{LoadTicket, PendingLoads};
use super::position::FeedPosition;
use super::ring::TimedActivity;

/// The newest activities of one actor, without gaps.
#[derive(Debug)]
pub(super) struct Tail {
    /// In ascending order.
    slots: Vec<TimedActivity>,
    /// The time of the newest activity, inline because most tails that are examined have nothing
    /// new enough.
    pub(super) newest: Time,
    /// Everything from here on is cached; `None` if that is everything.
    pub(super) down_to: Option<FeedPosition>,
    bytes: usize,
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
        self.entries += tail.slots.len();
        self.bytes += tail.bytes;
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
        let (entries, bytes) = (tail.slots.len(), tail.bytes);
        change(tail);
        tail.truncate(self.each_max);
        self.entries = self.entries - entries + tail.slots.len();
        self.bytes = self.bytes - bytes + tail.bytes;
        self.evict_to_fit();
    }

    /// An empty tail takes space, too.
    fn evict_to_fit(&mut self) {
        while self.entries + self.held.len() > self.all_max
            && let Some(gone) = self.held.evict()
        {
            self.entries -= gone.slots.len();
            self.bytes -= gone.bytes;
        }
    }
}

impl Tail {
    fn of(newest: Vec<CachedActivity>, is_all: bool) -> Self {
        let down_to = newest.last().filter(|_| !is_all).map(|entry| entry.position.clone());
        // Allocated in the order in which they are read.
        let mut slots: Vec<TimedActivity> =
            newest.into_iter().map(|entry| TimedActivity::new(Arc::new(entry))).collect();
        slots.reverse();
        let bytes = slots.iter().map(slot_bytes).sum();
        Self { newest: newest_of(&slots), slots, down_to, bytes }
    }

    /// The activities below a position, in ascending order.
    pub(super) fn below(&self, position: Option<&FeedPosition>) -> &[TimedActivity] {
        let end = match position {
            Some(position) if position.at <= self.newest => {
                self.slots.partition_point(|slot| slot.is_below(position))
            }
            Some(_) | None => self.slots.len(),
        };
        self.slots.get(..end).unwrap_or_default()
    }

    fn insert(&mut self, entry: &Arc<CachedActivity>) {
        let position = &entry.position;
        if self.down_to.as_ref().is_some_and(|down_to| position < down_to) {
            return;
        }
        let slot = TimedActivity::new(Arc::clone(entry));
        self.bytes += slot_bytes(&slot);
        match self.find(position) {
            Ok(at) => {
                if let Some(current) = self.slots.get_mut(at) {
                    self.bytes -= slot_bytes(current);
                    *current = slot;
                }
            }
            Err(at) => self.slots.insert(at, slot),
        }
        self.newest = newest_of(&self.slots);
    }

    fn remove(&mut self, position: &FeedPosition) {
        if let Ok(at) = self.find(position) {
            self.bytes -= slot_bytes(&self.slots.remove(at));
            self.newest = newest_of(&self.slots);
        }
    }

    fn truncate(&mut self, max: usize) {
        let over = self.slots.len().saturating_sub(max);
        if over > 0 {
            self.bytes -= self.slots.drain(..over).map(|slot| slot_bytes(&slot)).sum::<usize>();
            self.down_to = self.slots.first().map(|oldest| oldest.entry.position.clone());
        }
    }

    fn find(&self, position: &FeedPosition) -> Result<usize, usize> {
        self.slots.binary_search_by(|slot| slot.cmp(position))
    }
}

fn newest_of(slots: &[TimedActivity]) -> Time {
    slots.last().map_or(Time::EPOCH, |newest| newest.at)
}

fn slot_bytes(slot: &TimedActivity) -> usize {
    size_of::<TimedActivity>() + slot.entry.bytes()
}

#[cfg(test)]
mod tests;
