//! The log of recent activities of all actors, in order of arrival, for live feeds.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use roundtable_model::ActivityId;

use super::cached_activity::CachedActivity;

/// A bounded log; entries are numbered.
#[derive(Debug)]
pub(super) struct ActivityLog {
    cap: usize,
    entries: VecDeque<Arc<CachedActivity>>,
    /// The number of the oldest entry.
    first: u64,
    numbers: HashMap<ActivityId, u64>,
}

impl ActivityLog {
    pub(super) fn new(cap: usize) -> Self {
        Self { cap, entries: VecDeque::new(), first: 0, numbers: HashMap::new() }
    }

    /// Appends an activity, unless the log has it already.
    pub(super) fn push(&mut self, entry: &Arc<CachedActivity>) {
        if self.numbers.contains_key(&entry.position.id) {
            return;
        }
        self.numbers.insert(entry.position.id.clone(), self.end());
        self.entries.push_back(Arc::clone(entry));
        while self.entries.len() > self.cap
            && let Some(oldest) = self.entries.pop_front()
        {
            self.numbers.remove(&oldest.position.id);
            self.first += 1;
        }
    }

    /// Marks a gap: readers at the end learn that entries are missing.
    pub(super) fn mark_gap(&mut self) {
        self.first = self.end() + 1;
        self.entries.clear();
        self.numbers.clear();
    }

    /// The number of the next entry.
    pub(super) fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// The number after this activity, if it is in the log.
    pub(super) fn number_after(&self, id: &ActivityId) -> Option<u64> {
        self.numbers.get(id).map(|number| number + 1)
    }

    /// At most `wanted` entries from this number on; `None` if some of them were dropped.
    pub(super) fn from(&self, number: u64, wanted: usize) -> Option<Vec<Arc<CachedActivity>>> {
        let skipped = usize::try_from(number.checked_sub(self.first)?).ok()?;
        Some(self.entries.iter().skip(skipped).take(wanted).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::entities::Activity;
    use roundtable_model::samples;

    use super::*;

    fn entry(id: &str) -> Arc<CachedActivity> {
        let activity_id = id.parse().unwrap();
        Arc::new(CachedActivity::of(&Activity { activity_id, ..samples::activity() }))
    }

    fn ids(log: &ActivityLog, number: u64) -> Option<Vec<String>> {
        let entries = log.from(number, 9)?;
        Some(entries.iter().map(|entry| entry.position.id.to_string()).collect())
    }

    #[test]
    fn each_activity_is_logged_once_and_in_order() {
        let mut log = ActivityLog::new(9);
        ["a", "b", "a", "c"].iter().for_each(|id| log.push(&entry(id)));
        assert_eq!(ids(&log, 0).unwrap(), ["a", "b", "c"]);
        let behind = log.number_after(&"a".parse().unwrap()).unwrap();
        assert_eq!(ids(&log, behind).unwrap(), ["b", "c"]);
    }

    #[test]
    fn reading_dropped_entries_fails() {
        let mut log = ActivityLog::new(2);
        ["a", "b", "c"].iter().for_each(|id| log.push(&entry(id)));
        assert_eq!((ids(&log, 0), log.number_after(&"a".parse().unwrap())), (None, None));
        assert_eq!(ids(&log, 1).unwrap(), ["b", "c"]);
    }

    #[test]
    fn a_reader_at_the_end_notices_a_gap() {
        let mut log = ActivityLog::new(9);
        log.push(&entry("a"));
        let end = log.end();
        log.mark_gap();
        assert_eq!(ids(&log, end), None);
        assert_eq!(ids(&log, log.end()).unwrap(), [] as [String; 0]);
    }
}
