//! Expiry: from the second of its ttl on, an item is gone for every read and every condition.

use roundtable_table::{
    BatchGet, Change, ChangeKind, Check, Clock, Delete, Get, Item, Merge, Put, Query, Returning,
    Scan, Table, TableDefinition, TableGet, Transaction, Update, Value, attribute, exists, item,
    not_exists,
};

use super::steps::{
    all, cancelled, changes_now, condition_failed, everything, get, key, nothing, number, put,
    put_all, row, sorts, subject, texts, update,
};
use crate::TestBench;

/// The time until items expire; far beyond a server's own clock.
const LIFETIME: u64 = 100_000;

fn expiring(bench: &TestBench, item: &Item) -> Item {
    item.with("ttl", bench.clock.now_seconds() + LIFETIME)
}

fn later(bench: &TestBench) {
    bench.clock.advance_ms(LIFETIME * 1000);
}

/// A table whose subject has just expired.
async fn expired(bench: &TestBench) -> Table {
    let table = bench.table().await;
    put(&table, expiring(bench, &subject().with("n", 5))).await;
    later(bench);
    table
}

pub(super) async fn an_item_lives_until_its_second(bench: &TestBench) {
    let table = bench.table().await;
    let item = expiring(bench, &subject());
    put(&table, item.clone()).await;
    assert_eq!(get(&table, key()).await, Some(item.clone()));
    bench.clock.advance_ms(LIFETIME * 1000 - 1);
    assert_eq!(get(&table, key()).await, Some(item), "a millisecond before");
    bench.clock.advance_ms(1);
    assert_eq!(get(&table, key()).await, None, "at its second");
}

pub(super) async fn a_ttl_with_a_fraction_expires_at_the_next_whole_second(bench: &TestBench) {
    let table = bench.table().await;
    let ttl = number(&format!("{}.5", bench.clock.now_seconds() + LIFETIME - 1));
    let item = subject().with("ttl", ttl);
    put(&table, item.clone()).await;
    bench.clock.advance_ms(LIFETIME * 1000 - 1);
    assert_eq!(get(&table, key()).await, Some(item), "a millisecond before");
    condition_failed(table.put(Put::new(subject()).when(not_exists("PK"))).await);
    bench.clock.advance_ms(1);
    assert_eq!(get(&table, key()).await, None, "at the next second");
    assert_eq!(all(&table, Query::new("p").strong()).await, nothing());
    table.put(Put::new(subject()).when(not_exists("PK"))).await.unwrap();
}

pub(super) async fn an_expired_item_is_gone_for_a_get(bench: &TestBench) {
    let table = expired(bench).await;
    assert_eq!(table.get(Get::new(key())).await.unwrap().item, None);
    assert_eq!(table.get(Get::new(key()).strong()).await.unwrap().item, None);
    assert_eq!(table.get(Get::new(key()).project(["n"])).await.unwrap().item, None);
}

pub(super) async fn an_expired_item_is_gone_for_a_query(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, [row("p", "a"), expiring(bench, &row("p", "b")), row("p", "c")]).await;
    later(bench);
    assert_eq!(sorts(&table, Query::new("p").strong()).await, ["a", "c"]);
    assert_eq!(sorts(&table, Query::new("p").descending().limit(1).strong()).await, ["c", "a"]);
    assert_eq!(sorts(&table, Query::new("p").project(["SK"]).strong()).await, ["a", "c"]);
    let filtered = Query::new("p").filter(not_exists("zzz")).strong();
    assert_eq!(sorts(&table, filtered).await, ["a", "c"]);
}

pub(super) async fn an_expired_item_is_gone_for_a_scan(bench: &TestBench) {
    let table = expired(bench).await;
    put(&table, row("p", "alive")).await;
    assert_eq!(everything(&table, Scan::new().strong()).await, [row("p", "alive")]);
    let filtered = Scan::new().filter(exists("PK").and(not_exists("zzz"))).strong();
    assert_eq!(everything(&table, filtered).await, [row("p", "alive")]);
}

pub(super) async fn an_expired_item_is_gone_for_a_batch_read(bench: &TestBench) {
    let table = expired(bench).await;
    put(&table, row("p", "alive")).await;
    let batch = BatchGet::new([("p", "s"), ("p", "alive")]);
    let found = table.batch_get(batch.clone().strong()).await.unwrap().items;
    assert_eq!(found, [None, Some(row("p", "alive"))]);
    let found = table.batch_get(batch.project(["SK"])).await.unwrap().items;
    assert_eq!(found, [None, Some(item! { "SK" => "alive" })]);
}

pub(super) async fn an_expired_item_is_gone_for_a_transactional_read(bench: &TestBench) {
    let table = expired(bench).await;
    let read = TableGet { table: table.definition().clone(), get: Get::new(key()) };
    assert_eq!(bench.store.transact_get(vec![read]).await.unwrap().items, [None]);
}

pub(super) async fn an_expired_item_is_gone_for_an_index(bench: &TestBench) {
    let table = bench.table().await;
    let entry = |sort: &str| row("p", sort).with("GSI1PK", "g").with("GSI1SK", sort);
    put_all(&table, [entry("a"), expiring(bench, &entry("b"))]).await;
    later(bench);
    assert_eq!(sorts(&table, Query::new("g").index("GSI1")).await, ["a"]);
    assert_eq!(everything(&table, Scan::new().index("GSI1")).await, [entry("a")]);
}

pub(super) async fn an_expired_item_is_gone_for_a_merge(bench: &TestBench) {
    let table = bench.table().await;
    put_all(
        &table,
        [
            row("a", "1"),
            expiring(bench, &row("a", "2")),
            row("b", "3"),
            expiring(bench, &row("b", "4")),
        ],
    )
    .await;
    later(bench);
    let page = table.merge(Merge::newest(["a", "b"], 3)).await.unwrap();
    assert_eq!(texts(&page.items, "SK"), ["3", "1"]);
}

pub(super) async fn a_condition_sees_an_expired_item_as_absent(bench: &TestBench) {
    let table = expired(bench).await;
    for condition in [exists("PK"), attribute("n").eq(5)] {
        let attempt = Put::new(subject()).when(condition.clone()).returning(Returning::Old);
        assert_eq!(condition_failed(table.put(attempt).await), None);
        condition_failed(
            table.update(Update::new(key()).set("a", 1).when(condition.clone())).await,
        );
        condition_failed(table.delete(Delete::new(key()).when(condition)).await);
    }
}

pub(super) async fn a_negative_condition_holds_of_an_expired_item(bench: &TestBench) {
    for condition in [not_exists("PK"), attribute("n").ne(5), exists("PK").negate()] {
        let table = expired(bench).await;
        table.put(Put::new(subject().with("new", 1)).when(condition)).await.unwrap();
        assert_eq!(get(&table, key()).await, Some(subject().with("new", 1)));
    }
}

pub(super) async fn a_check_sees_an_expired_item_as_absent(bench: &TestBench) {
    let table = expired(bench).await;
    let check = |condition| Transaction::new().with(&table, Check::new(key(), condition));
    bench.store.transact(check(not_exists("PK"))).await.unwrap();
    let check = Check::new(key(), exists("PK")).returning(Returning::Old);
    let reasons = cancelled(bench.store.transact(Transaction::new().with(&table, check)).await);
    let expected = roundtable_table::CancelReason::ConditionFailed { item: None };
    assert_eq!(reasons, [Some(expected)]);
}

pub(super) async fn a_put_over_an_expired_item_is_a_new_item(bench: &TestBench) {
    let table = expired(bench).await;
    let put = Put::new(subject().with("m", 1)).returning(Returning::Old);
    assert_eq!(table.put(put).await.unwrap().item, None, "there was nothing");
    assert_eq!(get(&table, key()).await, Some(subject().with("m", 1)));
}

pub(super) async fn an_update_over_an_expired_item_starts_afresh(bench: &TestBench) {
    let table = expired(bench).await;
    let count = Update::new(key()).add("n", 1).returning(Returning::New);
    assert_eq!(update(&table, count).await.item, Some(subject().with("n", 1)));
    assert_eq!(get(&table, key()).await, Some(subject().with("n", 1)));
}

pub(super) async fn an_update_over_an_expired_item_has_no_old_image(bench: &TestBench) {
    let table = expired(bench).await;
    let count = Update::new(key()).set("a", 1).returning(Returning::Old);
    assert_eq!(update(&table, count).await.item, None);
}

pub(super) async fn a_delete_of_an_expired_item_finds_nothing(bench: &TestBench) {
    let table = expired(bench).await;
    let delete = Delete::new(key()).returning(Returning::Old);
    assert_eq!(table.delete(delete).await.unwrap().item, None);
    assert_eq!(get(&table, key()).await, None);
}

pub(super) async fn a_transaction_over_expired_items_starts_afresh(bench: &TestBench) {
    let table = expired(bench).await;
    put(&table, expiring(bench, &row("p", "later").with("n", 7))).await;
    let transaction = Transaction::new()
        .with(&table, Update::new(key()).add("n", 1))
        .with(&table, Update::new(("p", "later")).add("n", 1));
    bench.store.transact(transaction).await.unwrap();
    assert_eq!(get(&table, key()).await, Some(subject().with("n", 1)));
    let alive = get(&table, ("p", "later")).await.unwrap();
    assert_eq!(alive.number("n"), Some(number("8")));
}

pub(super) async fn an_item_can_be_written_already_expired(bench: &TestBench) {
    let table = bench.table().await;
    let past = bench.clock.now_seconds() - 60;
    put(&table, subject().with("ttl", past)).await;
    assert_eq!(get(&table, key()).await, None);
    put(&table, row("p", "now").with("ttl", bench.clock.now_seconds())).await;
    assert_eq!(get(&table, ("p", "now")).await, None);
    assert_eq!(all(&table, Query::new("p").strong()).await, nothing());
}

pub(super) async fn an_update_can_end_an_item(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    update(&table, Update::new(key()).set("ttl", bench.clock.now_seconds())).await;
    assert_eq!(get(&table, key()).await, None);
}

pub(super) async fn an_update_can_prolong_an_item(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, expiring(bench, &subject())).await;
    update(&table, Update::new(key()).add("ttl", 10)).await;
    later(bench);
    assert!(get(&table, key()).await.is_some());
    bench.clock.advance_ms(10_000);
    assert_eq!(get(&table, key()).await, None);
}

pub(super) async fn an_update_can_make_an_item_stay(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, expiring(bench, &subject())).await;
    update(&table, Update::new(key()).remove("ttl")).await;
    later(bench);
    assert_eq!(get(&table, key()).await, Some(subject()));
}

pub(super) async fn a_ttl_that_is_no_number_never_expires(bench: &TestBench) {
    let table = bench.table().await;
    let values = [Value::from("1"), Value::Null, Value::from(true), Value::numbers([1])];
    for value in values {
        put(&table, subject().with("ttl", value)).await;
        assert!(get(&table, key()).await.is_some());
        assert_eq!(all(&table, Query::new("p").strong()).await.len(), 1);
        condition_failed(table.put(Put::new(subject()).when(not_exists("PK"))).await);
    }
}

pub(super) async fn a_table_without_expiry_keeps_everything(bench: &TestBench) {
    let key_definition = roundtable_table::KeyDefinition::texts("PK", "SK");
    let table = bench.table_of(TableDefinition::new(bench.name(), key_definition)).await;
    put(&table, subject().with("ttl", 1)).await;
    assert!(get(&table, key()).await.is_some());
}

pub(super) async fn another_attribute_can_hold_the_time(bench: &TestBench) {
    let key_definition = roundtable_table::KeyDefinition::texts("PK", "SK");
    let definition = TableDefinition::new(bench.name(), key_definition).with_ttl("until");
    let table = bench.table_of(definition).await;
    put(&table, subject().with("ttl", 1).with("until", bench.clock.now_seconds() + 5)).await;
    assert!(get(&table, key()).await.is_some());
    bench.clock.advance_ms(5_000);
    assert_eq!(get(&table, key()).await, None);
}

/// The changes of the subject up to one that satisfies `end`.
async fn until(table: &Table, end: impl Fn(&Change) -> bool) -> Vec<Change> {
    loop {
        let changes = changes_now(table).await;
        if changes.last().is_some_and(&end) {
            return changes;
        }
        tokio::task::yield_now().await;
    }
}

pub(super) async fn the_sweep_removes_each_expired_item_once(bench: &TestBench) {
    let table = expired(bench).await;
    put(&table, row("p", "alive")).await;
    bench.sweep().await;
    bench.sweep().await;
    let changes = until(&table, |change| change.kind() == ChangeKind::Remove).await;
    assert_eq!(changes.len(), 3);
    assert!(changes[2].expired);
    assert_eq!(changes[2].key, key());
    assert_eq!(changes[2].old.as_ref().unwrap().number("n"), Some(number("5")));
    assert_eq!(everything(&table, Scan::new().strong()).await, [row("p", "alive")]);
}

pub(super) async fn the_sweep_takes_items_out_of_indexes(bench: &TestBench) {
    let table = bench.table().await;
    let entry = row("p", "s").with("GSI1PK", "g").with("GSI1SK", "1");
    put(&table, expiring(bench, &entry)).await;
    later(bench);
    bench.sweep().await;
    put(&table, entry.clone()).await;
    assert_eq!(everything(&table, Scan::new().index("GSI1")).await, [entry]);
}

/// The changes of an item that expired and was overwritten.
async fn written_over(bench: &TestBench) -> Vec<Change> {
    let table = expired(bench).await;
    put(&table, subject().with("n", 6)).await;
    let fresh = Some(subject().with("n", 6));
    until(&table, |change| change.new == fresh).await
}

pub(super) async fn writing_over_an_expired_item_removes_it_first(bench: &TestBench) {
    let changes = written_over(bench).await;
    let kinds: Vec<_> = changes.iter().map(Change::kind).collect();
    assert_eq!(kinds, [ChangeKind::Insert, ChangeKind::Remove, ChangeKind::Insert]);
    assert_eq!(changes[0].new, changes[1].old, "the images chain");
}

pub(super) async fn an_expired_item_that_is_written_over_went_for_its_age(bench: &TestBench) {
    let expired: Vec<_> = written_over(bench).await.iter().map(|change| change.expired).collect();
    assert_eq!(expired, [false, true, false]);
}

pub(super) async fn an_index_forgets_an_expired_item_that_is_written_over(bench: &TestBench) {
    let table = bench.table().await;
    let entry = |place: &str| row("p", "s").with("GSI1PK", "g").with("GSI1SK", place);
    put(&table, expiring(bench, &entry("1"))).await;
    later(bench);
    put(&table, entry("2")).await;
    assert_eq!(all(&table, Query::new("g").index("GSI1")).await, [entry("2")]);
}
