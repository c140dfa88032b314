//! Expired items are absent to everyone, long before the server sweeps them.

use roundtable_table::{
    BatchGet, ChangeKind, Delete, Error, Get, Put, Returning, StreamRead, StreamStart, Table,
    TableGet, Update, attribute, exists, item, not_exists,
};

use crate::server::{START, Server};

/// A table with an item at a/1 that expired this very second.
async fn expired(server: &Server) -> Table {
    let table = server.table().await;
    let item = item! { "PK" => "a", "SK" => "1", "old" => 1, "ttl" => START };
    table.put(Put::new(item)).await.unwrap();
    table
}

#[tokio::test]
async fn reads_do_not_see_it() {
    let server = Server::start().await;
    let table = server.table().await;
    let item = item! { "PK" => "a", "SK" => "1", "ttl" => START + 1 };
    table.put(Put::new(item.clone())).await.unwrap();
    let get = || Get::new(("a", "1")).strong();
    assert_eq!(table.get(get()).await.unwrap().item, Some(item));
    server.clock.advance_ms(1000);
    assert_eq!(table.get(get()).await.unwrap().item, None);
    assert_eq!(table.get(get().project(["SK"])).await.unwrap().item, None);
    let batch = table.batch_get(BatchGet::new([("a", "1")])).await.unwrap();
    assert_eq!(batch.items, [None]);
    let gets = vec![TableGet { table: table.definition().clone(), get: get() }];
    assert_eq!(server.store.transact_get(gets).await.unwrap().items, [None]);
}

#[tokio::test]
async fn conditions_do_not_see_it() {
    let server = Server::start().await;
    let table = expired(&server).await;
    let failed = Put::new(item! { "PK" => "a", "SK" => "1" }).when(exists("PK"));
    let failed = table.put(failed.returning(Returning::Old)).await.unwrap_err();
    assert!(matches!(failed, Error::ConditionFailed { item: None }));
    let delete = Delete::new(("a", "1")).when(attribute("old").eq(1));
    assert!(matches!(table.delete(delete).await, Err(Error::ConditionFailed { .. })));
    let put = Put::new(item! { "PK" => "a", "SK" => "1", "new" => 1 }).when(not_exists("PK"));
    let written = table.put(put.returning(Returning::Old)).await.unwrap();
    assert_eq!(written.item, None, "the image before is not shown either");
}

#[tokio::test]
async fn deleting_it_returns_nothing() {
    let server = Server::start().await;
    let table = expired(&server).await;
    let gone = table.delete(Delete::new(("a", "1")).returning(Returning::Old)).await.unwrap();
    assert_eq!(gone.item, None);
}

#[tokio::test]
async fn updates_do_not_build_on_it() {
    let server = Server::start().await;
    let table = expired(&server).await;
    let failed = Update::new(("a", "1")).set("x", 1).when(exists("old"));
    let failed = table.update(failed.returning(Returning::Old)).await.unwrap_err();
    assert!(matches!(failed, Error::ConditionFailed { item: None }));
    let update = Update::new(("a", "1")).add("count", 1).returning(Returning::New);
    let written = table.update(update).await.unwrap();
    assert_eq!(written.item, Some(item! { "PK" => "a", "SK" => "1", "count" => 1 }));
}

#[tokio::test]
async fn conditional_updates_may_begin_anew() {
    let server = Server::start().await;
    let table = expired(&server).await;
    let update = Update::new(("a", "1")).set("x", 1).when(not_exists("PK"));
    table.update(update).await.unwrap();
    let found = table.get(Get::new(("a", "1")).strong()).await.unwrap().item;
    assert_eq!(found, Some(item! { "PK" => "a", "SK" => "1", "x" => 1 }));
}

async fn changes(table: &Table) -> Vec<(ChangeKind, bool)> {
    let read =
        StreamRead::new(table.stream_shards().await.unwrap()[0].id.clone(), StreamStart::Oldest)
            .limit(100);
    let page = table.stream_read(read).await.unwrap();
    page.changes.iter().map(|change| (change.kind(), change.expired)).collect()
}

#[tokio::test]
async fn writing_over_it_is_told_as_an_end_and_a_start() {
    let server = Server::start().await;
    let table = expired(&server).await;
    table.put(Put::new(item! { "PK" => "a", "SK" => "1", "new" => 1 })).await.unwrap();
    table.delete(Delete::new(("a", "1"))).await.unwrap();
    let kinds: Vec<ChangeKind> = changes(&table).await.iter().map(|(kind, _)| *kind).collect();
    let (made, gone) = (ChangeKind::Insert, ChangeKind::Remove);
    assert_eq!(kinds, [made, gone, made, gone]);
    if server.sweep() {
        // Which of the ends was for its time can be told only where the clocks agree.
        let ends = [(made, false), (gone, true), (made, false), (gone, false)];
        assert_eq!(changes(&table).await, ends);
    }
}

#[tokio::test]
async fn the_sweep_is_told_as_such() {
    let server = Server::start().await;
    let table = expired(&server).await;
    server.clock.advance_ms(1000);
    if server.sweep() {
        let expected = [(ChangeKind::Insert, false), (ChangeKind::Remove, true)];
        assert_eq!(changes(&table).await, expected);
    }
}
