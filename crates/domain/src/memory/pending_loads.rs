//! Loads in progress, and changes meanwhile: a load may return a state older than a change already
//! applied.

use std::hash::Hash;

use hashbrown::HashMap;

/// Loads in progress by key, each with notes about changes since it began.
#[derive(Debug)]
pub(crate) struct PendingLoads<K, N> {
    under_way: HashMap<K, PendingLoad<N>>,
    begun: u64,
}

#[derive(Debug)]
struct PendingLoad<N> {
    ticket: LoadTicket,
    /// Concurrent loads of the same key; notes from before one of them began are harmless.
    readers: usize,
    notes: N,
}

/// Identifies a load, which counts only until it is invalidated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoadTicket(u64);

impl<K, N> Default for PendingLoads<K, N> {
    fn default() -> Self {
        Self { under_way: HashMap::new(), begun: 0 }
    }
}

impl<K: Clone + Eq + Hash, N: Clone + Default> PendingLoads<K, N> {
    pub(crate) fn begin(&mut self, key: &K) -> LoadTicket {
        if let Some(load) = self.under_way.get_mut(key) {
            load.readers += 1;
            return load.ticket;
        }
        self.begun += 1;
        let load = PendingLoad { ticket: LoadTicket(self.begun), readers: 1, notes: N::default() };
        let ticket = load.ticket;
        self.under_way.insert(key.clone(), load);
        ticket
    }

    /// Ends a load; returns its notes, unless it was invalidated.
    pub(crate) fn end(&mut self, key: &K, ticket: LoadTicket) -> Option<N> {
        let load = self.under_way.get_mut(key).filter(|load| load.ticket == ticket)?;
        load.readers -= 1;
        if load.readers > 0 {
            return Some(load.notes.clone());
        }
        self.under_way.remove(key).map(|load| load.notes)
    }

    pub(crate) fn notes(&mut self, key: &K) -> Option<&mut N> {
        self.under_way.get_mut(key).map(|load| &mut load.notes)
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.under_way.contains_key(key)
    }

    /// Invalidates a load; returns whether there was one.
    pub(crate) fn invalidate(&mut self, key: &K) -> bool {
        self.under_way.remove(key).is_some()
    }

    pub(crate) fn invalidate_all(&mut self) {
        self.under_way.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads() -> PendingLoads<&'static str, Vec<u32>> {
        PendingLoads::default()
    }

    #[test]
    fn a_load_returns_notes_made_meanwhile() {
        let mut loads = loads();
        let ticket = loads.begin(&"ana");
        loads.notes(&"ana").unwrap().push(1);
        assert!(loads.notes(&"bo").is_none());
        assert_eq!(loads.end(&"ana", ticket), Some(vec![1]));
        assert_eq!(loads.end(&"ana", ticket), None);
    }

    #[test]
    fn concurrent_loads_of_one_key_share_their_notes() {
        let mut loads = loads();
        let (one, other) = (loads.begin(&"ana"), loads.begin(&"ana"));
        loads.notes(&"ana").unwrap().push(1);
        assert_eq!(loads.end(&"ana", one), Some(vec![1]));
        loads.notes(&"ana").unwrap().push(2);
        assert_eq!(loads.end(&"ana", other), Some(vec![1, 2]));
        assert!(!loads.contains(&"ana"));
    }

    #[test]
    fn an_invalidated_load_does_not_count_even_when_another_has_begun() {
        let mut loads = loads();
        let invalidated = loads.begin(&"ana");
        assert!(loads.invalidate(&"ana") && !loads.invalidate(&"ana"));
        let later = loads.begin(&"ana");
        assert_eq!(loads.end(&"ana", invalidated), None);
        assert_eq!(loads.end(&"ana", later), Some(vec![]));
        let dropped = loads.begin(&"ana");
        loads.invalidate_all();
        assert_eq!(loads.end(&"ana", dropped), None);
    }
}
