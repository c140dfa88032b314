//! Things by key until room is wanted: what was looked at of late stays, of the rest the oldest goes.
//!
//! Looking only sets a mark, so that many can look at once.

use std::collections::VecDeque;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::HashMap;

/// Things that are kept. Who keeps them decides how many.
#[derive(Debug)]
pub(super) struct Shelf<K, V> {
    things: HashMap<K, Thing<V>>,
    /// Who goes next; whoever was looked at is sent back to the end once.
    queue: VecDeque<K>,
}

#[derive(Debug)]
struct Thing<V> {
    value: V,
    is_used: AtomicBool,
}

impl<K, V> Default for Shelf<K, V> {
    fn default() -> Self {
        Self { things: HashMap::new(), queue: VecDeque::new() }
    }
}

impl<K: Clone + Eq + Hash, V> Shelf<K, V> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.things.len()
    }

    pub(super) fn contains(&self, key: &K) -> bool {
        self.things.contains_key(key)
    }

    /// Looks at one, which then stays for longer.
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        let thing = self.things.get(key)?;
        thing.is_used.store(true, Ordering::Relaxed);
        Some(&thing.value)
    }

    /// One to be changed, which does not count as a look.
    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.things.get_mut(key).map(|thing| &mut thing.value)
    }

    /// Adds one, or puts it in place of another.
    pub(super) fn put(&mut self, key: K, value: V) -> Option<V> {
        if let Some(known) = self.get_mut(&key) {
            return Some(std::mem::replace(known, value));
        }
        self.queue.push_back(key.clone());
        self.things.insert(key, Thing { value, is_used: AtomicBool::new(false) });
        None
    }

    /// Takes one away.
    pub(super) fn take(&mut self, key: &K) -> Option<V> {
        let thing = self.things.remove(key)?;
        self.queue.retain(|queued| queued != key);
        Some(thing.value)
    }

    /// Takes away the one that is missed least.
    pub(super) fn evict(&mut self) -> Option<V> {
        while let Some(key) = self.queue.pop_front() {
            let Some(thing) = self.things.get_mut(&key) else { continue };
            if std::mem::take(thing.is_used.get_mut()) {
                self.queue.push_back(key);
            } else {
                return self.things.remove(&key).map(|thing| thing.value);
            }
        }
        None
    }

    /// Takes all away.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(keys: &[u32]) -> Shelf<u32, u32> {
        let mut shelf = Shelf::default();
        for key in keys {
            shelf.put(*key, *key);
        }
        shelf
    }

    #[test]
    fn the_oldest_goes_first() {
        let mut shelf = shelf(&[1, 2, 3]);
        assert_eq!([shelf.evict(), shelf.evict(), shelf.evict()], [Some(1), Some(2), Some(3)]);
        assert_eq!((shelf.evict(), shelf.len()), (None, 0));
    }

    #[test]
    fn what_was_looked_at_stays_for_longer_and_not_for_ever() {
        let mut shelf = shelf(&[1, 2, 3]);
        assert_eq!(shelf.get(&1), Some(&1));
        assert_eq!([shelf.evict(), shelf.evict(), shelf.evict()], [Some(2), Some(3), Some(1)]);
    }

    #[test]
    fn a_change_keeps_its_place() {
        let mut shelf = shelf(&[1, 2]);
        assert_eq!(shelf.put(1, 10), Some(1));
        *shelf.get_mut(&1).unwrap() += 1;
        assert_eq!([shelf.evict(), shelf.evict()], [Some(11), Some(2)]);
    }

    #[test]
    fn what_was_taken_away_can_come_back() {
        let mut shelf = shelf(&[1, 2]);
        assert_eq!((shelf.take(&1), shelf.take(&1), shelf.contains(&1)), (Some(1), None, false));
        shelf.put(1, 5);
        assert_eq!([shelf.evict(), shelf.evict(), shelf.evict()], [Some(2), Some(5), None]);
    }
}
