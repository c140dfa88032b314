//! Expired items count as absent before the server sweeps them.

use roundtable_table::{
    BatchGet, ChangeKind, Delete, Error, Get, Put, Returning, StreamRead, StreamStart, Table,
    TableGet, Update, attribute, exists, item, not_exists,
};

use crate::server::{START, Server};

/// A table with an item at a/1 that expired this second.
async fn expired(server: &Server) -> Table {
    let table = server.table().await;
    let item = item! { "PK" => "a", "SK" => "1", "old" => 1, "ttl" => START };
    table.put(Put::new(item)).await.unwrap();
    table
}

#[tokio::test]
async fn reads_do_not_return_expired_items() {
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
async fn conditions_treat_expired_items_as_absent() {
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
async fn deleting_an_expired_item_returns_nothing() {
    let server = Server::start().await;
    let table = expired(&server).await;
    let gone = table.delete(Delete::new(("a", "1")).returning(Returning::Old)).await.unwrap();
    assert_eq!(gone.item, None);
}

#[tokio::test]
async fn updates_do_not_build_on_expired_items() {
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
async fn a_conditional_update_can_replace_an_expired_item() {
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
async fn replacing_an_expired_item_is_a_removal_and_an_insert_in_the_stream() {
    let server = Server::start().await;
    let table = expired(&server).await;
    table.put(Put::new(item! { "PK" => "a", "SK" => "1", "new" => 1 })).await.unwrap();
    table.delete(Delete::new(("a", "1"))).await.unwrap();
    let kinds: Vec<ChangeKind> = changes(&table).await.iter().map(|(kind, _)| *kind).collect();
    let (insert, remove) = (ChangeKind::Insert, ChangeKind::Remove);
    assert_eq!(kinds, [insert, remove, insert, remove]);
    if server.sweep() {
        // The cause of a removal is known only if the clocks agree.
        let expected = [(insert, false), (remove, true), (insert, false), (remove, false)];
        assert_eq!(changes(&table).await, expected);
    }
}

#[tokio::test]
async fn a_sweep_is_an_expiry_in_the_stream() {
    let server = Server::start().await;
    let table = expired(&server).await;
    server.clock.advance_ms(1000);
    if server.sweep() {
        let expected = [(ChangeKind::Insert, false), (ChangeKind::Remove, true)];
        assert_eq!(changes(&table).await, expected);
    }
}
