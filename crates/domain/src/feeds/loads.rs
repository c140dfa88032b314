//! What is being read from the table to be remembered, and what changed meanwhile: a read may show
//! what was before a change that memory has heard of already.

use std::hash::Hash;

use hashbrown::HashMap;

/// Reads under way, by the key of what they read; each has notes of the changes since it began.
#[derive(Debug)]
pub(super) struct Loads<K, N> {
    under_way: HashMap<K, Load<N>>,
    begun: u64,
}

#[derive(Debug)]
struct Load<N> {
    ticket: Ticket,
    /// How many read the same thing; notes from before one of them began do no harm.
    readers: usize,
    notes: N,
}

/// Which read: it counts only while nothing has spoiled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket(u64);

impl<K, N> Default for Loads<K, N> {
    fn default() -> Self {
        Self { under_way: HashMap::new(), begun: 0 }
    }
}

impl<K: Clone + Eq + Hash, N: Clone + Default> Loads<K, N> {
    /// A read is about to begin.
    pub(super) fn begin(&mut self, key: &K) -> Ticket {
        if let Some(load) = self.under_way.get_mut(key) {
            load.readers += 1;
            return load.ticket;
        }
        self.begun += 1;
        let load = Load { ticket: Ticket(self.begun), readers: 1, notes: N::default() };
        let ticket = load.ticket;
        self.under_way.insert(key.clone(), load);
        ticket
    }

    /// A read is over: what was noted meanwhile, unless it was spoiled.
    pub(super) fn end(&mut self, key: &K, ticket: Ticket) -> Option<N> {
        let load = self.under_way.get_mut(key).filter(|load| load.ticket == ticket)?;
        load.readers -= 1;
        if load.readers > 0 {
            return Some(load.notes.clone());
        }
        self.under_way.remove(key).map(|load| load.notes)
    }

    /// The notes of a read under way.
    pub(super) fn notes(&mut self, key: &K) -> Option<&mut N> {
        self.under_way.get_mut(key).map(|load| &mut load.notes)
    }

    pub(super) fn contains(&self, key: &K) -> bool {
        self.under_way.contains_key(key)
    }

    /// What is being read of this no longer counts; tells whether anything was.
    pub(super) fn spoil(&mut self, key: &K) -> bool {
        self.under_way.remove(key).is_some()
    }

    /// Nothing that is being read counts.
    pub(super) fn spoil_all(&mut self) {
        self.under_way.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads() -> Loads<&'static str, Vec<u32>> {
        Loads::default()
    }

    #[test]
    fn a_read_learns_what_was_noted_meanwhile() {
        let mut loads = loads();
        let ticket = loads.begin(&"ana");
        loads.notes(&"ana").unwrap().push(1);
        assert!(loads.notes(&"bo").is_none());
        assert_eq!(loads.end(&"ana", ticket), Some(vec![1]));
        assert_eq!(loads.end(&"ana", ticket), None);
    }

    #[test]
    fn two_reads_of_the_same_share_their_notes() {
        let mut loads = loads();
        let (one, other) = (loads.begin(&"ana"), loads.begin(&"ana"));
        loads.notes(&"ana").unwrap().push(1);
        assert_eq!(loads.end(&"ana", one), Some(vec![1]));
        loads.notes(&"ana").unwrap().push(2);
        assert_eq!(loads.end(&"ana", other), Some(vec![1, 2]));
        assert!(!loads.contains(&"ana"));
    }

    #[test]
    fn a_spoiled_read_does_not_count_also_when_another_has_begun_since() {
        let mut loads = loads();
        let spoiled = loads.begin(&"ana");
        assert!(loads.spoil(&"ana") && !loads.spoil(&"ana"));
        let later = loads.begin(&"ana");
        assert_eq!(loads.end(&"ana", spoiled), None);
        assert_eq!(loads.end(&"ana", later), Some(vec![]));
        let forgotten = loads.begin(&"ana");
        loads.spoil_all();
        assert_eq!(loads.end(&"ana", forgotten), None);
    }
}
