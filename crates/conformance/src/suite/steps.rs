//! Steps shared by cases: write, read, scan, expect an error.

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use roundtable_table::{
    BatchWrite, CancelReason, Change, Condition, Error, Get, Invalid, Item, Key, Number, Put,
    Query, Result, Scan, StreamRead, StreamStart, Table, Update, Value, WriteOutput, item,
};

/// The longest wait for a change that the stream must return.
const STREAM_SECONDS_MAX: u64 = 20;

/// The item at a key of the standard table, with nothing else in it.
pub(super) fn row(partition: &str, sort: &str) -> Item {
    item! { "PK" => partition, "SK" => sort }
}

/// The item that most cases use.
pub(super) fn subject() -> Item {
    row("p", "s")
}

pub(super) const fn nothing() -> [Item; 0] {
    []
}

pub(super) fn key() -> Key {
    Key::new("p", "s")
}

pub(super) fn number(text: &str) -> Number {
    text.parse().unwrap()
}

pub(super) fn bytes(bytes: &[u8]) -> Value {
    Value::from(bytes)
}

pub(super) fn long(length: usize) -> String {
    "x".repeat(length)
}

pub(super) async fn put(table: &Table, item: Item) {
    table.put(Put::new(item)).await.unwrap();
}

pub(super) async fn put_all(table: &Table, items: impl IntoIterator<Item = Item>) {
    let items: Vec<_> = items.into_iter().collect();
    for chunk in items.chunks(25) {
        let writes = chunk.iter().cloned().map(BatchWrite::Put).collect();
        table.batch_write(writes).await.unwrap();
    }
}

pub(super) async fn update(table: &Table, update: Update) -> WriteOutput {
    table.update(update).await.unwrap()
}

pub(super) async fn get(table: &Table, key: impl Into<Key>) -> Option<Item> {
    table.get(Get::new(key).strong()).await.unwrap().item
}

/// All items of a query, page by page.
pub(super) async fn all(table: &Table, query: Query) -> Vec<Item> {
    let mut items = Vec::new();
    let mut next = query.start.clone();
    loop {
        let page = table.query(query.clone().after(next)).await.unwrap();
        items.extend(page.items);
        next = page.next;
        if next.is_none() {
            return items;
        }
    }
}

pub(super) async fn sorts(table: &Table, query: Query) -> Vec<String> {
    texts(&all(table, query).await, "SK")
}

/// The text values of an attribute.
pub(super) fn texts(items: &[Item], name: &str) -> Vec<String> {
    items.iter().map(|item| item.text(name).unwrap().to_owned()).collect()
}

/// All items of a table or index, ordered by their debug form.
pub(super) async fn everything(table: &Table, scan: Scan) -> Vec<Item> {
    let mut items = Vec::new();
    let mut next = None;
    loop {
        let page = table.scan(scan.clone().after(next)).await.unwrap();
        items.extend(page.items);
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    items.sort_by_key(|item| format!("{item:?}"));
    items
}

/// The current changes of the stream, each shard in order.
pub(super) async fn changes_now(table: &Table) -> Vec<Change> {
    let mut changes = Vec::new();
    for shard in table.stream_shards().await.unwrap() {
        let mut start = StreamStart::Oldest;
        loop {
            let read = StreamRead::new(&shard.id, start.clone()).limit(100);
            let page = table.stream_read(read).await.unwrap();
            if page.changes.is_empty() {
                break;
            }
            changes.extend(page.changes);
            start = StreamStart::After(page.next.unwrap());
        }
    }
    changes
}

/// Waits for the first `count` changes; there must be no others.
pub(super) async fn changes(table: &Table, count: usize) -> Vec<Change> {
    let look = async {
        loop {
            let changes = changes_now(table).await;
            if changes.len() >= count {
                return changes;
            }
            tokio::task::yield_now().await;
        }
    };
    let limit = Duration::from_secs(STREAM_SECONDS_MAX);
    let changes = tokio::time::timeout(limit, look).await.expect("the stream shows the changes");
    assert_eq!(changes.len(), count, "{changes:#?}");
    changes
}

/// Returns `true` if a write with `condition` succeeds on `item`, or on its absence.
pub(super) async fn holds(table: &Table, item: Option<&Item>, condition: &Condition) -> bool {
    match item {
        Some(item) => put(table, item.clone()).await,
        None => {
            table.delete(roundtable_table::Delete::new(key())).await.unwrap();
        }
    }
    let again = Put::new(item.cloned().unwrap_or_else(subject)).when(condition.clone());
    match table.put(again).await {
        Ok(_) => true,
        Err(Error::ConditionFailed { .. }) => false,
        Err(error) => panic!("{condition:?}: {error}"),
    }
}

/// Expects each condition to hold or fail on `item`.
pub(super) async fn truths<const N: usize>(
    table: &Table,
    item: Option<&Item>,
    expected: [(Condition, bool); N],
) {
    for (condition, truth) in expected {
        assert_eq!(holds(table, item, &condition).await, truth, "{condition:?} of {item:?}");
    }
}

/// Expects an invalid request; returns the error.
pub(super) fn invalid<T: Debug>(done: Result<T>) -> Invalid {
    match done {
        Err(Error::Invalid(invalid)) => invalid,
        other => panic!("expected an invalid request, got {other:?}"),
    }
}

/// Expects a failed condition; returns the item of the error.
pub(super) fn condition_failed<T: Debug>(done: Result<T>) -> Option<Item> {
    match done {
        Err(Error::ConditionFailed { item }) => item.map(|item| *item),
        other => panic!("expected a failed condition, got {other:?}"),
    }
}

/// Expects a cancelled transaction; returns the reasons.
pub(super) fn cancelled<T: Debug>(done: Result<T>) -> Vec<Option<CancelReason>> {
    match done {
        Err(Error::Cancelled { reasons }) => reasons,
        other => panic!("expected a cancelled transaction, got {other:?}"),
    }
}

/// Expects an operation to fail without changing table or stream.
pub(super) async fn without_a_trace<T>(
    table: &Table,
    attempt: impl Future<Output = Result<T>>,
) -> Result<T> {
    let before = (everything(table, Scan::new().strong()).await, changes_now(table).await);
    let done = attempt.await;
    assert!(done.is_err(), "it was to be refused");
    assert_eq!(everything(table, Scan::new().strong()).await, before.0, "the table changed");
    assert_eq!(changes_now(table).await, before.1, "the stream changed");
    done
}

/// Expects this exact error, without any change.
pub(super) async fn refused<T: Debug>(
    table: &Table,
    attempt: impl Future<Output = Result<T>>,
    expected: Invalid,
) {
    assert_eq!(invalid(without_a_trace(table, attempt).await), expected);
}

/// Expects an error that depends on the existing item, without any change; its text may be the
/// server's.
pub(super) async fn refused_by_item<T: Debug>(
    table: &Table,
    attempt: impl Future<Output = Result<T>>,
) -> Invalid {
    invalid(without_a_trace(table, attempt).await)
}
