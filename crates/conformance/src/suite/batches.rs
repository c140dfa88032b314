//! Batches: many keys read or written in one request, each for itself.

use roundtable_table::{
    BatchGet, BatchWrite, Invalid, Key, KeyDefinition, Limit, Path, Put, Value, exists, item,
};

use super::steps::{
    condition_failed, get, invalid, key, long, put, put_all, refused, row, subject,
};
use crate::TestBench;

fn sort(at: usize) -> String {
    format!("{at:03}")
}

pub(super) async fn a_batch_read_answers_in_the_order_asked(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, (0..20).map(|at| row("p", &sort(at)).with("a", sort(at)))).await;
    let order = [7, 3, 19, 0, 11];
    let batch = BatchGet::new(order.map(|at| ("p", sort(at)))).strong();
    let found = table.batch_get(batch).await.unwrap().items;
    let expected = order.map(|at| Some(row("p", &sort(at)).with("a", sort(at))));
    assert_eq!(found, expected);
}

pub(super) async fn a_batch_read_leaves_gaps_for_what_is_missing(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "1")).await;
    let batch = BatchGet::new([("p", "0"), ("p", "1"), ("q", "1")]).strong();
    let found = table.batch_get(batch).await.unwrap().items;
    assert_eq!(found, [None, Some(row("p", "1")), None]);
}

pub(super) async fn a_batch_read_takes_a_hundred_keys(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, (0..100).map(|at| row("p", &sort(at)))).await;
    let batch = BatchGet::new((0..100).rev().map(|at| ("p", sort(at)))).strong();
    let found = table.batch_get(batch).await.unwrap().items;
    let expected: Vec<_> = (0..100).rev().map(|at| Some(row("p", &sort(at)))).collect();
    assert_eq!(found, expected);
}

pub(super) async fn a_batch_read_of_large_items_is_complete(bench: &TestBench) {
    let table = bench.table().await;
    // Together more than the 16 MB that DynamoDB answers in one go.
    for at in 0..50 {
        put(&table, row("p", &sort(at)).with("a", long(380 * 1024))).await;
    }
    let batch = BatchGet::new((0..50).map(|at| ("p", sort(at)))).strong();
    let found = table.batch_get(batch).await.unwrap().items;
    assert_eq!(found.iter().flatten().count(), 50);
}

pub(super) async fn a_batch_read_returns_only_the_projected_parts(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "1").with("m", Value::map([("x", 1), ("y", 2)]))).await;
    put(&table, row("p", "2").with("a", 1)).await;
    let paths = [Path::new("m").field("x"), Path::new("SK")];
    let batch = BatchGet::new([("p", "2"), ("p", "1"), ("p", "3")]).project(paths).strong();
    let found = table.batch_get(batch).await.unwrap().items;
    let first = item! { "SK" => "1", "m" => Value::map([("x", 1)]) };
    assert_eq!(found, [Some(item! { "SK" => "2" }), Some(first), None]);
}

pub(super) async fn a_projection_without_the_key_still_answers_in_order(bench: &TestBench) {
    let table = bench.table().await;
    for at in 0..5 {
        put(&table, row("p", &sort(at)).with("n", u32::try_from(at).unwrap())).await;
    }
    let batch = BatchGet::new([3, 9, 1].map(|at| ("p", sort(at)))).project(["n"]).strong();
    let found = table.batch_get(batch).await.unwrap().items;
    assert_eq!(found, [Some(item! { "n" => 3 }), None, Some(item! { "n" => 1 })]);
}

pub(super) async fn a_batch_read_of_a_table_without_sort_key(bench: &TestBench) {
    let table = bench.keyed(KeyDefinition::partition("id")).await;
    put(&table, item! { "id" => "b" }).await;
    let batch = BatchGet::new(["a", "b"].map(Key::single)).strong();
    assert_eq!(table.batch_get(batch).await.unwrap().items, [None, Some(item! { "id" => "b" })]);
}

pub(super) async fn a_batch_read_of_101_keys_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let batch = BatchGet::new((0..101).map(|at| ("p", sort(at))));
    let expected = Invalid::OverLimit {
        limit: Limit::BatchGetKeys,
        actual: 101,
        max: 100,
        subject: table.definition().name.clone(),
    };
    assert_eq!(invalid(table.batch_get(batch).await), expected);
}

pub(super) async fn a_batch_read_of_one_key_twice_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let batch = BatchGet::new([("p", "1"), ("p", "2"), ("p", "1")]);
    let expected = Invalid::DuplicateItem { key: Key::new("p", "1").to_string() };
    assert_eq!(invalid(table.batch_get(batch).await), expected);
}

pub(super) async fn an_empty_batch_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let error = invalid(table.batch_get(BatchGet::default()).await);
    assert!(matches!(error, Invalid::EmptyRequest { .. }));
    let error = invalid(table.batch_write(Vec::new()).await);
    assert!(matches!(error, Invalid::EmptyRequest { .. }));
}

pub(super) async fn a_batch_puts_and_deletes(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, [row("p", "1").with("old", 1), row("p", "2")]).await;
    let writes = vec![
        BatchWrite::Put(row("p", "1").with("new", 1)),
        BatchWrite::Delete(Key::new("p", "2")),
        BatchWrite::Delete(Key::new("p", "never")),
        BatchWrite::Put(row("p", "3")),
    ];
    table.batch_write(writes).await.unwrap();
    assert_eq!(get(&table, ("p", "1")).await, Some(row("p", "1").with("new", 1)));
    assert_eq!(get(&table, ("p", "2")).await, None);
    assert_eq!(get(&table, ("p", "3")).await, Some(row("p", "3")));
}

pub(super) async fn a_batch_takes_25_writes(bench: &TestBench) {
    let table = bench.table().await;
    let writes = (0..25).map(|at| BatchWrite::Put(row("p", &sort(at)))).collect();
    table.batch_write(writes).await.unwrap();
    assert_eq!(
        super::steps::sorts(&table, roundtable_table::Query::new("p").strong()).await.len(),
        25
    );
}

pub(super) async fn a_batch_of_26_writes_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let writes = (0..26).map(|at| BatchWrite::Put(row("p", &sort(at)))).collect();
    let expected = Invalid::OverLimit {
        limit: Limit::BatchWriteItems,
        actual: 26,
        max: 25,
        subject: table.definition().name.clone(),
    };
    refused(&table, table.batch_write(writes), expected).await;
}

pub(super) async fn a_batch_with_one_item_twice_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let writes = vec![BatchWrite::Put(subject()), BatchWrite::Delete(key())];
    let expected = Invalid::DuplicateItem { key: key().to_string() };
    refused(&table, table.batch_write(writes), expected).await;
}

pub(super) async fn a_batch_with_one_bad_write_does_nothing(bench: &TestBench) {
    let table = bench.table().await;
    let writes = vec![BatchWrite::Put(subject()), BatchWrite::Put(row("p", ""))];
    let expected = Invalid::KeyEmpty { attribute: "SK".into(), key: Key::new("p", "").to_string() };
    refused(&table, table.batch_write(writes), expected).await;
}

pub(super) async fn a_batch_keeps_indexes_up(bench: &TestBench) {
    let table = bench.table().await;
    let items = (0..3).map(|at| row("p", &sort(at)).with("GSI1PK", "g").with("GSI1SK", sort(at)));
    put_all(&table, items).await;
    let writes =
        vec![BatchWrite::Delete(Key::new("p", sort(1))), BatchWrite::Put(row("p", &sort(2)))];
    table.batch_write(writes).await.unwrap();
    let query = roundtable_table::Query::new("g").index("GSI1");
    assert_eq!(super::steps::sorts(&table, query).await, [sort(0)]);
}

pub(super) async fn a_batch_of_large_items_is_written_whole(bench: &TestBench) {
    let table = bench.table().await;
    let writes = (0..25).map(|at| BatchWrite::Put(row("p", &sort(at)).with("a", long(300 * 1024))));
    table.batch_write(writes.collect()).await.unwrap();
    for at in 0..25 {
        condition_failed(table.put(Put::new(row("p", &sort(at))).when(exists("a").negate())).await);
    }
}
