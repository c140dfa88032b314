//! The latest activities of everybody in the order they came, for those who are told as they come.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use roundtable_model::ActivityId;

use super::entry::Entry;

/// As many as are remembered, each known by its number.
#[derive(Debug)]
pub(super) struct Log {
    cap: usize,
    entries: VecDeque<Arc<Entry>>,
    /// The number of the first of them.
    first: u64,
    numbers: HashMap<ActivityId, u64>,
}

impl Log {
    pub(super) fn new(cap: usize) -> Self {
        Self { cap, entries: VecDeque::new(), first: 0, numbers: HashMap::new() }
    }

    /// Adds one, unless it has come before. The number behind it tells readers that there is more.
    pub(super) fn push(&mut self, entry: &Arc<Entry>) {
        if self.numbers.contains_key(&entry.place.id) {
            return;
        }
        self.numbers.insert(entry.place.id.clone(), self.end());
        self.entries.push_back(Arc::clone(entry));
        while self.entries.len() > self.cap
            && let Some(oldest) = self.entries.pop_front()
        {
            self.numbers.remove(&oldest.place.id);
            self.first += 1;
        }
    }

    /// The number that the next one will have.
    pub(super) fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// The number of the one behind this activity, if it is remembered.
    pub(super) fn behind(&self, id: &ActivityId) -> Option<u64> {
        self.numbers.get(id).map(|number| number + 1)
    }

    /// At most so many from this number on; `None` if some of them are forgotten.
    pub(super) fn from(&self, number: u64, wanted: usize) -> Option<Vec<Arc<Entry>>> {
        let skipped = usize::try_from(number.checked_sub(self.first)?).ok()?;
        Some(self.entries.iter().skip(skipped).take(wanted).cloned().collect())
    }
}
