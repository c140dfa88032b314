//! Capacity: the charges of DynamoDB, calculated by hand.

use std::sync::Arc;

use roundtable_table::{
    BatchGet, BatchWrite, Capacity, Check, Delete, Get, IndexProjection, Item, KeyDefinition,
    Merge, Put, Query, Recorder, Scan, Table, TableDefinition, TableGet, Transaction, Update,
    exists,
};

use super::steps::{key, long, put, put_all, row, subject, update};
use crate::TestBench;

/// Keys and nothing else: `PK` + `p` + `SK` + `s` are 6 bytes.
async fn plain(bench: &TestBench) -> Table {
    bench.keyed(KeyDefinition::texts("PK", "SK")).await
}

/// The subject, padded to this many bytes by an attribute `a`.
fn sized(bytes: usize) -> Item {
    padded(&subject(), bytes)
}

fn padded(item: &Item, bytes: usize) -> Item {
    let item = item.with("a", long(bytes - item.size() - 1));
    assert_eq!(item.size(), bytes);
    item
}

fn reads(halves: u64) -> Capacity {
    Capacity { read_halves: halves, write_units: 0 }
}

fn writes(units: u64) -> Capacity {
    Capacity { read_halves: 0, write_units: units }
}

async fn put_cost(table: &Table, item: Item) -> Capacity {
    table.put(Put::new(item)).await.unwrap().capacity
}

async fn get_cost(table: &Table, get: Get) -> Capacity {
    table.get(get).await.unwrap().capacity
}

pub(super) async fn a_get_costs_half_a_unit_per_4_kb(bench: &TestBench) {
    let table = plain(bench).await;
    for (bytes, halves) in [(7, 1), (4096, 1), (4097, 2), (8192, 2), (8193, 3)] {
        put(&table, sized(bytes)).await;
        assert_eq!(get_cost(&table, Get::new(key())).await, reads(halves), "{bytes} bytes");
    }
}

pub(super) async fn a_strong_get_costs_twice_that(bench: &TestBench) {
    let table = plain(bench).await;
    for (bytes, halves) in [(7, 2), (4096, 2), (4097, 4)] {
        put(&table, sized(bytes)).await;
        let get = Get::new(key()).strong();
        assert_eq!(get_cost(&table, get).await, reads(halves), "{bytes} bytes");
    }
}

pub(super) async fn a_get_of_nothing_costs_one_step(bench: &TestBench) {
    let table = plain(bench).await;
    assert_eq!(get_cost(&table, Get::new(key())).await, reads(1));
    assert_eq!(get_cost(&table, Get::new(key()).strong()).await, reads(2));
}

pub(super) async fn a_projection_saves_nothing(bench: &TestBench) {
    let table = plain(bench).await;
    put(&table, sized(9000)).await;
    assert_eq!(get_cost(&table, Get::new(key()).project(["SK"])).await, reads(3));
}

pub(super) async fn a_transactional_get_costs_four_halves(bench: &TestBench) {
    let table = plain(bench).await;
    put(&table, sized(5000)).await;
    let read =
        |sort: &str| TableGet { table: table.definition().clone(), get: Get::new(("p", sort)) };
    let found = bench.store.transact_get(vec![read("s"), read("missing")]).await.unwrap();
    assert_eq!(found.capacity, reads(2 * 4 + 4));
}

pub(super) async fn a_batch_read_rounds_each_item(bench: &TestBench) {
    let table = plain(bench).await;
    put(&table, padded(&row("p", "1"), 4096)).await;
    put(&table, padded(&row("p", "2"), 4097)).await;
    let batch = BatchGet::new([("p", "1"), ("p", "2")]);
    assert_eq!(table.batch_get(batch.clone()).await.unwrap().capacity, reads(1 + 2));
    assert_eq!(table.batch_get(batch.strong()).await.unwrap().capacity, reads(2 + 4));
}

async fn ten_of_1000_bytes(bench: &TestBench) -> Table {
    let table = plain(bench).await;
    put_all(&table, (0..10).map(|at| padded(&row("p", &at.to_string()), 1000))).await;
    table
}

pub(super) async fn a_query_rounds_the_sum(bench: &TestBench) {
    let table = ten_of_1000_bytes(bench).await;
    let page = table.query(Query::new("p")).await.unwrap();
    assert_eq!(page.capacity, reads(3), "10,000 bytes are three times 4 KB");
    let page = table.query(Query::new("p").strong()).await.unwrap();
    assert_eq!(page.capacity, reads(6));
}

pub(super) async fn a_query_pays_for_what_it_looked_at(bench: &TestBench) {
    let table = ten_of_1000_bytes(bench).await;
    let page = table.query(Query::new("p").limit(4)).await.unwrap();
    assert_eq!(page.capacity, reads(1), "4,000 bytes");
    let page = table.query(Query::new("p").limit(5)).await.unwrap();
    assert_eq!(page.capacity, reads(2), "5,000 bytes");
    let page = table.query(Query::new("p").begins_with("7")).await.unwrap();
    assert_eq!(page.capacity, reads(1));
}

pub(super) async fn a_filter_saves_nothing(bench: &TestBench) {
    let table = ten_of_1000_bytes(bench).await;
    let page = table.query(Query::new("p").filter(exists("never"))).await.unwrap();
    assert_eq!((page.items.len(), page.capacity), (0, reads(3)));
    let page = table.query(Query::new("p").project(["SK"])).await.unwrap();
    assert_eq!(page.capacity, reads(3));
}

pub(super) async fn a_query_that_finds_nothing_costs_one_step(bench: &TestBench) {
    let table = plain(bench).await;
    let page = table.query(Query::new("p")).await.unwrap();
    assert_eq!(page.capacity, reads(1));
}

pub(super) async fn a_scan_rounds_the_sum(bench: &TestBench) {
    let table = ten_of_1000_bytes(bench).await;
    assert_eq!(table.scan(Scan::new()).await.unwrap().capacity, reads(3));
    assert_eq!(table.scan(Scan::new().strong()).await.unwrap().capacity, reads(6));
}

pub(super) async fn a_merge_costs_at_least_its_items(bench: &TestBench) {
    let table = plain(bench).await;
    put_all(&table, (0..10).map(|at| padded(&row("a", &at.to_string()), 4096))).await;
    put_all(&table, (0..10).map(|at| padded(&row("b", &at.to_string()), 4096))).await;
    let page = table.merge(Merge::newest(["a", "b"], 6)).await.unwrap();
    assert!((6..=20).contains(&page.capacity.read_halves), "{:?}", page.capacity);
    assert_eq!(page.capacity.write_units, 0);
}

pub(super) async fn a_put_costs_a_unit_per_kb(bench: &TestBench) {
    let table = plain(bench).await;
    let sizes = [(7, 1), (1024, 1), (1025, 2), (2048, 2), (400 * 1024, 400)];
    for (bytes, units) in sizes {
        assert_eq!(put_cost(&table, sized(bytes)).await, writes(units), "{bytes} bytes");
    }
}

pub(super) async fn a_write_pays_for_the_larger_image(bench: &TestBench) {
    let table = plain(bench).await;
    put(&table, sized(3000)).await;
    assert_eq!(put_cost(&table, sized(100)).await, writes(3));
    assert_eq!(put_cost(&table, sized(100)).await, writes(1));
}

pub(super) async fn an_update_pays_for_the_whole_item(bench: &TestBench) {
    let table = plain(bench).await;
    put(&table, sized(3000)).await;
    let touch = Update::new(key()).set("n", 1);
    assert_eq!(update(&table, touch).await.capacity, writes(3));
    let shrink = Update::new(key()).remove("a");
    assert_eq!(update(&table, shrink).await.capacity, writes(3));
    let touch = Update::new(key()).set("n", 2);
    assert_eq!(update(&table, touch).await.capacity, writes(1));
}

pub(super) async fn a_delete_pays_for_what_it_removes(bench: &TestBench) {
    let table = plain(bench).await;
    put(&table, sized(2500)).await;
    assert_eq!(table.delete(Delete::new(key())).await.unwrap().capacity, writes(3));
    assert_eq!(table.delete(Delete::new(key())).await.unwrap().capacity, writes(1));
}

pub(super) async fn a_batch_write_costs_the_sum(bench: &TestBench) {
    let table = plain(bench).await;
    put(&table, padded(&row("p", "old"), 1500)).await;
    let batch = vec![
        BatchWrite::Put(padded(&row("p", "1"), 1024)),
        BatchWrite::Put(padded(&row("p", "2"), 1025)),
        BatchWrite::Delete(("p", "old").into()),
    ];
    assert_eq!(table.batch_write(batch).await.unwrap(), writes(1 + 2 + 2));
}

pub(super) async fn a_transaction_costs_twice(bench: &TestBench) {
    let table = plain(bench).await;
    let transaction = Transaction::new()
        .with(&table, Put::new(padded(&row("p", "1"), 1024)))
        .with(&table, Put::new(padded(&row("p", "2"), 1025)));
    assert_eq!(bench.store.transact(transaction).await.unwrap(), writes(2 * (1 + 2)));
}

/// As measured on Amazon's service: a transaction doubles the table's part only.
pub(super) async fn a_transaction_pays_for_indexes_once(bench: &TestBench) {
    let table = indexed(bench).await;
    let transaction = Transaction::new().with(&table, Put::new(entry(3000)));
    assert_eq!(bench.store.transact(transaction).await.unwrap(), writes(2 * 3 + 3 + 1));
}

pub(super) async fn a_check_costs_what_a_write_does(bench: &TestBench) {
    let table = plain(bench).await;
    put(&table, sized(1500)).await;
    let transaction = Transaction::new().with(&table, Check::new(key(), exists("PK")));
    assert_eq!(bench.store.transact(transaction).await.unwrap(), writes(2 * 2));
}

/// A table with an index of everything and one of keys only, both by the same attribute.
async fn indexed(bench: &TestBench) -> Table {
    let definition = TableDefinition::new(bench.name(), KeyDefinition::texts("PK", "SK"))
        .with_index("whole", KeyDefinition::partition("g"))
        .with_index_of("keys", KeyDefinition::partition("g"), IndexProjection::KeysOnly);
    bench.table_of(definition).await
}

fn entry(bytes: usize) -> Item {
    padded(&subject().with("g", "x"), bytes)
}

pub(super) async fn an_item_outside_all_indexes_pays_for_none(bench: &TestBench) {
    let table = indexed(bench).await;
    assert_eq!(put_cost(&table, sized(100)).await, writes(1));
}

pub(super) async fn each_index_costs_a_write_of_its_projection(bench: &TestBench) {
    let table = indexed(bench).await;
    assert_eq!(put_cost(&table, entry(3000)).await, writes(3 + 3 + 1));
}

pub(super) async fn an_unchanged_projection_costs_nothing(bench: &TestBench) {
    let table = indexed(bench).await;
    put(&table, entry(100)).await;
    let touch = Update::new(key()).set("n", 1);
    assert_eq!(update(&table, touch).await.capacity, writes(1 + 1), "the keys stay as they are");
}

pub(super) async fn a_moved_index_entry_costs_two_writes(bench: &TestBench) {
    let table = indexed(bench).await;
    put(&table, entry(2000)).await;
    let step = Update::new(key()).set("g", "y");
    assert_eq!(update(&table, step).await.capacity, writes(2 + (2 + 2) + (1 + 1)));
}

pub(super) async fn leaving_an_index_costs_a_write(bench: &TestBench) {
    let table = indexed(bench).await;
    put(&table, entry(2000)).await;
    let leave = Update::new(key()).remove("g");
    assert_eq!(update(&table, leave).await.capacity, writes(2 + 2 + 1));
}

pub(super) async fn a_deleted_item_pays_for_its_indexes(bench: &TestBench) {
    let table = indexed(bench).await;
    put(&table, entry(2000)).await;
    assert_eq!(table.delete(Delete::new(key())).await.unwrap().capacity, writes(2 + 2 + 1));
}

pub(super) async fn a_query_of_an_index_pays_for_its_projection(bench: &TestBench) {
    let table = indexed(bench).await;
    put(&table, entry(9000)).await;
    let page = table.query(Query::new("x").index("whole")).await.unwrap();
    assert_eq!(page.capacity, reads(3));
    let page = table.query(Query::new("x").index("keys")).await.unwrap();
    assert_eq!(page.capacity, reads(1));
}

pub(super) async fn observers_are_told_of_every_operation(bench: &TestBench) {
    let recorder = Arc::new(Recorder::default());
    let made = plain(bench).await;
    let store = bench.store.observed(recorder.clone());
    let table = store.table_as(made.definition().clone());
    put(&table, sized(2000)).await;
    table.for_pattern("one subject").get(Get::new(key())).await.unwrap();
    table.query(Query::new("p")).await.unwrap();
    let failed = table.put(Put::new(subject()).when(exists("never"))).await;
    assert!(failed.is_err());
    let told = recorder.take();
    let seen: Vec<_> = told
        .iter()
        .map(|operation| (operation.name, operation.pattern, operation.items, operation.succeeded))
        .collect();
    let expected = [
        ("put", None, 1, true),
        ("get", Some("one subject"), 1, true),
        ("query", None, 1, true),
        ("put", None, 0, false),
    ];
    assert_eq!(seen, expected);
    assert_eq!(told[0].capacity, writes(2));
    assert_eq!(told[1].capacity, reads(1));
    assert!(told.iter().all(|operation| operation.table == made.definition().name));
}
