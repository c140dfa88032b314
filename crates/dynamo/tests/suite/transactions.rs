//! Transactions: atomicity, cancellation reasons, tokens.

use roundtable_table::{
    CancelReason, Check, Delete, Error, Get, Invalid, Path, Put, Returning, Table, TableGet,
    Transaction, Update, attribute, exists, item, not_exists,
};

use crate::server::{START, Server};

async fn get(table: &Table, sort: &str) -> Option<roundtable_table::Item> {
    table.get(Get::new(("a", sort)).strong()).await.unwrap().item
}

#[tokio::test]
async fn all_writes_of_a_transaction_happen() {
    let server = Server::start().await;
    let table = server.table().await;
    table.put(Put::new(item! { "PK" => "a", "SK" => "gone" })).await.unwrap();
    let transaction = Transaction::new()
        .with(&table, Put::new(item! { "PK" => "a", "SK" => "put" }).when(not_exists("PK")))
        .with(&table, Update::new(("a", "updated")).add("n", 2))
        .with(&table, Update::new(("a", "touched")))
        .with(&table, Delete::new(("a", "gone")).when(exists("PK")))
        .with(&table, Check::new(("a", "absent"), not_exists("PK")));
    let capacity = server.store.transact(transaction).await.unwrap();
    assert!(capacity.write_units >= 4, "{capacity:?}");
    assert!(get(&table, "put").await.is_some());
    assert_eq!(
        get(&table, "updated").await,
        Some(item! { "PK" => "a", "SK" => "updated", "n" => 2 })
    );
    assert!(get(&table, "touched").await.is_some());
    assert!(get(&table, "gone").await.is_none());
    let gets = ["put", "absent"].map(|sort| TableGet {
        table: table.definition().clone(),
        get: Get::new(("a", sort)).project(["SK"]),
    });
    let found = server.store.transact_get(gets.into()).await.unwrap();
    assert_eq!(found.items, [Some(item! { "SK" => "put" }), None]);
    assert!(found.capacity.read_halves >= 4);
}

#[tokio::test]
async fn a_cancelled_transaction_names_each_failed_write() {
    let server = Server::start().await;
    let table = server.table().await;
    let there = item! { "PK" => "a", "SK" => "there", "n" => 1 };
    table.put(Put::new(there.clone())).await.unwrap();
    let transaction = Transaction::new()
        .with(&table, Put::new(item! { "PK" => "a", "SK" => "fine" }))
        .with(&table, Put::new(there.clone()).when(not_exists("PK")).returning(Returning::Old))
        .with(&table, Check::new(("a", "absent"), exists("PK")));
    let Err(Error::Cancelled { reasons }) = server.store.transact(transaction).await else {
        panic!("must be cancelled");
    };
    let failed = |item| Some(CancelReason::ConditionFailed { item });
    assert_eq!(reasons, [None, failed(Some(Box::new(there))), failed(None)]);
    assert!(get(&table, "fine").await.is_none());
}

#[tokio::test]
async fn an_invalid_update_is_named_as_the_failed_write() {
    let server = Server::start().await;
    let table = server.table().await;
    let path = Path::new("no").field("where");
    let transaction = Transaction::new()
        .with(&table, Put::new(item! { "PK" => "a", "SK" => "fine" }))
        .with(&table, Update::new(("a", "1")).set(path.clone(), 1));
    let Err(Error::Cancelled { reasons }) = server.store.transact(transaction).await else {
        panic!("must be cancelled");
    };
    assert!(matches!(
        reasons.as_slice(),
        [None, Some(CancelReason::Invalid(Invalid::PathMissing { path: at, .. }))] if *at == path
    ));
}

#[tokio::test]
async fn transactions_treat_expired_items_as_absent() {
    let server = Server::start().await;
    let table = server.table().await;
    for sort in ["put", "update", "check", "delete"] {
        let item = item! { "PK" => "a", "SK" => sort, "old" => 1, "ttl" => START };
        table.put(Put::new(item)).await.unwrap();
    }
    let transaction = Transaction::new()
        .with(&table, Put::new(item! { "PK" => "a", "SK" => "put" }).when(not_exists("PK")))
        .with(&table, Update::new(("a", "update")).add("n", 1))
        .with(&table, Check::new(("a", "check"), not_exists("old")))
        .with(&table, Delete::new(("a", "delete")).when(attribute("old").ne(1)));
    server.store.transact(transaction).await.unwrap();
    assert_eq!(
        get(&table, "update").await,
        Some(item! { "PK" => "a", "SK" => "update", "n" => 1 })
    );
    let item = item! { "PK" => "a", "SK" => "update", "old" => 1, "ttl" => START };
    table.put(Put::new(item)).await.unwrap();
    let failing = Transaction::new()
        .with(&table, Update::new(("a", "update")).add("n", 1))
        .with(&table, Check::new(("a", "check"), exists("old")).returning(Returning::Old));
    let Err(Error::Cancelled { reasons }) = server.store.transact(failing).await else {
        panic!("must be cancelled");
    };
    assert_eq!(reasons, [None, Some(CancelReason::ConditionFailed { item: None })]);
}

#[tokio::test]
async fn a_transaction_repeated_with_its_token_has_no_effect() {
    let server = Server::start().await;
    let table = server.table().await;
    let add =
        |n: i32| Transaction::new().with(&table, Update::new(("a", "n")).add("n", n)).token("once");
    server.store.transact(add(1)).await.unwrap();
    // The rendered condition contains the time, which must be that of the first request.
    server.clock.advance_ms(5000);
    server.store.transact(add(1)).await.unwrap();
    assert_eq!(get(&table, "n").await, Some(item! { "PK" => "a", "SK" => "n", "n" => 1 }));
    assert!(matches!(server.store.transact(add(2)).await, Err(Error::TokenReused)));
}
