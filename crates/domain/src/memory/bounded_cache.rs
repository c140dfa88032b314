//! A cache of entities by id, including known absences. Entries are read once and kept exact by
//! every change.

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::clock_cache::ClockCache;
use super::pending_loads::{LoadTicket, PendingLoads};

/// An estimate of the memory a value takes.
pub(super) trait MemorySize {
    fn bytes(&self) -> usize;
}

#[derive(Debug)]
pub(super) struct BoundedCache<K, V> {
    entries: ClockCache<K, Option<Arc<V>>>,
    loads: PendingLoads<K, ()>,
    max: usize,
    bytes: usize,
    lookups: AtomicU64,
    misses: AtomicU64,
}

/// The size and the use of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    pub entries: usize,
    /// An estimate.
    pub bytes: usize,
    /// Lookups since the process started, and those of them that had to read the table.
    pub lookups: u64,
    pub misses: u64,
}

/// The bytes that entries may take on average.
const BYTES_EACH_MAX: usize = 2 << 10;

impl<K: Clone + Eq + Hash, V: MemorySize> BoundedCache<K, V> {
    pub(super) fn new(max: usize) -> Self {
        Self {
            entries: ClockCache::default(),
            loads: PendingLoads::default(),
            max,
            bytes: 0,
            lookups: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Returns whether the cache is disabled.
    pub(super) const fn is_off(&self) -> bool {
        self.max == 0
    }

    /// The cached entity, or its cached absence; `None` if neither is cached.
    pub(super) fn get(&self, key: &K) -> Option<&Option<Arc<V>>> {
        self.entries.get(key)
    }

    /// Counts lookups, all of a read together.
    pub(super) fn count_lookups(&self, all: usize, missed: usize) {
        self.lookups.fetch_add(all as u64, Ordering::Relaxed);
        self.misses.fetch_add(missed as u64, Ordering::Relaxed);
    }

    pub(super) fn begin(&mut self, key: &K) -> LoadTicket {
        self.loads.begin(key)
    }

    /// Stores a loaded value, unless a change has been applied since, which may be newer.
    pub(super) fn finish(&mut self, key: &K, ticket: LoadTicket, value: Option<Arc<V>>) {
        if self.loads.end(key, ticket).is_some() {
            self.remember(key, value);
        }
    }

    /// Ends a load without a value.
    pub(super) fn abandon(&mut self, key: &K, ticket: LoadTicket) {
        self.loads.end(key, ticket);
    }

    /// Returns whether the key is cached or being loaded.
    pub(super) fn is_tracked(&self, key: &K) -> bool {
        self.entries.contains(key) || self.loads.contains(key)
    }

    /// Applies a change, if the key is cached or being loaded.
    pub(super) fn update(&mut self, key: &K, value: Option<Arc<V>>) {
        // A load in progress may return an older value than this.
        if self.loads.invalidate(key) || self.entries.contains(key) {
            self.remember(key, value);
        }
    }

    /// Drops a key that changed to an unknown value.
    pub(super) fn remove(&mut self, key: &K) {
        self.loads.invalidate(key);
        if let Some(value) = self.entries.take(key) {
            self.bytes -= bytes(value.as_ref());
        }
    }

    pub(super) fn clear(&mut self) {
        self.loads.invalidate_all();
        self.entries.clear();
        self.bytes = 0;
    }

    pub(super) fn stats(&self) -> CacheStats {
        let each = 2 * size_of::<K>() + size_of::<Option<Arc<V>>>() + size_of::<usize>();
        CacheStats {
            entries: self.entries.len(),
            bytes: self.bytes + self.entries.len() * each,
            lookups: self.lookups.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
        }
    }

    fn remember(&mut self, key: &K, value: Option<Arc<V>>) {
        self.bytes += bytes(value.as_ref());
        if let Some(before) = self.entries.put(key.clone(), value) {
            self.bytes -= bytes(before.as_ref());
        }
        while (self.entries.len() > self.max || self.bytes > self.max * BYTES_EACH_MAX)
            && let Some(gone) = self.entries.evict()
        {
            self.bytes -= bytes(gone.as_ref());
        }
    }
}

fn bytes<V: MemorySize>(value: Option<&Arc<V>>) -> usize {
    value.map_or(0, |value| value.bytes())
}

#[cfg(test)]
mod tests;
