//! Recognises changes that the relay delivers twice: a worker that takes over a shard repeats the
//! changes since its last checkpoint.

use std::hash::{BuildHasher as _, RandomState};

use lru::LruCache;
use roundtable_model::table::{Change, Sequence};

/// Items for which repeated changes are recognised.
const ITEMS_MAX: usize = 100_000;

/// The last sequence of recently changed items.
#[derive(Debug)]
pub(super) struct SeenChanges {
    items: LruCache<u64, Sequence>,
    hasher: RandomState,
}

impl Default for SeenChanges {
    fn default() -> Self {
        // A bounded one would allocate all of its memory now, although an embedded store needs none.
        Self { items: LruCache::unbounded(), hasher: RandomState::new() }
    }
}

impl SeenChanges {
    /// Returns the changes not seen before.
    pub(super) fn take_new(&mut self, changes: &[Change]) -> Vec<Change> {
        let is_new = |change: &&Change| {
            let item = self.hasher.hash_one(&change.key);
            let is_new = self.items.get(&item).is_none_or(|seen| *seen < change.sequence);
            if is_new {
                self.items.put(item, change.sequence.clone());
            }
            if self.items.len() > ITEMS_MAX {
                self.items.pop_lru();
            }
            is_new
        };
        changes.iter().filter(is_new).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::table::Key;

    use super::*;

    #[test]
    fn repeated_changes_are_skipped_and_new_ones_are_not() {
        let change = |item: &str, sequence: u64| Change {
            sequence: Sequence::from(sequence),
            at_ms: 0,
            key: Key::new(item, item),
            old: None,
            new: None,
            expired: false,
        };
        let mut seen = SeenChanges::default();
        let mut applied = |changes: &[(&str, u64)]| {
            let changes: Vec<Change> =
                changes.iter().map(|(item, sequence)| change(item, *sequence)).collect();
            let new = seen.take_new(&changes);
            new.iter().map(|change| change.sequence.clone()).collect::<Vec<_>>()
        };
        let all = [("a", 1), ("b", 2), ("a", 3)];
        assert_eq!(applied(&all), [1, 2, 3].map(Sequence::from));
        assert_eq!(applied(&all), [] as [Sequence; 0]);
        // Each shard has its own sequence, and an item is in one shard at a time.
        assert_eq!(applied(&[("a", 3), ("c", 1), ("a", 4)]), [1, 4].map(Sequence::from));
    }
}
