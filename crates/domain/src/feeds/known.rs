//! Things by their ids, as they are now, also that they are not there: read once, and kept exact by
//! every change that is heard of.

use std::hash::Hash;
use std::sync::Arc;

use super::loads::{Loads, Ticket};
use super::shelf::Shelf;

/// What can tell how much memory it takes.
pub(super) trait Weighed {
    /// Roughly how many bytes.
    fn bytes(&self) -> usize;
}

/// Things that are known.
#[derive(Debug)]
pub(super) struct Known<K, V> {
    things: Shelf<K, Option<Arc<V>>>,
    loads: Loads<K, ()>,
    max: usize,
    bytes: usize,
}

impl<K: Clone + Eq + Hash, V: Weighed> Known<K, V> {
    /// Knows at most so many.
    pub(super) fn new(max: usize) -> Self {
        Self { things: Shelf::default(), loads: Loads::default(), max, bytes: 0 }
    }

    /// Whether it knows nothing, ever.
    pub(super) const fn is_off(&self) -> bool {
        self.max == 0
    }

    /// The thing as it is now, or that there is none; `None` when that is not known.
    pub(super) fn get(&self, key: &K) -> Option<&Option<Arc<V>>> {
        self.things.get(key)
    }

    /// It is about to be read.
    pub(super) fn begin(&mut self, key: &K) -> Ticket {
        self.loads.begin(key)
    }

    /// It was read. A change heard of since has told of it already, and may be newer.
    pub(super) fn finish(&mut self, key: &K, ticket: Ticket, value: Option<Arc<V>>) {
        if self.loads.end(key, ticket).is_some() {
            self.remember(key, value);
        }
    }

    /// It was not read after all.
    pub(super) fn abandon(&mut self, key: &K, ticket: Ticket) {
        self.loads.end(key, ticket);
    }

    /// Whether a change of it matters here.
    pub(super) fn concerns(&self, key: &K) -> bool {
        self.things.contains(key) || self.loads.contains(key)
    }

    /// It has changed. Nobody asked for what is neither known nor being read.
    pub(super) fn learn(&mut self, key: &K, value: Option<Arc<V>>) {
        // What is being read may be older than this.
        if self.loads.spoil(key) || self.things.contains(key) {
            self.remember(key, value);
        }
    }

    /// It has changed, nobody can tell how.
    pub(super) fn forget(&mut self, key: &K) {
        self.loads.spoil(key);
        if let Some(value) = self.things.take(key) {
            self.bytes -= bytes(value.as_ref());
        }
    }

    /// Anything may have changed.
    pub(super) fn forget_all(&mut self) {
        self.loads.spoil_all();
        self.things.clear();
        self.bytes = 0;
    }

    /// How many are known, and roughly the bytes they take.
    pub(super) fn figures(&self) -> (usize, usize) {
        let each = 2 * size_of::<K>() + size_of::<Option<Arc<V>>>() + size_of::<usize>();
        (self.things.len(), self.bytes + self.things.len() * each)
    }

    fn remember(&mut self, key: &K, value: Option<Arc<V>>) {
        self.bytes += bytes(value.as_ref());
        if let Some(before) = self.things.put(key.clone(), value) {
            self.bytes -= bytes(before.as_ref());
        }
        while self.things.len() > self.max
            && let Some(gone) = self.things.evict()
        {
            self.bytes -= bytes(gone.as_ref());
        }
    }
}

fn bytes<V: Weighed>(value: Option<&Arc<V>>) -> usize {
    value.map_or(0, |value| value.bytes())
}

#[cfg(test)]
mod tests;
