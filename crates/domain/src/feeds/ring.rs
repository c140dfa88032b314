//! The latest activities of everybody, in order: all of them, down to a floor that it knows.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashSet;
use roundtable_model::Time;

use super::entry::Entry;
use super::place::Place;

/// An entry with its time beside it: most comparisons need no more.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) at: Time,
    pub(super) entry: Arc<Entry>,
}

impl Slot {
    pub(super) fn new(entry: Arc<Entry>) -> Self {
        Self { at: entry.place.at, entry }
    }

    /// As places are compared.
    pub(super) fn cmp(&self, place: &Place) -> Ordering {
        self.at.cmp(&place.at).then_with(|| self.entry.place.id.cmp(&place.id))
    }

    pub(super) fn is_below(&self, place: &Place) -> bool {
        self.cmp(place).is_lt()
    }
}

/// The latest activities of everybody.
#[derive(Debug)]
pub(super) struct Ring {
    /// Rising.
    slots: VecDeque<Slot>,
    max: usize,
    /// Nothing at or below it is kept; `None` while nothing was left out.
    floor: Option<Place>,
    /// Whether it holds what happened before it was made, too.
    is_filled: bool,
    filling: Option<Filling>,
    fillings: u64,
    bytes: usize,
}

/// What a filling must not bring back.
#[derive(Debug)]
struct Filling {
    ticket: u64,
    removed: HashSet<Place>,
}

/// What was found of a walk down the ring: the entries, and the place down to which, and with which,
/// everything was looked at; no place when that was everything there is.
pub(super) type Walked = (Vec<Arc<Entry>>, Option<Place>);

impl Ring {
    /// Holds at most so many.
    pub(super) fn new(max: usize) -> Self {
        Self {
            slots: VecDeque::new(),
            max,
            floor: None,
            is_filled: false,
            filling: None,
            fillings: 0,
            bytes: 0,
        }
    }

    /// Whether it can be asked.
    pub(super) const fn is_filled(&self) -> bool {
        self.is_filled
    }

    /// How many it holds, and roughly the bytes they take.
    pub(super) fn figures(&self) -> (usize, usize) {
        (self.slots.len(), self.bytes + self.slots.capacity() * size_of::<Slot>())
    }

    /// Adds an activity, or puts it in place of itself.
    pub(super) fn insert(&mut self, entry: &Arc<Entry>) {
        if self.max == 0 || self.floor.as_ref().is_some_and(|floor| entry.place <= *floor) {
            return;
        }
        if let Some(filling) = &mut self.filling {
            filling.removed.remove(&entry.place);
        }
        self.bytes += entry.bytes();
        let slot = Slot::new(Arc::clone(entry));
        match self.position(&entry.place) {
            Ok(at) => {
                if let Some(known) = self.slots.get_mut(at) {
                    self.bytes -= known.entry.bytes();
                    *known = slot;
                }
            }
            Err(at) => self.slots.insert(at, slot),
        }
        self.trim();
    }

    /// Takes an activity away.
    pub(super) fn remove(&mut self, place: &Place) {
        if let Some(filling) = &mut self.filling {
            filling.removed.insert(place.clone());
        }
        if let Ok(at) = self.position(place)
            && let Some(gone) = self.slots.remove(at)
        {
            self.bytes -= gone.entry.bytes();
        }
    }

    /// Everything that follows is heard of; what was before is about to be gathered.
    pub(super) fn begin_filling(&mut self) -> u64 {
        self.fillings += 1;
        self.filling = Some(Filling { ticket: self.fillings, removed: HashSet::new() });
        self.fillings
    }

    /// Adds what was gathered, unless something was missed, or others have begun since.
    pub(super) fn fill(&mut self, ticket: u64, gathered: Gathered) {
        let Some(Filling { removed, .. }) = self.filling.take_if(|one| one.ticket == ticket) else {
            return;
        };
        let (mut slots, mut bytes) = (gathered.slots, gathered.bytes);
        if !removed.is_empty() {
            slots.retain(|slot| !removed.contains(&slot.entry.place));
            bytes = slots.iter().map(|slot| slot.entry.bytes()).sum();
        }
        let since = std::mem::replace(&mut self.slots, slots);
        (self.bytes, self.is_filled) = (bytes, true);
        self.floor = self.floor.take().max(gathered.floor);
        since.iter().for_each(|slot| self.insert(&slot.entry));
        while let (Some(oldest), Some(floor)) = (self.slots.front(), &self.floor)
            && oldest.entry.place <= *floor
        {
            self.drop_oldest();
        }
        self.trim();
    }

    /// Something was missed: it holds nothing that can be relied on.
    pub(super) fn forget_all(&mut self) {
        *self = Self { fillings: self.fillings, ..Self::new(self.max) };
    }

    /// The newest `wanted` below a place that are `mine`, looking at no more than `budget`. `None` when
    /// it cannot tell anything about what is below that place.
    pub(super) fn walk(
        &self,
        below: Option<&Place>,
        wanted: usize,
        budget: usize,
        is_mine: impl Fn(&Entry) -> bool,
    ) -> Option<Walked> {
        let end = below.map_or(self.slots.len(), |below| {
            self.slots.partition_point(|slot| slot.is_below(below))
        });
        let is_under = |floor: &Place| below.is_some_and(|below| below <= floor);
        if !self.is_filled || self.floor.as_ref().is_some_and(is_under) {
            return None;
        }
        let mut entries = Vec::new();
        let mut last = None;
        for slot in self.slots.range(..end).rev().take(budget) {
            if entries.len() == wanted {
                break;
            }
            last = Some(&slot.entry);
            if is_mine(&slot.entry) {
                entries.push(Arc::clone(&slot.entry));
            }
        }
        let oldest = self.slots.front().filter(|_| end > 0).map(|slot| &slot.entry.place);
        let is_all = self.floor.is_none() && last.map(|entry| &entry.place) == oldest;
        match last {
            _ if is_all => Some((entries, None)),
            Some(last) => Some((entries, Some(last.place.clone()))),
            None => None,
        }
    }

    fn position(&self, place: &Place) -> Result<usize, usize> {
        // Most are the newest of all.
        if self.slots.back().is_none_or(|newest| newest.is_below(place)) {
            return Err(self.slots.len());
        }
        self.slots.binary_search_by(|slot| slot.cmp(place))
    }

    fn trim(&mut self) {
        while self.slots.len() > self.max
            && let Some(oldest) = self.drop_oldest()
        {
            self.floor = self.floor.take().max(Some(oldest.entry.place.clone()));
        }
    }

    fn drop_oldest(&mut self) -> Option<Slot> {
        let oldest = self.slots.pop_front()?;
        self.bytes -= oldest.entry.bytes();
        Some(oldest)
    }
}

/// The latest of many activities, which come in any order.
#[derive(Debug)]
pub(super) struct Gathering {
    entries: Vec<Entry>,
    max: usize,
    floor: Option<Place>,
}

/// What a gathering came to, ready for the ring: sorting takes longer than others should wait.
#[derive(Debug)]
pub(super) struct Gathered {
    slots: VecDeque<Slot>,
    floor: Option<Place>,
    bytes: usize,
}

impl Gathering {
    pub(super) fn new(max: usize) -> Self {
        Self { entries: Vec::new(), max, floor: None }
    }

    pub(super) fn add(&mut self, entry: Entry) {
        self.entries.push(entry);
        if self.entries.len() >= self.max.saturating_mul(2).max(1) {
            self.cut();
        }
    }

    pub(super) fn done(mut self) -> Gathered {
        self.cut();
        self.entries.sort_unstable_by(|one, other| one.place.cmp(&other.place));
        self.entries.dedup_by(|one, other| one.place == other.place);
        let bytes = self.entries.iter().map(Entry::bytes).sum();
        // Collected, they would take over the room of the entries.
        let mut slots = VecDeque::with_capacity(self.max.saturating_add(1));
        // Allocated in the order in which they are looked at.
        slots.extend(self.entries.into_iter().map(|entry| Slot::new(Arc::new(entry))));
        Gathered { slots, floor: self.floor, bytes }
    }

    /// Leaves out all but the latest.
    fn cut(&mut self) {
        if self.entries.len() <= self.max {
            return;
        }
        if let Some(last) = self.max.checked_sub(1) {
            self.entries.select_nth_unstable_by(last, |one, other| other.place.cmp(&one.place));
        }
        let left_out = self.entries.drain(self.max..).map(|entry| entry.place).max();
        self.floor = self.floor.take().max(left_out);
    }
}

#[cfg(test)]
mod tests;
