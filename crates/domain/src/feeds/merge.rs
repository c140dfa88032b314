//! Merges the newest activities of many actors from their tails.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;

use roundtable_model::{ActorId, Time};

use super::cached_activity::CachedActivity;
use super::packed::PackedActivities;
use super::position::FeedPosition;
use super::tails::{Tail, Tails};

/// The merged tails of some actors.
#[derive(Debug, Default)]
pub(crate) struct MergedTails {
    /// The newest activities below the given position, newest first.
    pub(crate) entries: Vec<Arc<CachedActivity>>,
    /// The entries are complete down to and including this position; `None` if nothing is left.
    pub(crate) down_to: Option<FeedPosition>,
    /// Actors whose tails are not cached. If there are any, the other fields are unset.
    pub(crate) missing: Vec<ActorId>,
    /// Actors whose tails end at or above the given position, or cannot be cached. Their activities
    /// are not among the entries and must be read from the table.
    pub(crate) exhausted: Vec<ActorId>,
}

impl Tails {
    /// Merges the newest `wanted` activities of these distinct actors below a position. If tails
    /// may not be loaded, missing ones count as exhausted.
    pub(super) fn merged(
        &self,
        homes: &mut dyn Iterator<Item = &ActorId>,
        below: Option<&FeedPosition>,
        wanted: usize,
        may_load: bool,
    ) -> MergedTails {
        if self.is_off() {
            return MergedTails { exhausted: homes.cloned().collect(), ..MergedTails::default() };
        }
        let mut merged = MergedTails::default();
        let mut barrier: Option<&FeedPosition> = None;
        let mut tails: Vec<(&ActorId, &Tail)> = Vec::with_capacity(homes.size_hint().0);
        for home in homes {
            let Some(tail) = self.get(home) else {
                merged.missing.push(home.clone());
                continue;
            };
            if let Some(down_to) = tail.down_to() {
                if below.is_some_and(|below| below <= down_to) {
                    merged.exhausted.push(home.clone());
                    continue;
                }
                barrier = barrier.max(Some(down_to));
            }
            tails.push((home, tail));
        }
        if !merged.missing.is_empty() {
            let held = tails.len() + merged.exhausted.len();
            if may_load && self.has_space(held, merged.missing.len()) {
                return MergedTails { missing: merged.missing, ..MergedTails::default() };
            }
            // Loading them would only evict the others.
            merged.exhausted.append(&mut merged.missing);
        }
        // The only field read of most tails; the rest is not in the CPU cache.
        let oldest = barrier.map_or(Time::EPOCH, |barrier| barrier.at);
        tails.retain(|(_, tail)| tail.newest >= oldest);
        let heads = tails.into_iter().filter_map(|(home, tail)| {
            TailCursor::of(home, &tail.activities, tail.count_below(below))
        });
        let heads = heads.collect();
        let is_cut = take(heads, barrier, wanted, &mut merged.entries);
        let last = merged.entries.last().map(|entry| &entry.position);
        merged.down_to = if is_cut { last } else { barrier }.cloned();
        merged
    }
}

/// Takes the newest `wanted` at or above the barrier; returns whether there were more.
fn take(
    heads: Vec<TailCursor<'_>>,
    barrier: Option<&FeedPosition>,
    wanted: usize,
    entries: &mut Vec<Arc<CachedActivity>>,
) -> bool {
    let mut heads = BinaryHeap::from(heads);
    while let Some(mut head) = heads.peek_mut() {
        if barrier.is_some_and(|barrier| head.is_below(barrier)) {
            return false;
        }
        if entries.len() == wanted {
            return true;
        }
        entries.extend(head.activities.get(head.place, head.home));
        match TailCursor::of(head.home, head.activities, head.place) {
            Some(next) => *head = next,
            None => drop(PeekMut::pop(head)),
        }
    }
    false
}

/// The rest of a tail. The cursor with the newest activity is the greatest.
struct TailCursor<'t> {
    at: Time,
    home: &'t ActorId,
    activities: &'t PackedActivities,
    /// The place of the newest one left.
    place: usize,
}

impl<'t> TailCursor<'t> {
    /// The newest of the `count` oldest activities.
    fn of(home: &'t ActorId, activities: &'t PackedActivities, count: usize) -> Option<Self> {
        let place = count.checked_sub(1)?;
        Some(Self { at: activities.time_at(place)?, home, activities, place })
    }

    fn is_below(&self, position: &FeedPosition) -> bool {
        let by_id = || self.activities.position_at(self.place).as_ref().cmp(&Some(position));
        self.at.cmp(&position.at).then_with(by_id).is_lt()
    }
}

impl Ord for TailCursor<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_id = || self.activities.cmp_at(self.place, other.activities, other.place);
        self.at.cmp(&other.at).then_with(by_id)
    }
}

impl PartialOrd for TailCursor<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for TailCursor<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for TailCursor<'_> {}
