//! Invariants of an idle engine: its items, indexes and stream agree.

use std::collections::BTreeMap;

use roundtable_table::{
    Item, Key, KeyDefinition, Scan, Sequence, StreamRead, StreamStart, Table, TableDefinition,
};

/// The items of a table, by formatted key.
pub(crate) type Rows = BTreeMap<String, Item>;

/// A table with an index, expiry and a stream.
pub(crate) fn definition(name: &str) -> TableDefinition {
    TableDefinition::new(name, KeyDefinition::texts("PK", "SK"))
        .with_index("GSI1", KeyDefinition::texts("GSI1PK", "GSI1SK"))
        .with_ttl("ttl")
        .with_stream()
}

/// Scans the whole table or index.
pub(crate) async fn scan(table: &Table, index: Option<&str>) -> Rows {
    let mut rows = Rows::new();
    let mut start = None;
    loop {
        let mut scan = Scan::new().limit(100).after(start);
        scan.index = index.map(str::to_owned);
        let page = table.scan(scan).await.unwrap();
        for item in page.items {
            let key = table.definition().key.read(&item).unwrap();
            assert!(rows.insert(key.to_string(), item).is_none(), "{key} came twice");
        }
        start = page.next;
        if start.is_none() {
            return rows;
        }
    }
}

/// Folds the stream's changes into the last image of each key, checking that each old image equals the
/// new image before it.
pub(crate) async fn fold(table: &Table) -> BTreeMap<String, Option<Item>> {
    let shard = table.stream_shards().await.unwrap()[0].id.clone();
    let mut state: BTreeMap<String, Option<Item>> = BTreeMap::new();
    let mut start = StreamStart::Oldest;
    let mut last: Option<Sequence> = None;
    loop {
        let read = StreamRead::new(shard.clone(), start).limit(100);
        let page = table.stream_read(read).await.unwrap();
        if page.changes.is_empty() && page.next == last {
            return state;
        }
        for change in page.changes {
            assert!(last.as_ref().is_none_or(|last| *last < change.sequence), "out of order");
            last = Some(change.sequence.clone());
            let before = state.insert(change.key.to_string(), change.new.clone());
            assert!(
                before.is_none_or(|before| before == change.old),
                "the old image of change {:?} of {} is not the image before it",
                change.sequence,
                change.key
            );
        }
        last.clone_from(&page.next);
        start = page.next.map_or(StreamStart::Oldest, StreamStart::After);
    }
}

/// Checks that items, indexes and stream agree; returns the items.
pub(crate) async fn agree(table: &Table, now_seconds: u64) -> Rows {
    let base = scan(table, None).await;
    let indexed = |item: &Item| item.text("GSI1PK").is_some() && item.text("GSI1SK").is_some();
    let expected: Rows = base
        .iter()
        .filter(|(_, item)| indexed(item))
        .map(|(key, item)| (key.clone(), item.clone()))
        .collect();
    assert_eq!(scan(table, Some("GSI1")).await, expected, "the index differs from the items");
    for (key, item) in fold(table).await {
        let live = item.filter(|item| !table.definition().is_expired(item, now_seconds));
        assert_eq!(base.get(&key), live.as_ref(), "{key} differs from the stream");
    }
    base
}

/// Formats a key as in [`Rows`].
pub(crate) fn key(partition: &str, sort: &str) -> String {
    Key::new(partition, sort).to_string()
}
