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

    /// Some were missed: whoever asks for what came from now on learns that it is not all.
    pub(super) fn skip(&mut self) {
        self.first = self.end() + 1;
        self.entries.clear();
        self.numbers.clear();
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

#[cfg(test)]
mod tests {
    use roundtable_model::entities::Activity;
    use roundtable_model::samples;

    use super::*;

    fn entry(id: &str) -> Arc<Entry> {
        let activity_id = id.parse().unwrap();
        Arc::new(Entry::of(&Activity { activity_id, ..samples::activity() }))
    }

    fn ids(log: &Log, number: u64) -> Option<Vec<String>> {
        let entries = log.from(number, 9)?;
        Some(entries.iter().map(|entry| entry.place.id.to_string()).collect())
    }

    #[test]
    fn each_comes_once_and_in_order() {
        let mut log = Log::new(9);
        ["a", "b", "a", "c"].iter().for_each(|id| log.push(&entry(id)));
        assert_eq!(ids(&log, 0).unwrap(), ["a", "b", "c"]);
        let behind = log.behind(&"a".parse().unwrap()).unwrap();
        assert_eq!(ids(&log, behind).unwrap(), ["b", "c"]);
    }

    #[test]
    fn what_is_forgotten_is_told_to_be() {
        let mut log = Log::new(2);
        ["a", "b", "c"].iter().for_each(|id| log.push(&entry(id)));
        assert_eq!((ids(&log, 0), log.behind(&"a".parse().unwrap())), (None, None));
        assert_eq!(ids(&log, 1).unwrap(), ["b", "c"]);
    }

    #[test]
    fn whoever_waited_at_the_end_learns_that_some_were_missed() {
        let mut log = Log::new(9);
        log.push(&entry("a"));
        let end = log.end();
        log.skip();
        assert_eq!(ids(&log, end), None);
        assert_eq!(ids(&log, log.end()).unwrap(), [] as [String; 0]);
    }
}
