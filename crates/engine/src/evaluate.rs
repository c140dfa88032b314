//! What a write does to an item: pure, so that the writer thread, replay and tests agree.

use bytes::Bytes;
use roundtable_table::{Charge, Invalid, Item, Key, Returning, TableDefinition, Write, update};

use crate::catalog::Entry;
use crate::keys;
use crate::memtable::RunWrite;
use crate::record::ItemChange;

/// What a write did, or would do.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// At most two: the removal of an expired item, and the change itself.
    pub(crate) changes: Vec<ItemChange>,
    /// The item after it.
    pub(crate) after: Option<Item>,
    /// The image asked for.
    pub(crate) returned: Option<Item>,
    pub(crate) charge: Charge,
}

/// Why a write was refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Its condition did not hold; with the item, if that was asked for.
    Condition(Option<Item>),
    /// It would leave an item that may not be.
    Invalid(Invalid),
}

impl From<Invalid> for Refusal {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

/// Works out what `write` does to the item `stored` under its key.
pub(crate) fn evaluate(
    entry: &Entry,
    stored: Option<Item>,
    write: &Write,
    now_seconds: u64,
) -> Result<Outcome, Refusal> {
    let definition = &entry.definition;
    let (expired, live) = match stored {
        Some(item) if definition.is_expired(&item, now_seconds) => (Some(item), None),
        other => (None, other),
    };
    if write.condition().is_some_and(|condition| !condition.holds(live.as_ref())) {
        return Err(Refusal::Condition(live.filter(|_| write.returning() == Returning::Old)));
    }
    let after = match write {
        Write::Put(put) => Some(put.item.clone()),
        Write::Delete(_) => None,
        Write::Check(_) => {
            let stored = live.as_ref().or(expired.as_ref());
            let charge = Charge::check(stored.map_or(0, Item::size));
            return Ok(Outcome { changes: Vec::new(), after: live, returned: None, charge });
        }
        Write::Update(update) => {
            let before = live.clone().unwrap_or_else(|| definition.key.item(&update.key));
            let after = update::apply(&update.actions, &before, &update.key)?;
            definition.check_item(&after)?;
            Some(after)
        }
    };
    // On DynamoDB an expired item is there, and paid for, until it is removed.
    let stored = live.as_ref().or(expired.as_ref());
    let charge = Charge::change(definition, stored, after.as_ref())?;
    let returned = match write.returning() {
        Returning::Nothing => None,
        Returning::Old => live.clone(),
        Returning::New => after.clone(),
    };
    let table = entry.number;
    let removal = expired.map(|item| expiry(table, item));
    let change = (live != after).then(|| ItemChange {
        table,
        old: live,
        new: after.clone(),
        expired: false,
    });
    let changes = removal.into_iter().chain(change).collect();
    Ok(Outcome { changes, after, returned, charge })
}

/// The removal of an item whose time is over.
pub(crate) fn expiry(table: u16, item: Item) -> ItemChange {
    ItemChange { table, old: Some(item), new: None, expired: true }
}

/// The key a write goes to; checked requests always have one.
pub(crate) fn key_of(definition: &TableDefinition, write: &Write) -> Result<Key, Invalid> {
    write.key(definition).ok_or_else(|| Invalid::KeyMissing {
        attribute: definition.key.partition.name.clone(),
        key: String::from("of the item written"),
    })
}

/// Appends what a change writes to the runs: the item, and the index entries that appear, move or
/// go. An overwrite that leaves an index key as it was touches no index.
pub(crate) fn derive(entry: &Entry, change: &ItemChange, sequence: u64, out: &mut Vec<RunWrite>) {
    let Entry { number, definition } = entry;
    let image = change.new.as_ref().or(change.old.as_ref());
    let Some(key) = image.and_then(|item| keys::item_key_of(*number, &definition.key, item)) else {
        return;
    };
    let mut push = |key: Bytes, value: Option<Bytes>| out.push(RunWrite { key, value, sequence });
    let mut entry_moves = |old: Option<Bytes>, new: Option<Bytes>| {
        if old == new {
            return;
        }
        if let Some(old) = old {
            push(old, None);
        }
        if let Some(new) = new {
            push(new, Some(key.clone()));
        }
    };
    let (old, new) = (change.old.as_ref(), change.new.as_ref());
    for (position, index) in definition.indexes.iter().enumerate() {
        let space = keys::index_space(position);
        let entry_key = |item: &Item| keys::entry_key_of(*number, space, index, item, &key);
        entry_moves(old.and_then(entry_key), new.and_then(entry_key));
    }
    if definition.ttl.is_some() {
        let expires =
            |item: &Item| Some(keys::expiry_key(*number, definition.expires_at(item)?, &key));
        entry_moves(old.and_then(expires), new.and_then(expires));
    }
    push(key.clone(), change.new.as_ref().map(|item| item.as_stored().clone()));
}
