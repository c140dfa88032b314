//! Transactions: all or nothing, with a reason for each write that failed.

use roundtable_table::{
    CancelReason, Check, Delete, Error, Get, Invalid, Item, Key, KeyDefinition, Limit, Put, Query,
    Returning, Scan, Table, TableGet, Transaction, Update, Write, attribute, exists, item,
    not_exists,
};

use super::steps::{
    cancelled, everything, get, key, long, nothing, number, put, refused, row, sorts, subject,
    without_a_trace,
};
use crate::TestBench;

fn sort(at: usize) -> String {
    format!("{at:03}")
}

/// The reason of a write whose condition failed, with the requested item.
fn failed(item: impl Into<Option<Item>>) -> CancelReason {
    CancelReason::ConditionFailed { item: item.into().map(Box::new) }
}

pub(super) async fn all_writes_happen_together(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "update").with("n", 1)).await;
    put(&table, row("p", "delete")).await;
    put(&table, row("p", "check").with("ok", true)).await;
    let transaction = Transaction::new()
        .with(&table, Put::new(row("p", "put")))
        .with(&table, Update::new(("p", "update")).add("n", 1))
        .with(&table, Delete::new(("p", "delete")))
        .with(&table, Check::new(("p", "check"), exists("ok")));
    bench.store.transact(transaction).await.unwrap();
    assert_eq!(get(&table, ("p", "put")).await, Some(row("p", "put")));
    assert_eq!(get(&table, ("p", "update")).await, Some(row("p", "update").with("n", 2)));
    assert_eq!(get(&table, ("p", "delete")).await, None);
    assert_eq!(get(&table, ("p", "check")).await, Some(row("p", "check").with("ok", true)));
}

pub(super) async fn one_failed_condition_stops_all_writes(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "update").with("n", 1)).await;
    put(&table, row("p", "delete")).await;
    let transaction = Transaction::new()
        .with(&table, Put::new(row("p", "put")))
        .with(&table, Update::new(("p", "update")).add("n", 1))
        .with(&table, Delete::new(("p", "delete")))
        .with(&table, Check::new(("p", "check"), exists("ok")));
    let reasons = cancelled(without_a_trace(&table, bench.store.transact(transaction)).await);
    assert_eq!(reasons, [None, None, None, Some(failed(None))]);
}

pub(super) async fn each_kind_of_write_can_stand_in_the_way(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    let never = || exists("never");
    let writes: [Write; 4] = [
        Put::new(subject()).when(never()).into(),
        Update::new(key()).set("n", 2).when(never()).into(),
        Delete::new(key()).when(never()).into(),
        Check::new(key(), never()).into(),
    ];
    for write in writes {
        let transaction =
            Transaction::new().with(&table, Put::new(row("q", "s"))).with(&table, write);
        let reasons = cancelled(without_a_trace(&table, bench.store.transact(transaction)).await);
        assert_eq!(reasons, [None, Some(failed(None))]);
    }
}

pub(super) async fn a_transaction_spans_tables(bench: &TestBench) {
    let (one, other) = (bench.table().await, bench.table().await);
    let both = |n: i32| {
        Transaction::new()
            .with(&one, Put::new(subject().with("n", n)).when(not_exists("PK")))
            .with(&other, Put::new(subject().with("n", n)))
    };
    bench.store.transact(both(1)).await.unwrap();
    assert_eq!(get(&one, key()).await, Some(subject().with("n", 1)));
    assert_eq!(get(&other, key()).await, Some(subject().with("n", 1)));
    let reasons = cancelled(without_a_trace(&other, bench.store.transact(both(2))).await);
    assert_eq!(reasons, [Some(failed(None)), None]);
}

pub(super) async fn reasons_stand_beside_their_writes(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "1").with("n", 1)).await;
    put(&table, row("p", "3").with("n", 3)).await;
    let transaction = Transaction::new()
        .with(&table, Put::new(row("p", "0")))
        .with(&table, Put::new(row("p", "1")).when(not_exists("PK")).returning(Returning::Old))
        .with(&table, Delete::new(("p", "2")))
        .with(&table, Delete::new(("p", "3")).when(attribute("n").eq(4)))
        .with(&table, Check::new(("p", "4"), exists("PK")).returning(Returning::Old));
    let reasons = cancelled(bench.store.transact(transaction).await);
    let shown = Some(failed(row("p", "1").with("n", 1)));
    assert_eq!(reasons, [None, shown, None, Some(failed(None)), Some(failed(None))]);
}

pub(super) async fn a_failed_update_shows_the_old_item_when_asked(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    let update = Update::new(key()).add("n", 1).when(attribute("n").eq(7));
    let transaction = Transaction::new().with(&table, update.returning(Returning::Old));
    let reasons = cancelled(bench.store.transact(transaction).await);
    assert_eq!(reasons, [Some(failed(subject().with("n", 1)))]);
}

pub(super) async fn a_failed_check_shows_the_item_when_asked(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    let check = Check::new(key(), exists("never")).returning(Returning::Old);
    let reasons = cancelled(bench.store.transact(Transaction::new().with(&table, check)).await);
    assert_eq!(reasons, [Some(failed(subject().with("n", 1)))]);
}

pub(super) async fn a_transaction_may_only_check(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    let checks = |condition| {
        Transaction::new()
            .with(&table, Check::new(key(), exists("PK")))
            .with(&table, Check::new(("p", "absent"), condition))
    };
    bench.store.transact(checks(not_exists("PK"))).await.unwrap();
    let reasons =
        cancelled(without_a_trace(&table, bench.store.transact(checks(exists("PK")))).await);
    assert_eq!(reasons, [None, Some(failed(None))]);
}

pub(super) async fn a_check_makes_no_item(bench: &TestBench) {
    let table = bench.table().await;
    let check = Transaction::new().with(&table, Check::new(key(), not_exists("PK")));
    bench.store.transact(check).await.unwrap();
    assert_eq!(everything(&table, Scan::new().strong()).await, nothing());
}

pub(super) async fn writes_do_not_see_each_other(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "a").with("n", 1)).await;
    let transaction = Transaction::new()
        .with(&table, Delete::new(("p", "a")).when(exists("PK")))
        .with(&table, Put::new(row("p", "b")).when(not_exists("PK")));
    bench.store.transact(transaction).await.unwrap();
    assert_eq!(sorts(&table, Query::new("p").strong()).await, ["b"]);
}

pub(super) async fn the_same_item_twice_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let name = &table.definition().name;
    let transaction = Transaction::new()
        .with(&table, Put::new(subject()))
        .with(&table, Put::new(row("p", "t")))
        .with(&table, Check::new(key(), not_exists("PK")));
    let expected = Invalid::DuplicateItem { key: format!("{} in {name}", key()) };
    refused(&table, bench.store.transact(transaction), expected).await;
}

pub(super) async fn the_same_key_in_two_tables_is_no_repetition(bench: &TestBench) {
    let (one, other) = (bench.table().await, bench.table().await);
    let transaction =
        Transaction::new().with(&one, Put::new(subject())).with(&other, Put::new(subject()));
    bench.store.transact(transaction).await.unwrap();
}

fn puts(table: &Table, count: usize) -> Transaction {
    (0..count).fold(Transaction::new(), |transaction, at| {
        transaction.with(table, Put::new(row("p", &sort(at))).when(not_exists("PK")))
    })
}

pub(super) async fn a_transaction_takes_a_hundred_writes(bench: &TestBench) {
    let table = bench.table().await;
    bench.store.transact(puts(&table, 100)).await.unwrap();
    assert_eq!(sorts(&table, Query::new("p").strong()).await.len(), 100);
}

pub(super) async fn the_last_of_a_hundred_writes_can_stop_the_others(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", &sort(99))).await;
    let attempt = bench.store.transact(puts(&table, 100));
    let reasons = cancelled(without_a_trace(&table, attempt).await);
    assert!(reasons[..99].iter().all(Option::is_none));
    assert_eq!(reasons[99], Some(failed(None)));
}

pub(super) async fn a_transaction_of_101_writes_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let expected = Invalid::OverLimit {
        limit: Limit::TransactionItems,
        actual: 101,
        max: 100,
        subject: "one transaction".into(),
    };
    refused(&table, bench.store.transact(puts(&table, 101)), expected).await;
}

pub(super) async fn a_transaction_of_more_than_4_mb_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let item = |at: usize| row("p", &sort(at)).with("a", long(390 * 1024));
    let transaction =
        (0..11).fold(Transaction::new(), |all, at| all.with(&table, Put::new(item(at))));
    let error = without_a_trace(&table, bench.store.transact(transaction)).await;
    let Err(Error::Invalid(Invalid::OverLimit { limit, actual, max, .. })) = error else {
        panic!("{error:?}");
    };
    assert_eq!((limit, max), (Limit::TransactionBytes, 4 * 1024 * 1024));
    assert_eq!(actual, 11 * item(0).size());
}

pub(super) async fn an_empty_transaction_is_refused(bench: &TestBench) {
    let error = super::steps::invalid(bench.store.transact(Transaction::new()).await);
    assert!(matches!(error, Invalid::EmptyRequest { .. }));
    let error = super::steps::invalid(bench.store.transact_get(Vec::new()).await);
    assert!(matches!(error, Invalid::EmptyRequest { .. }));
}

pub(super) async fn a_bad_write_is_refused_before_any_happens(bench: &TestBench) {
    let table = bench.table().await;
    let transaction =
        Transaction::new().with(&table, Put::new(subject())).with(&table, Put::new(row("p", "")));
    let expected = Invalid::KeyEmpty { attribute: "SK".into(), key: Key::new("p", "").to_string() };
    refused(&table, bench.store.transact(transaction), expected).await;
}

pub(super) async fn an_update_that_cannot_be_is_a_reason(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("a", "text")).await;
    let transaction = Transaction::new()
        .with(&table, Put::new(row("p", "other")))
        .with(&table, Update::new(key()).add("a", 1));
    let reasons = cancelled(without_a_trace(&table, bench.store.transact(transaction)).await);
    assert_eq!(reasons[0], None);
    assert!(matches!(reasons[1], Some(CancelReason::Invalid(_))), "{reasons:?}");
}

pub(super) async fn an_update_that_cannot_be_leaves_no_trace(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("a", "text").with("big", long(300 * 1024))).await;
    let updates = [
        Update::new(key()).add("a", 1),
        Update::new(key()).set("b", roundtable_table::Path::new("missing")),
        Update::new(key()).set("more", long(200 * 1024)),
    ];
    for update in updates {
        let transaction =
            Transaction::new().with(&table, Put::new(row("p", "other"))).with(&table, update);
        let done = without_a_trace(&table, bench.store.transact(transaction)).await;
        assert!(matches!(done, Err(Error::Cancelled { .. } | Error::Invalid(_))), "{done:?}");
    }
}

pub(super) async fn a_missing_table_stops_the_transaction(bench: &TestBench) {
    let table = bench.table().await;
    let missing = bench.store.table_as(bench.standard());
    let transaction =
        Transaction::new().with(&table, Put::new(subject())).with(&missing, Put::new(subject()));
    let done = without_a_trace(&table, bench.store.transact(transaction)).await;
    assert!(matches!(done, Err(Error::TableNotFound { .. })), "{done:?}");
}

pub(super) async fn a_transaction_keeps_indexes_up(bench: &TestBench) {
    let table = bench.table().await;
    let entry = |sort: &str| row("p", sort).with("GSI1PK", "g").with("GSI1SK", sort);
    put(&table, entry("1")).await;
    put(&table, entry("2")).await;
    let transaction = Transaction::new()
        .with(&table, Delete::new(("p", "1")))
        .with(&table, Update::new(("p", "2")).set("GSI1SK", "9"))
        .with(&table, Put::new(entry("3")));
    bench.store.transact(transaction).await.unwrap();
    assert_eq!(sorts(&table, Query::new("g").index("GSI1")).await, ["3", "2"]);
}

fn read(table: &Table, sort: &str) -> TableGet {
    TableGet { table: table.definition().clone(), get: Get::new(("p", sort)) }
}

pub(super) async fn a_transactional_read_answers_in_the_order_asked(bench: &TestBench) {
    let (one, other) = (bench.table().await, bench.table().await);
    put(&one, row("p", "1").with("at", "one")).await;
    put(&other, row("p", "1").with("at", "other")).await;
    let gets = vec![read(&other, "1"), read(&one, "2"), read(&one, "1")];
    let found = bench.store.transact_get(gets).await.unwrap().items;
    let expected =
        [Some(row("p", "1").with("at", "other")), None, Some(row("p", "1").with("at", "one"))];
    assert_eq!(found, expected);
}

pub(super) async fn a_transactional_read_returns_only_the_projected_parts(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "1").with("a", 1).with("b", 2)).await;
    let mut get = read(&table, "1");
    get.get = get.get.project(["b"]);
    let found = bench.store.transact_get(vec![get]).await.unwrap().items;
    assert_eq!(found, [Some(item! { "b" => 2 })]);
}

pub(super) async fn a_transactional_read_takes_a_hundred_keys(bench: &TestBench) {
    let table = bench.table().await;
    bench.store.transact(puts(&table, 100)).await.unwrap();
    let gets = (0..100).map(|at| read(&table, &sort(at))).collect();
    let found = bench.store.transact_get(gets).await.unwrap().items;
    assert!(found.iter().enumerate().all(|(at, item)| *item == Some(row("p", &sort(at)))));
    let gets = (0..101).map(|at| read(&table, &sort(at))).collect();
    let error = super::steps::invalid(bench.store.transact_get(gets).await);
    assert!(matches!(error, Invalid::OverLimit { limit: Limit::TransactionItems, .. }));
}

pub(super) async fn a_transactional_read_of_one_key_twice_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let gets = vec![read(&table, "1"), read(&table, "1")];
    let error = super::steps::invalid(bench.store.transact_get(gets).await);
    assert!(matches!(error, Invalid::DuplicateItem { .. }));
}

pub(super) async fn a_transactional_read_sees_one_moment(bench: &TestBench) {
    let table = bench.table().await;
    let both = |n: i32| {
        Transaction::new()
            .with(&table, Put::new(row("p", "a").with("n", n)))
            .with(&table, Put::new(row("p", "b").with("n", n)))
    };
    bench.store.transact(both(0)).await.unwrap();
    let writer = {
        let (store, transactions) = (bench.store.clone(), (1..40).map(both).collect::<Vec<_>>());
        tokio::spawn(async move {
            for transaction in transactions {
                store.transact(transaction).await.unwrap();
            }
        })
    };
    while !writer.is_finished() {
        tokio::task::yield_now().await;
        // A server may cancel a read that conflicts with a write; that is not a torn read.
        let Ok(found) = bench.store.transact_get(vec![read(&table, "a"), read(&table, "b")]).await
        else {
            continue;
        };
        let n: Vec<_> = found.items.iter().flatten().map(|item| item.number("n")).collect();
        assert_eq!(n[0], n[1]);
    }
    writer.await.unwrap();
    assert_eq!(get(&table, ("p", "b")).await.unwrap().number("n"), Some(number("39")));
}

pub(super) async fn a_transaction_writes_tables_of_other_keys(bench: &TestBench) {
    let one = bench.table().await;
    let other = bench.keyed(KeyDefinition::partition("id")).await;
    let transaction = Transaction::new()
        .with(&one, Put::new(subject()))
        .with(&other, Update::new(Key::single("x")).add("n", 1));
    bench.store.transact(transaction).await.unwrap();
    assert_eq!(get(&other, Key::single("x")).await, Some(item! { "id" => "x", "n" => 1 }));
}
