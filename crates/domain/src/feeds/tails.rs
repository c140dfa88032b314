//! The newest activities of single actors: read once, and from then on kept exact by every change that
//! is heard of.

use std::sync::Arc;

use roundtable_model::{ActorId, Time};

use super::entry::Entry;
use super::loads::{Loads, Ticket};
use super::place::Place;
use super::ring::Slot;
use super::shelf::Shelf;

/// The newest activities of one actor, without gaps.
#[derive(Debug)]
pub(super) struct Tail {
    /// Rising.
    slots: Vec<Slot>,
    /// When the newest of them was done: beside the tail itself, because most tails that are looked at
    /// have nothing new enough.
    pub(super) newest: Time,
    /// Everything from here on is held; `None` when that is all there ever was.
    pub(super) down_to: Option<Place>,
    /// Roughly what its activities take.
    bytes: usize,
}

/// What happened to an activity while others of its actor were being read.
#[derive(Clone, Debug)]
enum Happened {
    Made(Arc<Entry>),
    Gone(Place),
}

/// The tails that are held.
#[derive(Debug)]
pub(super) struct Tails {
    held: Shelf<ActorId, Tail>,
    loads: Loads<ActorId, Vec<Happened>>,
    each_max: usize,
    all_max: usize,
    entries: usize,
    bytes: usize,
}

impl Tails {
    /// Holds at most so many activities of one actor, and so many in all.
    pub(super) fn new(each_max: usize, all_max: usize) -> Self {
        let (held, loads) = (Shelf::default(), Loads::default());
        Self { held, loads, each_max, all_max, entries: 0, bytes: 0 }
    }

    /// Whether it holds anything at all.
    pub(super) const fn is_off(&self) -> bool {
        self.each_max == 0 || self.all_max == 0
    }

    /// The tail of an actor, if it is held.
    pub(super) fn get(&self, home: &ActorId) -> Option<&Tail> {
        self.held.get(home)
    }

    /// Whether the tails of so many more actors would likely find room beside each other.
    pub(super) fn has_room(&self, held: usize, more: usize) -> bool {
        let typical = match self.held.len() {
            0 => self.each_max,
            tails => self.entries / tails,
        };
        held.saturating_add(more).saturating_mul(typical + 1) <= self.all_max
    }

    /// An actor's activities are about to be read.
    pub(super) fn begin(&mut self, home: &ActorId) -> Ticket {
        self.loads.begin(home)
    }

    /// They were read, newest first; `is_all` if there are no others.
    pub(super) fn finish(
        &mut self,
        home: &ActorId,
        ticket: Ticket,
        newest: Vec<Entry>,
        is_all: bool,
    ) {
        let Some(happened) = self.loads.end(home, ticket) else { return };
        if self.held.contains(home) || self.is_off() {
            return;
        }
        let mut tail = Tail::of(newest, is_all);
        for one in happened {
            match one {
                Happened::Made(entry) => tail.insert(&entry),
                Happened::Gone(place) => tail.remove(&place),
            }
        }
        tail.cut(self.each_max);
        self.entries += tail.slots.len();
        self.bytes += tail.bytes;
        self.held.put(home.clone(), tail);
        self.make_room();
    }

    /// They were not read after all.
    pub(super) fn abandon(&mut self, home: &ActorId, ticket: Ticket) {
        self.loads.end(home, ticket);
    }

    /// An actor has done something.
    pub(super) fn insert(&mut self, home: &ActorId, entry: &Arc<Entry>) {
        if let Some(notes) = self.loads.notes(home) {
            notes.push(Happened::Made(Arc::clone(entry)));
        }
        self.change(home, |tail| tail.insert(entry));
    }

    /// Something that an actor did is no more.
    pub(super) fn remove(&mut self, home: &ActorId, place: &Place) {
        if let Some(notes) = self.loads.notes(home) {
            notes.push(Happened::Gone(place.clone()));
        }
        self.change(home, |tail| tail.remove(place));
    }

    /// Anything may have happened.
    pub(super) fn forget_all(&mut self) {
        self.loads.spoil_all();
        self.held.clear();
        (self.entries, self.bytes) = (0, 0);
    }

    /// How many are held, how many activities are in them, and roughly the bytes they take.
    pub(super) fn figures(&self) -> (usize, usize, usize) {
        let each = 2 * size_of::<ActorId>() + size_of::<Tail>() + size_of::<usize>();
        (self.held.len(), self.entries, self.bytes + self.held.len() * each)
    }

    /// Whether somebody is reading an actor's activities.
    #[cfg(test)]
    pub(super) fn is_reading(&self, home: &ActorId) -> bool {
        self.loads.contains(home)
    }

    fn change(&mut self, home: &ActorId, change: impl FnOnce(&mut Tail)) {
        let Some(tail) = self.held.get_mut(home) else { return };
        let (entries, bytes) = (tail.slots.len(), tail.bytes);
        change(tail);
        tail.cut(self.each_max);
        self.entries = self.entries - entries + tail.slots.len();
        self.bytes = self.bytes - bytes + tail.bytes;
        self.make_room();
    }

    /// A tail without activities takes room, too.
    fn make_room(&mut self) {
        while self.entries + self.held.len() > self.all_max
            && let Some(gone) = self.held.evict()
        {
            self.entries -= gone.slots.len();
            self.bytes -= gone.bytes;
        }
    }
}

impl Tail {
    fn of(newest: Vec<Entry>, is_all: bool) -> Self {
        let down_to = newest.last().filter(|_| !is_all).map(|entry| entry.place.clone());
        // Allocated in the order in which they are looked at.
        let mut slots: Vec<Slot> =
            newest.into_iter().map(|entry| Slot::new(Arc::new(entry))).collect();
        slots.reverse();
        let bytes = slots.iter().map(weight).sum();
        Self { newest: newest_of(&slots), slots, down_to, bytes }
    }

    /// Its activities below a place, rising.
    pub(super) fn below(&self, place: Option<&Place>) -> &[Slot] {
        let end = match place {
            Some(place) if place.at <= self.newest => {
                self.slots.partition_point(|slot| slot.is_below(place))
            }
            Some(_) | None => self.slots.len(),
        };
        self.slots.get(..end).unwrap_or_default()
    }

    fn insert(&mut self, entry: &Arc<Entry>) {
        let place = &entry.place;
        if self.down_to.as_ref().is_some_and(|down_to| place < down_to) {
            return;
        }
        let slot = Slot::new(Arc::clone(entry));
        self.bytes += weight(&slot);
        match self.position(place) {
            Ok(at) => {
                if let Some(known) = self.slots.get_mut(at) {
                    self.bytes -= weight(known);
                    *known = slot;
                }
            }
            Err(at) => self.slots.insert(at, slot),
        }
        self.newest = newest_of(&self.slots);
    }

    fn remove(&mut self, place: &Place) {
        if let Ok(at) = self.position(place) {
            self.bytes -= weight(&self.slots.remove(at));
            self.newest = newest_of(&self.slots);
        }
    }

    /// Keeps the newest.
    fn cut(&mut self, max: usize) {
        let over = self.slots.len().saturating_sub(max);
        if over > 0 {
            self.bytes -= self.slots.drain(..over).map(|slot| weight(&slot)).sum::<usize>();
            self.down_to = self.slots.first().map(|oldest| oldest.entry.place.clone());
        }
    }

    fn position(&self, place: &Place) -> Result<usize, usize> {
        self.slots.binary_search_by(|slot| slot.cmp(place))
    }
}

fn newest_of(slots: &[Slot]) -> Time {
    slots.last().map_or(Time::EPOCH, |newest| newest.at)
}

fn weight(slot: &Slot) -> usize {
    size_of::<Slot>() + slot.entry.bytes()
}

#[cfg(test)]
mod tests;
