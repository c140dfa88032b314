//! A cache with CLOCK eviction: recently used entries stay, of the others the oldest goes.
//!
//! A lookup only sets a flag, so lookups can run concurrently.

use std::collections::VecDeque;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::HashMap;

/// The cache. Its owner decides when to evict.
#[derive(Debug)]
pub(crate) struct ClockCache<K, V> {
    slots: HashMap<K, CacheSlot<V>>,
    /// Keys in eviction order. A used entry is moved to the back once.
    queue: VecDeque<K>,
}

#[derive(Debug)]
struct CacheSlot<V> {
    value: V,
    is_used: AtomicBool,
}

impl<K, V> Default for ClockCache<K, V> {
    fn default() -> Self {
        Self { slots: HashMap::new(), queue: VecDeque::new() }
    }
}

impl<K: Clone + Eq + Hash, V> ClockCache<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.slots.contains_key(key)
    }

    /// Looks an entry up and marks it as used.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        let slot = self.slots.get(key)?;
        slot.is_used.store(true, Ordering::Relaxed);
        Some(&slot.value)
    }

    /// Returns an entry for modification without marking it as used.
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.slots.get_mut(key).map(|slot| &mut slot.value)
    }

    pub(crate) fn put(&mut self, key: K, value: V) -> Option<V> {
        if let Some(current) = self.get_mut(&key) {
            return Some(std::mem::replace(current, value));
        }
        self.queue.push_back(key.clone());
        self.slots.insert(key, CacheSlot { value, is_used: AtomicBool::new(false) });
        None
    }

    pub(crate) fn take(&mut self, key: &K) -> Option<V> {
        let slot = self.slots.remove(key)?;
        self.queue.retain(|queued| queued != key);
        Some(slot.value)
    }

    /// Removes the oldest entry that was not used.
    pub(crate) fn evict(&mut self) -> Option<V> {
        while let Some(key) = self.queue.pop_front() {
            let Some(slot) = self.slots.get_mut(&key) else { continue };
            if std::mem::take(slot.is_used.get_mut()) {
                self.queue.push_back(key);
            } else {
                return self.slots.remove(&key).map(|slot| slot.value);
            }
        }
        None
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(keys: &[u32]) -> ClockCache<u32, u32> {
        let mut cache = ClockCache::default();
        for key in keys {
            cache.put(*key, *key);
        }
        cache
    }

    #[test]
    fn the_oldest_entry_is_evicted_first() {
        let mut cache = cache(&[1, 2, 3]);
        assert_eq!([cache.evict(), cache.evict(), cache.evict()], [Some(1), Some(2), Some(3)]);
        assert_eq!((cache.evict(), cache.len()), (None, 0));
    }

    #[test]
    fn a_used_entry_survives_one_round_of_eviction() {
        let mut cache = cache(&[1, 2, 3]);
        assert_eq!(cache.get(&1), Some(&1));
        assert_eq!([cache.evict(), cache.evict(), cache.evict()], [Some(2), Some(3), Some(1)]);
    }

    #[test]
    fn a_replaced_entry_keeps_its_place_in_the_queue() {
        let mut cache = cache(&[1, 2]);
        assert_eq!(cache.put(1, 10), Some(1));
        *cache.get_mut(&1).unwrap() += 1;
        assert_eq!([cache.evict(), cache.evict()], [Some(11), Some(2)]);
    }

    #[test]
    fn a_removed_entry_can_be_added_again() {
        let mut cache = cache(&[1, 2]);
        assert_eq!((cache.take(&1), cache.take(&1), cache.contains(&1)), (Some(1), None, false));
        cache.put(1, 5);
        assert_eq!([cache.evict(), cache.evict(), cache.evict()], [Some(2), Some(5), None]);
    }
}
