//! The newest activities of many actors, from their tails.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;

use roundtable_model::{ActorId, Time};

use super::entry::Entry;
use super::place::Place;
use super::ring::Slot;
use super::tails::{Tail, Tails};

/// What the tails of some actors tell.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    /// Their newest activities below the place asked about, newest first.
    pub(crate) entries: Vec<Arc<Entry>>,
    /// The entries are all there are from here on, this place included; `None`: all there are.
    pub(crate) down_to: Option<Place>,
    /// Actors whose tails are not held. If there are any, nothing else counts.
    pub(crate) missing: Vec<ActorId>,
    /// Actors whose tails end at or above the place asked about, or will never be held: what they did
    /// is to be read from the table, and is not among the entries.
    pub(crate) worn: Vec<ActorId>,
}

impl Tails {
    /// The newest `wanted` of these actors, each named once, below a place. Unless tails may be loaded,
    /// those that are not held are worn.
    pub(super) fn merged(
        &self,
        homes: &mut dyn Iterator<Item = &ActorId>,
        below: Option<&Place>,
        wanted: usize,
        may_load: bool,
    ) -> Merged {
        if self.is_off() {
            return Merged { worn: homes.cloned().collect(), ..Merged::default() };
        }
        let mut merged = Merged::default();
        let mut barrier: Option<&Place> = None;
        let mut tails: Vec<&Tail> = Vec::with_capacity(homes.size_hint().0);
        for home in homes {
            let Some(tail) = self.get(home) else {
                merged.missing.push(home.clone());
                continue;
            };
            if let Some(down_to) = &tail.down_to {
                if below.is_some_and(|below| below <= down_to) {
                    merged.worn.push(home.clone());
                    continue;
                }
                barrier = barrier.max(Some(down_to));
            }
            tails.push(tail);
        }
        if !merged.missing.is_empty() {
            let held = tails.len() + merged.worn.len();
            if may_load && self.has_room(held, merged.missing.len()) {
                return Merged { missing: merged.missing, ..Merged::default() };
            }
            // Loading them would only push out the others.
            merged.worn.append(&mut merged.missing);
        }
        // All that is looked at of most tails: the rest of them lies elsewhere.
        let oldest = barrier.map_or(Time::EPOCH, |barrier| barrier.at);
        tails.retain(|tail| tail.newest >= oldest);
        let heads = tails.into_iter().filter_map(|tail| Head::of(tail.below(below))).collect();
        let is_cut = take(heads, barrier, wanted, &mut merged.entries);
        let last = merged.entries.last().map(|entry| &entry.place);
        merged.down_to = if is_cut { last } else { barrier }.cloned();
        merged
    }
}

/// Takes the newest `wanted` that are not below the barrier; tells whether there were more.
fn take(
    heads: Vec<Head<'_>>,
    barrier: Option<&Place>,
    wanted: usize,
    entries: &mut Vec<Arc<Entry>>,
) -> bool {
    let mut heads = BinaryHeap::from(heads);
    while let Some(mut head) = heads.peek_mut() {
        if barrier.is_some_and(|barrier| head.newest.is_below(barrier)) {
            return false;
        }
        if entries.len() == wanted {
            return true;
        }
        entries.push(Arc::clone(&head.newest.entry));
        match Head::of(head.older) {
            Some(next) => *head = next,
            None => drop(PeekMut::pop(head)),
        }
    }
    false
}

/// What is left of a tail. The one with the newest activity is the greatest.
struct Head<'t> {
    at: Time,
    newest: &'t Slot,
    older: &'t [Slot],
}

impl<'t> Head<'t> {
    fn of(slots: &'t [Slot]) -> Option<Self> {
        slots.split_last().map(|(newest, older)| Self { at: newest.at, newest, older })
    }
}

impl Ord for Head<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let ids = || self.newest.entry.place.id.cmp(&other.newest.entry.place.id);
        self.at.cmp(&other.at).then_with(ids)
    }
}

impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head<'_> {}
