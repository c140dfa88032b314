//! A log of recent entries in order of arrival, from which subscribers resume.

use std::collections::VecDeque;
use std::hash::Hash;
use std::time::Duration;

use hashbrown::HashMap;
use parking_lot::RwLock;
use tokio::sync::watch;
use tokio::time::Instant;

/// Entries kept for returning subscribers.
const ENTRIES_MAX: usize = 10_000;

/// A bounded log; entries are numbered. It can be used concurrently.
#[derive(Debug)]
pub(crate) struct ReplayLog<K, T> {
    entries_max: usize,
    state: RwLock<ReplayState<K, T>>,
    /// The end of the log, for subscribers that wait for the next entry.
    changed: watch::Sender<u64>,
}

#[derive(Debug)]
struct ReplayState<K, T> {
    entries: VecDeque<LogEntry<K, T>>,
    /// The number of the oldest entry.
    first: u64,
    /// Everything that arrived after this instant is in the log.
    complete_since: Instant,
    /// The number of each key's oldest entry.
    numbers: HashMap<K, u64>,
}

#[derive(Debug)]
struct LogEntry<K, T> {
    key: K,
    entry: T,
    arrived: Instant,
}

impl<K, T> Default for ReplayLog<K, T> {
    fn default() -> Self {
        let state = ReplayState {
            entries: VecDeque::new(),
            first: 0,
            complete_since: Instant::now(),
            numbers: HashMap::new(),
        };
        let (state, changed) = (RwLock::new(state), watch::Sender::new(0));
        Self { entries_max: ENTRIES_MAX, state, changed }
    }
}

impl<K: Clone + Eq + Hash, T: Clone> ReplayLog<K, T> {
    /// Appends the first entry of a key; does nothing if the log has one, because changes may be
    /// delivered twice.
    pub(crate) fn push_new(&self, key: K, entry: T) {
        let mut state = self.state.write();
        if !state.numbers.contains_key(&key) {
            state.push(key, entry, self.entries_max);
        }
    }

    /// Appends an entry of a key that may have others.
    pub(crate) fn push_update(&self, key: K, entry: T) {
        self.state.write().push(key, entry, self.entries_max);
    }

    /// Marks a gap: subscribers at the end learn that entries are missing.
    pub(crate) fn mark_gap(&self) {
        let mut state = self.state.write();
        state.first = state.end() + 1;
        state.complete_since = Instant::now();
        state.entries.clear();
        state.numbers.clear();
    }

    /// Wakes waiting subscribers if the log has changed. Separate from the changes, so that callers
    /// can release their locks first.
    pub(crate) fn wake(&self) {
        let end = self.state.read().end();
        self.changed.send_if_modified(|seen| std::mem::replace(seen, end) != end);
    }

    /// Changes whenever the log does.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The number of the next entry.
    pub(crate) fn end(&self) -> u64 {
        self.state.read().end()
    }

    /// The number after this key's oldest entry, if it is in the log: a returning subscriber has seen
    /// that entry, and perhaps no other.
    pub(crate) fn number_after(&self, key: &K) -> Option<u64> {
        self.state.read().numbers.get(key).map(|number| number + 1)
    }

    /// The number of the first entry that arrived less than `margin` before this key's oldest entry;
    /// `None` if that is not in the log, or something that arrived in that time.
    pub(crate) fn number_before(&self, key: &K, margin: Duration) -> Option<u64> {
        let state = self.state.read();
        let index = usize::try_from(state.numbers.get(key)?.checked_sub(state.first)?).ok()?;
        let since = state.entries.get(index)?.arrived.checked_sub(margin)?;
        let first = state.entries.partition_point(|entry| entry.arrived <= since);
        (state.complete_since <= since).then_some(state.first + first as u64)
    }

    /// At most `wanted` entries from this number on; `None` if some of them were dropped.
    pub(crate) fn read_from(&self, number: u64, wanted: usize) -> Option<Vec<T>> {
        let state = self.state.read();
        let skipped = usize::try_from(number.checked_sub(state.first)?).ok()?;
        let entries = state.entries.iter().skip(skipped).take(wanted);
        Some(entries.map(|entry| entry.entry.clone()).collect())
    }
}

impl<K: Clone + Eq + Hash, T> ReplayState<K, T> {
    /// The number of the next entry.
    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    fn push(&mut self, key: K, entry: T, entries_max: usize) {
        let number = self.end();
        self.numbers.entry(key.clone()).or_insert(number);
        self.entries.push_back(LogEntry { key, entry, arrived: Instant::now() });
        while self.entries.len() > entries_max
            && let Some(oldest) = self.entries.pop_front()
        {
            if self.numbers.get(&oldest.key) == Some(&self.first) {
                self.numbers.remove(&oldest.key);
            }
            self.first += 1;
            self.complete_since = oldest.arrived;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_of(keys: &[&'static str], entries_max: usize) -> ReplayLog<&'static str, &'static str> {
        let log = ReplayLog { entries_max, ..ReplayLog::default() };
        keys.iter().for_each(|key| log.push_new(*key, *key));
        log
    }

    #[test]
    fn each_new_key_is_logged_once_and_in_order() {
        let log = log_of(&["a", "b", "a", "c"], 9);
        assert_eq!(log.read_from(0, 9).unwrap(), ["a", "b", "c"]);
        assert_eq!(log.read_from(log.number_after(&"a").unwrap(), 9).unwrap(), ["b", "c"]);
    }

    #[test]
    fn a_subscriber_resumes_after_the_oldest_entry_of_a_key() {
        let log = log_of(&["a", "b"], 3);
        log.push_update("a", "a again");
        let next = log.number_after(&"a").unwrap();
        assert_eq!(log.read_from(next, 9).unwrap(), ["b", "a again"]);
        log.push_new("c", "c");
        assert_eq!(log.number_after(&"a"), None, "the oldest entry was dropped");
    }

    #[tokio::test(start_paused = true)]
    async fn a_subscriber_of_another_process_resumes_a_while_before_the_entry() {
        let (log, margin) = (log_of(&[], 4), Duration::from_secs(30));
        let wait = |seconds| tokio::time::advance(Duration::from_secs(seconds));
        for key in ["a", "b", "c"] {
            wait(20).await;
            log.push_new(key, key);
        }
        let from = |key| log.number_before(&key, margin).and_then(|next| log.read_from(next, 9));
        assert_eq!(from("a"), None, "the log does not reach back");
        assert_eq!(from("b").unwrap(), ["a", "b", "c"]);
        assert_eq!(from("c").unwrap(), ["b", "c"]);
        assert_eq!(from("x"), None);
        wait(20).await;
        log.push_new("d", "d");
        log.push_new("e", "e");
        assert_eq!(from("d").unwrap(), ["c", "d", "e"], "a was dropped, but is too old to matter");
        assert_eq!(from("b"), None, "a was dropped");
        log.mark_gap();
        log.push_new("f", "f");
        wait(29).await;
        log.push_new("g", "g");
        assert_eq!(from("g"), None, "a gap");
        wait(1).await;
        log.push_new("h", "h");
        assert_eq!(from("h").unwrap(), ["g", "h"]);
    }

    #[test]
    fn reading_dropped_entries_fails() {
        let log = log_of(&["a", "b", "c"], 2);
        assert_eq!((log.read_from(0, 9), log.number_after(&"a"), log.end()), (None, None, 3));
        assert_eq!(log.read_from(1, 9).unwrap(), ["b", "c"]);
    }

    #[test]
    fn a_subscriber_at_the_end_notices_a_gap() {
        let log = log_of(&["a"], 9);
        let (end, mut changed) = (log.end(), log.changes());
        log.wake();
        assert!(changed.has_changed().unwrap());
        changed.borrow_and_update();
        log.mark_gap();
        log.wake();
        assert!(changed.has_changed().unwrap());
        assert_eq!(log.read_from(end, 9), None);
        assert_eq!(log.read_from(log.end(), 9).unwrap(), [] as [&str; 0]);
    }
}
