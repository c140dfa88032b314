//! Single items: put, get, delete, and returned images.

use roundtable_table::{Delete, Error, Get, Item, Key, Path, Put, Returning, Value, exists, item};

use super::steps::{bytes, condition_failed, get, key, number, put, row, subject, update};
use crate::TestBench;

pub(super) async fn an_absent_item_is_none(bench: &TestBench) {
    let table = bench.table().await;
    assert_eq!(get(&table, key()).await, None);
    assert_eq!(table.get(Get::new(key())).await.unwrap().item, None);
}

pub(super) async fn a_put_item_reads_back_as_it_was(bench: &TestBench) {
    let table = bench.table().await;
    let item = subject().with("a", "text").with("b", 7).with("c", true);
    put(&table, item.clone()).await;
    assert_eq!(get(&table, key()).await, Some(item));
}

pub(super) async fn every_type_of_value_reads_back(bench: &TestBench) {
    let table = bench.table().await;
    let item = item! {
        "PK" => "p", "SK" => "s",
        "text" => "héllo 🎉", "empty text" => "",
        "number" => number("-12.5"), "bytes" => bytes(&[0, 255, 7]), "empty bytes" => bytes(&[]),
        "yes" => true, "no" => false, "null" => Value::Null,
        "list" => Value::L(vec![Value::from(1), Value::from("x"), Value::list(["deep"])]),
        "empty list" => Value::L(Vec::new()),
        "map" => Value::map([("a", Value::from(1)), ("b", Value::map([("c", "d")]))]),
        "empty map" => Value::map::<&str, &str>([]),
        "texts" => Value::texts(["b", "a"]), "numbers" => Value::numbers([2, 1]),
        "blobs" => Value::Bs([vec![1u8], vec![0u8]].into_iter().map(Into::into).collect()),
    };
    put(&table, item.clone()).await;
    assert_eq!(get(&table, key()).await, Some(item));
}

pub(super) async fn a_put_replaces_the_whole_item(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("a", 1).with("b", 2)).await;
    put(&table, subject().with("c", 3)).await;
    assert_eq!(get(&table, key()).await, Some(subject().with("c", 3)));
}

pub(super) async fn an_item_may_be_its_key_alone(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    assert_eq!(get(&table, key()).await, Some(subject()));
}

pub(super) async fn items_of_one_partition_are_told_apart_by_sort_key(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "1").with("n", 1)).await;
    put(&table, row("p", "2").with("n", 2)).await;
    assert_eq!(get(&table, ("p", "1")).await, Some(row("p", "1").with("n", 1)));
    assert_eq!(get(&table, ("p", "2")).await, Some(row("p", "2").with("n", 2)));
    assert_eq!(get(&table, ("q", "1")).await, None);
}

pub(super) async fn a_put_returns_the_old_item_when_asked(bench: &TestBench) {
    let table = bench.table().await;
    let first = Put::new(subject().with("n", 1)).returning(Returning::Old);
    assert_eq!(table.put(first).await.unwrap().item, None);
    let second = Put::new(subject().with("n", 2)).returning(Returning::Old);
    assert_eq!(table.put(second).await.unwrap().item, Some(subject().with("n", 1)));
}

pub(super) async fn a_put_returns_the_new_item_when_asked(bench: &TestBench) {
    let table = bench.table().await;
    let put = Put::new(subject().with("n", 1)).returning(Returning::New);
    assert_eq!(table.put(put).await.unwrap().item, Some(subject().with("n", 1)));
}

pub(super) async fn a_write_returns_nothing_unless_asked(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    assert_eq!(table.put(Put::new(subject())).await.unwrap().item, None);
    let touch = roundtable_table::Update::new(key()).set("a", 1);
    assert_eq!(update(&table, touch).await.item, None);
    assert_eq!(table.delete(Delete::new(key())).await.unwrap().item, None);
}

pub(super) async fn a_deleted_item_is_gone(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    put(&table, row("p", "other")).await;
    table.delete(Delete::new(key())).await.unwrap();
    assert_eq!(get(&table, key()).await, None);
    assert_eq!(get(&table, ("p", "other")).await, Some(row("p", "other")));
}

pub(super) async fn deleting_what_is_not_there_does_nothing(bench: &TestBench) {
    let table = bench.table().await;
    let done = table.delete(Delete::new(key()).returning(Returning::Old)).await.unwrap();
    assert_eq!(done.item, None);
}

pub(super) async fn a_delete_returns_the_old_item_when_asked(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    let done = table.delete(Delete::new(key()).returning(Returning::Old)).await.unwrap();
    assert_eq!(done.item, Some(subject().with("n", 1)));
}

pub(super) async fn a_delete_has_no_new_item_to_return(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    let done = table.delete(Delete::new(key()).returning(Returning::New)).await.unwrap();
    assert_eq!(done.item, None);
}

pub(super) async fn a_failed_condition_shows_the_item_when_asked(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    let never = || exists("never");
    let attempt = Put::new(subject()).when(never()).returning(Returning::Old);
    assert_eq!(condition_failed(table.put(attempt).await), Some(subject().with("n", 1)));
    let attempt = Delete::new(key()).when(never()).returning(Returning::Old);
    assert_eq!(condition_failed(table.delete(attempt).await), Some(subject().with("n", 1)));
    let attempt = Delete::new(key()).when(never());
    assert_eq!(condition_failed(table.delete(attempt).await), None);
}

pub(super) async fn a_failed_condition_of_an_absent_item_shows_none(bench: &TestBench) {
    let table = bench.table().await;
    let attempt = Put::new(subject()).when(exists("PK")).returning(Returning::Old);
    assert_eq!(condition_failed(table.put(attempt).await), None);
    assert_eq!(get(&table, key()).await, None);
}

pub(super) async fn a_get_returns_only_the_projected_attributes(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("a", 1).with("b", 2)).await;
    let found = table.get(Get::new(key()).project(["a", "missing"])).await.unwrap();
    assert_eq!(found.item, Some(item! { "a" => 1 }));
}

pub(super) async fn a_projection_reaches_into_maps_and_lists(bench: &TestBench) {
    let table = bench.table().await;
    let map = Value::map([("x", Value::from(1)), ("y", Value::map([("z", 2), ("q", 3)]))]);
    put(&table, subject().with("m", map).with("l", Value::list([10, 11, 12]))).await;
    let paths = [
        Path::new("m").field("y").field("z"),
        Path::new("l").index(0),
        Path::new("l").index(2),
        Path::new("l").index(9),
    ];
    let found = table.get(Get::new(key()).project(paths)).await.unwrap();
    let inner = Value::map([("y", Value::map([("z", 2)]))]);
    assert_eq!(found.item, Some(item! { "m" => inner, "l" => Value::list([10, 12]) }));
}

pub(super) async fn an_item_without_the_projected_attributes_is_there_and_empty(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    let found = table.get(Get::new(key()).project(["missing"])).await.unwrap();
    assert_eq!(found.item.map(|item| item.len()), Some(0));
}

pub(super) async fn attribute_names_are_taken_literally(bench: &TestBench) {
    let table = bench.table().await;
    // Dots, brackets, hashes, blanks, words of the expression language.
    let names = ["a.b", "a[0]", "#n", ":v", "a b", "size", "SELECT", "AND", "ünïcode", "1st", "-"];
    let item: Item = names.iter().fold(subject(), |item, name| item.with(*name, 1));
    put(&table, item.clone()).await;
    assert_eq!(get(&table, key()).await, Some(item));
    let found = table.get(Get::new(key()).project(names)).await.unwrap().item.unwrap();
    assert_eq!(found.len(), names.len());
    let raise = names.iter().fold(roundtable_table::Update::new(key()), |update, name| {
        update.set(*name, 2).when(exists(*name))
    });
    update(&table, raise).await;
    let found = table.get(Get::new(key()).project(names)).await.unwrap().item.unwrap();
    assert!(names.iter().all(|name| found.number(name) == Some(number("2"))), "{found:?}");
}

pub(super) async fn a_table_without_sort_key_holds_one_item_per_partition(bench: &TestBench) {
    let table = bench.keyed(roundtable_table::KeyDefinition::partition("id")).await;
    put(&table, item! { "id" => "a", "n" => 1 }).await;
    put(&table, item! { "id" => "a", "n" => 2 }).await;
    put(&table, item! { "id" => "b", "n" => 3 }).await;
    assert_eq!(get(&table, Key::single("a")).await, Some(item! { "id" => "a", "n" => 2 }));
    table.delete(Delete::new(Key::single("a"))).await.unwrap();
    assert_eq!(get(&table, Key::single("a")).await, None);
    assert_eq!(get(&table, Key::single("b")).await, Some(item! { "id" => "b", "n" => 3 }));
}

pub(super) async fn an_item_of_400_kb_fits(bench: &TestBench) {
    let table = bench.table().await;
    let item = largest();
    assert_eq!(item.size(), 400 * 1024);
    put(&table, item.clone()).await;
    assert_eq!(get(&table, key()).await, Some(item));
}

/// The subject at the size limit.
pub(super) fn largest() -> Item {
    subject().with("a", super::steps::long(400 * 1024 - subject().size() - "a".len()))
}

pub(super) async fn operations_on_a_missing_table_say_so(bench: &TestBench) {
    let table = bench.store.table_as(bench.standard());
    let missing = |error: Error| matches!(error, Error::TableNotFound { .. });
    assert!(missing(table.get(Get::new(key())).await.unwrap_err()));
    assert!(missing(table.put(Put::new(subject())).await.unwrap_err()));
    assert!(missing(table.delete(Delete::new(key())).await.unwrap_err()));
    let touch = roundtable_table::Update::new(key()).set("a", 1);
    assert!(missing(table.update(touch).await.unwrap_err()));
    assert!(missing(table.query(roundtable_table::Query::new("p")).await.unwrap_err()));
    assert!(missing(table.scan(roundtable_table::Scan::new()).await.unwrap_err()));
}
