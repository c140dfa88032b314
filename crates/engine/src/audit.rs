//! Checks an open data directory: checksums, indexes against items, stream against both.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use roundtable_table::{Item, Order, Result};

use crate::catalog::TableEntry;
use crate::evaluate;
use crate::keys::{self, KeyRange};
use crate::record::ItemChange;
use crate::shared::SharedState;
use crate::view::Snapshot;

const FINDINGS_MAX: usize = 100;

pub(crate) fn audit(shared: &SharedState) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let tables: Vec<Arc<TableEntry>> = shared.catalog.read().tables().cloned().collect();
    // The checked part of the log must not be trimmed meanwhile.
    let (_pin, _) = shared.log.pin();
    let snapshot = shared.view.snapshot()?;
    for entry in &tables {
        check_items(&snapshot, entry, &mut findings)?;
        check_entries(&snapshot, entry, &mut findings)?;
    }
    check_stream(shared, &snapshot, &mut findings)?;
    findings.truncate(FINDINGS_MAX);
    Ok(findings)
}

/// Checks that every item has the index entries derived from it.
fn check_items(
    snapshot: &Snapshot<'_>,
    entry: &TableEntry,
    findings: &mut Vec<String>,
) -> Result<()> {
    let range = KeyRange::of_prefix(keys::prefix(entry.number, keys::ITEMS));
    // An order that is still being completed lacks earlier items.
    let order = keys::prefix(entry.number, keys::ORDER);
    let mut cursor = snapshot.walk(&range, Order::Ascending, usize::MAX)?;
    while let Some(found) = cursor.step()? {
        let key = Bytes::copy_from_slice(found.key());
        let Some(item) = Item::from_stored(found.into_value()) else {
            findings.push(format!("{key:?} is too short to be an item"));
            continue;
        };
        let change = ItemChange { table: entry.number, old: None, new: Some(item), expired: false };
        let mut derived = Vec::new();
        evaluate::derive(entry, &change, 0, &mut derived);
        for write in derived {
            let stored = snapshot.get(&write.key)?;
            if write.key == key || (!entry.is_ordered && write.key.starts_with(&order)) {
                continue;
            }
            let has_entry =
                stored.and_then(|value| keys::item_key_of_entry(&write.key, &value)) == write.value;
            if !has_entry {
                findings.push(format!("item {key:?} lacks its index entry {:?}", write.key));
            }
        }
        if evaluate_key(entry, &change) != Some(key.clone()) {
            findings.push(format!("item {key:?} is stored under a key that is not its own"));
        }
    }
    Ok(())
}

fn evaluate_key(entry: &TableEntry, change: &ItemChange) -> Option<Bytes> {
    keys::item_key_of(entry.number, &entry.definition.key, change.new.as_ref()?)
}

/// Checks that every index entry is derived from its item.
fn check_entries(
    snapshot: &Snapshot<'_>,
    entry: &TableEntry,
    findings: &mut Vec<String>,
) -> Result<()> {
    let [_, range] = keys::table_ranges(entry.number);
    let mut cursor = snapshot.walk(&range, Order::Ascending, usize::MAX)?;
    while let Some(found) = cursor.step()? {
        let key = Bytes::copy_from_slice(found.key());
        let item_key = keys::item_key_of_entry(found.key(), found.value());
        let item = item_key.map(|key| snapshot.get(&key)).transpose()?.flatten();
        let Some(item) = item.and_then(Item::from_stored) else {
            findings.push(format!("index entry {key:?} has no item"));
            continue;
        };
        let change = ItemChange { table: entry.number, old: None, new: Some(item), expired: false };
        let mut derived = Vec::new();
        evaluate::derive(entry, &change, 0, &mut derived);
        if !derived.iter().any(|write| write.key == key) {
            findings.push(format!("index entry {key:?} does not match its item"));
        }
    }
    Ok(())
}

/// Checks that the stream has no gaps, that its images chain, and that the last image of each key is
/// the stored item.
fn check_stream(
    shared: &SharedState,
    snapshot: &Snapshot<'_>,
    findings: &mut Vec<String>,
) -> Result<()> {
    let catalog = Arc::clone(&shared.catalog.read());
    // Hashes, since the log may be far larger than memory.
    let mut latest: BTreeMap<Bytes, Option<blake3::Hash>> = BTreeMap::new();
    let mut expected = None;
    shared.log.read_after(shared.log.oldest().saturating_sub(1), &mut |record| {
        if record.first > snapshot.sequence() {
            return false;
        }
        if expected.is_some_and(|expected| expected != record.first) {
            findings.push(format!("the stream has a gap before sequence {}", record.first));
        }
        expected = Some(record.last() + 1);
        for (sequence, change) in (record.first..).zip(record.changes) {
            let Some(entry) = catalog.by_number(change.table) else { continue };
            let image = change.new.as_ref().or(change.old.as_ref());
            let key =
                image.and_then(|item| keys::item_key_of(entry.number, &entry.definition.key, item));
            let Some(key) = key else {
                findings.push(format!("change {sequence} has no key"));
                continue;
            };
            if change.old == change.new {
                findings.push(format!("change {sequence} changes nothing"));
            }
            if latest.get(&key).is_some_and(|previous| *previous != change.old.as_ref().map(digest))
            {
                findings.push(format!(
                    "the old image of change {sequence} of {key:?} is not the image before it"
                ));
            }
            latest.insert(key, change.new.as_ref().map(digest));
        }
        findings.len() < FINDINGS_MAX
    })?;
    for (key, image) in latest {
        let stored = snapshot.get(&key)?.and_then(Item::from_stored);
        if stored.as_ref().map(digest) != image {
            findings.push(format!("item {key:?} differs from its last image in the stream"));
        }
    }
    Ok(())
}

fn digest(item: &Item) -> blake3::Hash {
    blake3::hash(item.as_stored())
}
