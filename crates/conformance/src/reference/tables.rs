//! One table of the reference backend: its items, writes and changes.

use std::collections::BTreeMap;

use roundtable_table::{
    Capacity, Change, Get, GetOutput, Invalid, Item, Key, ReadMode, Returning, Sequence,
    TableDefinition, Write, WriteCost, update,
};

#[derive(Clone, Debug)]
pub(super) struct TableState {
    pub(super) definition: TableDefinition,
    /// All items by key, including expired ones that are not deleted yet.
    items: BTreeMap<Key, Item>,
    changes: Vec<Change>,
}

/// The effect of a write.
pub(super) struct Effect {
    key: Key,
    /// The item that conditions and terms read: never an expired one.
    old: Option<Item>,
    new: Option<Item>,
    /// False for a condition check.
    writes: bool,
    pub(super) charge: WriteCost,
}

/// The reason why a write has no effect.
pub(super) enum Refusal {
    Condition(Option<Box<Item>>),
    Invalid(Invalid),
}

impl From<Invalid> for Refusal {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

impl Effect {
    pub(super) fn returned(&self, returning: Returning) -> Option<Item> {
        match returning {
            Returning::Nothing => None,
            Returning::Old => self.old.clone(),
            Returning::New => self.new.clone(),
        }
    }
}

impl TableState {
    pub(super) const fn new(definition: TableDefinition) -> Self {
        Self { definition, items: BTreeMap::new(), changes: Vec::new() }
    }

    fn visible(&self, key: &Key, now: u64) -> Option<&Item> {
        self.items.get(key).filter(|item| !self.definition.is_expired(item, now))
    }

    /// All items that have not expired, by key.
    pub(super) fn all(&self, now: u64) -> impl Iterator<Item = (&Key, &Item)> {
        self.items.iter().filter(move |(_, item)| !self.definition.is_expired(item, now))
    }

    /// The full size of the item at `key`; zero if there is none.
    pub(super) fn size_of(&self, key: &Key, now: u64) -> usize {
        self.visible(key, now).map_or(0, Item::size)
    }

    pub(super) fn get(&self, get: &Get, now: u64, mode: ReadMode) -> GetOutput {
        let item = self.visible(&get.key, now);
        let capacity = Capacity::read(self.size_of(&get.key, now), mode);
        GetOutput { item: item.map(|item| projected(item, &get.projection)), capacity }
    }

    /// Computes the effect of `write` at the second `now`.
    pub(super) fn effect(&self, write: &Write, now: u64) -> Result<Effect, Refusal> {
        let Some(key) = write.key(&self.definition) else {
            return Err(Invalid::Rejected { detail: String::from("an item without a key") }.into());
        };
        let old = self.visible(&key, now).cloned();
        if write.condition().is_some_and(|condition| !condition.holds(old.as_ref())) {
            let shown = old.filter(|_| write.returning() == Returning::Old);
            return Err(Refusal::Condition(shown.map(Box::new)));
        }
        let new = match write {
            Write::Put(put) => Some(put.item.clone()),
            Write::Update(update) => {
                let before = old.clone().unwrap_or_else(|| self.definition.key.item(&key));
                Some(update::apply(&update.actions, &before, &key)?)
            }
            Write::Delete(_) => None,
            Write::Check(_) => old.clone(),
        };
        let writes = !matches!(write, Write::Check(_));
        if writes && let Some(new) = &new {
            self.definition.check_item(new)?;
        }
        // An expired item that is read or overwritten still costs capacity.
        let stored = self.items.get(&key);
        let charge = if writes {
            WriteCost::change(&self.definition, stored, new.as_ref())?
        } else {
            WriteCost::check(stored.map_or(0, Item::size))
        };
        Ok(Effect { key, old, new, writes, charge })
    }

    pub(super) fn commit(&mut self, effect: Effect, now_ms: u64, sequence: &mut u64) {
        let Effect { key, old, new, writes, .. } = effect;
        if !writes {
            return;
        }
        if old.is_none()
            && let Some(expired) = self.items.remove(&key)
        {
            self.record(&key, Some(expired), None, true, now_ms, sequence);
        }
        if old == new {
            return;
        }
        match &new {
            Some(item) => self.items.insert(key.clone(), item.clone()),
            None => self.items.remove(&key),
        };
        self.record(&key, old, new, false, now_ms, sequence);
    }

    pub(super) fn sweep(&mut self, now_ms: u64, sequence: &mut u64) -> usize {
        let expired = |(_, item): &(&Key, &Item)| self.definition.is_expired(item, now_ms / 1000);
        let keys: Vec<Key> = self.items.iter().filter(expired).map(|(k, _)| k.clone()).collect();
        for key in &keys {
            let item = self.items.remove(key);
            self.record(key, item, None, true, now_ms, sequence);
        }
        keys.len()
    }

    fn record(
        &mut self,
        key: &Key,
        old: Option<Item>,
        new: Option<Item>,
        expired: bool,
        at_ms: u64,
        sequence: &mut u64,
    ) {
        *sequence += 1;
        if self.definition.stream {
            let sequence = Sequence::from(*sequence);
            self.changes.push(Change { sequence, at_ms, key: key.clone(), old, new, expired });
        }
    }

    pub(super) fn changes_after(&self, after: &Sequence, limit: usize) -> Vec<Change> {
        self.changes.iter().filter(|change| change.sequence > *after).take(limit).cloned().collect()
    }

    /// The cost of repeating `write` with a known token: a read of the item.
    pub(super) fn repetition(&self, write: &Write, now: u64) -> Capacity {
        let key = write.key(&self.definition);
        let item = key.and_then(|key| self.visible(&key, now));
        Capacity::read(item.map_or(0, Item::size), ReadMode::Transactional)
    }
}

/// The projected parts of `item`; all of it without a projection.
pub(super) fn projected(item: &Item, paths: &[roundtable_table::Path]) -> Item {
    if paths.is_empty() { item.clone() } else { item.project(paths) }
}
