//! Evaluates writes as pure functions, so that the writer thread, replay and tests agree.

use bytes::Bytes;
use roundtable_table::{Invalid, Item, Key, Returning, TableDefinition, Write, WriteCost, update};

use crate::catalog::TableEntry;
use crate::keys;
use crate::memtable::RunWrite;
use crate::record::ItemChange;

/// The effect of a write.
#[derive(Debug)]
pub(crate) struct WriteEffect {
    /// At most two: the removal of an expired item, and the change itself.
    pub(crate) changes: Vec<ItemChange>,
    pub(crate) after: Option<Item>,
    pub(crate) returned: Option<Item>,
    pub(crate) cost: WriteCost,
}

#[derive(Debug)]
pub(crate) enum WriteRejection {
    /// The condition did not hold; with the item, if the write returns it.
    Condition(Option<Item>),
    /// The resulting item would be invalid.
    Invalid(Invalid),
}

impl From<Invalid> for WriteRejection {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

/// Evaluates `write` against the item `stored` under its key.
pub(crate) fn evaluate(
    entry: &TableEntry,
    stored: Option<Item>,
    write: &Write,
    now_seconds: u64,
) -> Result<WriteEffect, WriteRejection> {
    let definition = &entry.definition;
    let (expired, live) = match stored {
        Some(item) if definition.is_expired(&item, now_seconds) => (Some(item), None),
        other => (None, other),
    };
    if write.condition().is_some_and(|condition| !condition.holds(live.as_ref())) {
        return Err(WriteRejection::Condition(
            live.filter(|_| write.returning() == Returning::Old),
        ));
    }
    let after = match write {
        Write::Put(put) => Some(put.item.clone()),
        Write::Delete(_) => None,
        Write::Check(_) => {
            let stored = live.as_ref().or(expired.as_ref());
            let cost = WriteCost::check(stored.map_or(0, Item::size));
            return Ok(WriteEffect { changes: Vec::new(), after: live, returned: None, cost });
        }
        Write::Update(update) => {
            let before = live.clone().unwrap_or_else(|| definition.key.item(&update.key));
            let after = update::apply(&update.actions, &before, &update.key)?;
            definition.check_item(&after)?;
            Some(after)
        }
    };
    // On DynamoDB an expired item exists, and costs, until it is removed.
    let stored = live.as_ref().or(expired.as_ref());
    let cost = WriteCost::change(definition, stored, after.as_ref())?;
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
    Ok(WriteEffect { changes, after, returned, cost })
}

/// Returns the removal of an expired item.
pub(crate) fn expiry(table: u16, item: Item) -> ItemChange {
    ItemChange { table, old: Some(item), new: None, expired: true }
}

/// Returns the key of a write; checked requests always have one.
pub(crate) fn key_of(definition: &TableDefinition, write: &Write) -> Result<Key, Invalid> {
    write.key(definition).ok_or_else(|| Invalid::KeyMissing {
        attribute: definition.key.partition.name.clone(),
        key: String::from("of the item written"),
    })
}

/// Appends the run writes of a change: the item, and the index entries that are added, moved or
/// removed. An overwrite that does not change an index key does not touch that index.
pub(crate) fn derive(
    entry: &TableEntry,
    change: &ItemChange,
    sequence: u64,
    out: &mut Vec<RunWrite>,
) {
    let TableEntry { number, definition, .. } = entry;
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
    if definition.order.is_some() {
        let place = |item: &Item| keys::order_key_of(*number, definition, item, &key);
        entry_moves(old.and_then(place), new.and_then(place));
    }
    if definition.ttl.is_some() {
        let expires =
            |item: &Item| Some(keys::expiry_key(*number, definition.expires_at(item)?, &key));
        entry_moves(old.and_then(expires), new.and_then(expires));
    }
    push(key.clone(), change.new.as_ref().map(|item| item.as_stored().clone()));
}
