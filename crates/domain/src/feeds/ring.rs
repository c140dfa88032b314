//! The latest activities of all actors, in order and complete down to a known floor.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashSet;
use roundtable_model::Time;

use super::cached_activity::CachedActivity;
use super::position::FeedPosition;

/// An activity with its time inline: most comparisons need no more.
#[derive(Clone, Debug)]
pub(super) struct TimedActivity {
    pub(super) at: Time,
    pub(super) entry: Arc<CachedActivity>,
}

impl TimedActivity {
    pub(super) fn new(entry: Arc<CachedActivity>) -> Self {
        Self { at: entry.position.at, entry }
    }

    /// Compares as positions do.
    pub(super) fn cmp(&self, position: &FeedPosition) -> Ordering {
        self.at.cmp(&position.at).then_with(|| self.entry.position.id.cmp(&position.id))
    }

    pub(super) fn is_below(&self, position: &FeedPosition) -> bool {
        self.cmp(position).is_lt()
    }
}

#[derive(Debug)]
pub(super) struct RecentRing {
    /// In ascending order.
    slots: VecDeque<TimedActivity>,
    max: usize,
    /// Nothing at or below it is stored; `None` if nothing was dropped.
    floor: Option<FeedPosition>,
    /// True if it includes activities from before the ring was created.
    is_filled: bool,
    filling: Option<RingFill>,
    fillings: u64,
    bytes: usize,
}

/// Removals that a fill in progress must not undo.
#[derive(Debug)]
struct RingFill {
    ticket: u64,
    removed: HashSet<FeedPosition>,
}

/// The result of a walk down the latest activities.
#[derive(Debug)]
pub(crate) struct RingWalk {
    /// The matches.
    pub(crate) entries: Vec<Arc<CachedActivity>>,
    /// The position down to which the walk is complete; `None` if nothing is left.
    pub(crate) down_to: Option<FeedPosition>,
    /// True if the walk passed as many as it may without finding as many as wanted.
    pub(crate) is_sparse: bool,
}

impl RecentRing {
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

    pub(super) const fn is_filled(&self) -> bool {
        self.is_filled
    }

    /// The number of activities, and roughly their bytes.
    pub(super) fn stats(&self) -> (usize, usize) {
        (self.slots.len(), self.bytes + self.slots.capacity() * size_of::<TimedActivity>())
    }

    pub(super) fn insert(&mut self, entry: &Arc<CachedActivity>) {
        if self.max == 0 || self.floor.as_ref().is_some_and(|floor| entry.position <= *floor) {
            return;
        }
        if let Some(filling) = &mut self.filling {
            filling.removed.remove(&entry.position);
        }
        self.bytes += entry.bytes();
        let slot = TimedActivity::new(Arc::clone(entry));
        match self.find(&entry.position) {
            Ok(at) => {
                if let Some(current) = self.slots.get_mut(at) {
                    self.bytes -= current.entry.bytes();
                    *current = slot;
                }
            }
            Err(at) => self.slots.insert(at, slot),
        }
        self.trim();
    }

    pub(super) fn remove(&mut self, position: &FeedPosition) {
        if let Some(filling) = &mut self.filling {
            filling.removed.insert(position.clone());
        }
        if let Ok(at) = self.find(position)
            && let Some(gone) = self.slots.remove(at)
        {
            self.bytes -= gone.entry.bytes();
        }
    }

    /// Starts a fill. From here on all changes are received; older activities are about to be collected.
    pub(super) fn begin_filling(&mut self) -> u64 {
        self.fillings += 1;
        self.filling = Some(RingFill { ticket: self.fillings, removed: HashSet::new() });
        self.fillings
    }

    /// Adds the collected activities, unless there was a gap or another fill has begun since.
    pub(super) fn fill(&mut self, ticket: u64, contents: RingContents) {
        let Some(RingFill { removed, .. }) = self.filling.take_if(|one| one.ticket == ticket)
        else {
            return;
        };
        let (mut slots, mut bytes) = (contents.slots, contents.bytes);
        if !removed.is_empty() {
            slots.retain(|slot| !removed.contains(&slot.entry.position));
            bytes = slots.iter().map(|slot| slot.entry.bytes()).sum();
        }
        let since = std::mem::replace(&mut self.slots, slots);
        (self.bytes, self.is_filled) = (bytes, true);
        self.floor = self.floor.take().max(contents.floor);
        since.iter().for_each(|slot| self.insert(&slot.entry));
        while let (Some(oldest), Some(floor)) = (self.slots.front(), &self.floor)
            && oldest.entry.position <= *floor
        {
            self.drop_oldest();
        }
        self.trim();
    }

    /// Clears everything after a gap.
    pub(super) fn clear(&mut self) {
        *self = Self { fillings: self.fillings, ..Self::new(self.max) };
    }

    /// Returns the newest `wanted` below a position that match, scanning at most `budget`. `None`
    /// if the ring cannot answer for what is below that position.
    pub(super) fn walk(
        &self,
        below: Option<&FeedPosition>,
        wanted: usize,
        budget: usize,
        is_mine: impl Fn(&CachedActivity) -> bool,
    ) -> Option<RingWalk> {
        let end = below.map_or(self.slots.len(), |below| {
            self.slots.partition_point(|slot| slot.is_below(below))
        });
        let is_under = |floor: &FeedPosition| below.is_some_and(|below| below <= floor);
        if !self.is_filled || self.floor.as_ref().is_some_and(is_under) {
            return None;
        }
        let mut entries = Vec::new();
        let (mut last, mut passed) = (None, 0);
        for slot in self.slots.range(..end).rev().take(budget) {
            if entries.len() == wanted {
                break;
            }
            passed += 1;
            last = Some(&slot.entry);
            if is_mine(&slot.entry) {
                entries.push(Arc::clone(&slot.entry));
            }
        }
        let oldest = self.slots.front().filter(|_| end > 0).map(|slot| &slot.entry.position);
        let is_all = self.floor.is_none() && last.map(|entry| &entry.position) == oldest;
        let is_sparse = entries.len() < wanted && passed == budget;
        let down_to = match last {
            _ if is_all => None,
            Some(last) => Some(last.position.clone()),
            None => return None,
        };
        Some(RingWalk { entries, down_to, is_sparse })
    }

    fn find(&self, position: &FeedPosition) -> Result<usize, usize> {
        // Most inserts are the newest of all.
        if self.slots.back().is_none_or(|newest| newest.is_below(position)) {
            return Err(self.slots.len());
        }
        self.slots.binary_search_by(|slot| slot.cmp(position))
    }

    fn trim(&mut self) {
        while self.slots.len() > self.max
            && let Some(oldest) = self.drop_oldest()
        {
            self.floor = self.floor.take().max(Some(oldest.entry.position.clone()));
        }
    }

    fn drop_oldest(&mut self) -> Option<TimedActivity> {
        let oldest = self.slots.pop_front()?;
        self.bytes -= oldest.entry.bytes();
        Some(oldest)
    }
}

/// Collected contents for the ring.
#[derive(Debug, Default)]
pub(super) struct RingContents {
    slots: VecDeque<TimedActivity>,
    floor: Option<FeedPosition>,
    bytes: usize,
}

impl RingContents {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Adds the activity below all others.
    pub(super) fn push_older(&mut self, entry: Arc<CachedActivity>) {
        self.bytes += entry.bytes();
        self.slots.push_front(TimedActivity::new(entry));
    }

    /// Ends the collection above a position, below which there is more.
    pub(super) fn end_above(&mut self, floor: FeedPosition) {
        while let Some(oldest) = self.slots.front()
            && oldest.entry.position <= floor
        {
            self.bytes -= oldest.entry.bytes();
            self.slots.pop_front();
        }
        self.floor = Some(floor);
    }
}

#[cfg(test)]
mod tests;
