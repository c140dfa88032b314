//! The stream: order, continued reads, waiting, trimmed changes.

use std::time::Duration;

use roundtable_table::{
    ChangeKind, Delete, Error, Put, Sequence, StreamPage, StreamRead, StreamStart, Table, Update,
    item,
};

use crate::server::Server;

async fn read(table: &Table, start: StreamStart, limit: usize, wait_ms: u64) -> StreamPage {
    let shards = table.stream_shards().await.unwrap();
    let read = StreamRead::new(shards[0].id.clone(), start)
        .limit(limit)
        .wait(Duration::from_millis(wait_ms));
    table.stream_read(read).await.unwrap()
}

#[tokio::test]
async fn changes_come_in_order_with_both_images() {
    let server = Server::start().await;
    let table = server.table().await;
    let first = item! { "PK" => "a", "SK" => "1", "n" => 1 };
    table.put(Put::new(first.clone())).await.unwrap();
    table.update(Update::new(("a", "1")).set("n", 2)).await.unwrap();
    table.delete(Delete::new(("a", "1"))).await.unwrap();
    let page = read(&table, StreamStart::Oldest, 100, 0).await;
    let kinds: Vec<ChangeKind> = page.changes.iter().map(roundtable_table::Change::kind).collect();
    assert_eq!(kinds, [ChangeKind::Insert, ChangeKind::Modify, ChangeKind::Remove]);
    assert_eq!(page.changes[0].new, Some(first.clone()));
    assert_eq!(page.changes[1].old, Some(first));
    assert_eq!(page.changes[1].new, page.changes[2].old);
    assert_eq!(page.changes[2].key, ("a", "1").into());
    assert!(page.changes.windows(2).all(|two| two[0].sequence < two[1].sequence));
    assert!(page.changes.iter().all(|change| !change.expired && change.at_ms > 0));
    assert!(!page.ended);
}

#[tokio::test]
async fn continued_reads_repeat_and_lose_nothing() {
    let server = Server::start().await;
    let table = server.table().await;
    for n in 0..10 {
        table.put(Put::new(item! { "PK" => "a", "SK" => format!("{n}") })).await.unwrap();
    }
    let mut seen = Vec::new();
    let mut start = StreamStart::Oldest;
    for _ in 0..4 {
        let page = read(&table, start.clone(), 3, 0).await;
        seen.extend(page.changes.iter().map(|change| change.key.sort.clone().unwrap()));
        start = page.next.map_or(start, StreamStart::After);
    }
    assert_eq!(seen, (0..10).map(|n| format!("{n}").into()).collect::<Vec<_>>());
    // The same position, without the first reader's caches.
    let again = server.reconnect().table("things").await.unwrap();
    let empty = read(&again, start.clone(), 10, 0).await;
    assert!(empty.changes.is_empty() && empty.next.is_some());
    table.put(Put::new(item! { "PK" => "a", "SK" => "later" })).await.unwrap();
    assert_eq!(read(&again, start.clone(), 10, 0).await.changes.len(), 1);
    assert_eq!(read(&table, start, 10, 0).await.changes.len(), 1);
}

#[tokio::test]
async fn a_read_from_latest_returns_only_new_changes() {
    let server = Server::start().await;
    let table = server.table().await;
    table.put(Put::new(item! { "PK" => "a", "SK" => "before" })).await.unwrap();
    let page = read(&table, StreamStart::Latest, 10, 0).await;
    assert!(page.changes.is_empty());
    table.put(Put::new(item! { "PK" => "a", "SK" => "after" })).await.unwrap();
    let start = page.next.map_or(StreamStart::Latest, StreamStart::After);
    let page = read(&table, start, 10, 0).await;
    assert_eq!(page.changes.len(), 1);
    assert_eq!(page.changes[0].key, ("a", "after").into());
}

#[tokio::test]
async fn a_reader_can_wait_for_the_first_change() {
    let server = Server::start().await;
    let table = server.table().await;
    let empty = read(&table, StreamStart::Oldest, 10, 60).await;
    assert_eq!(empty, StreamPage::default());
    let waiting = table.clone();
    let reader = tokio::spawn(async move { read(&waiting, StreamStart::Oldest, 10, 10_000).await });
    tokio::task::yield_now().await;
    table.put(Put::new(item! { "PK" => "a", "SK" => "1" })).await.unwrap();
    assert_eq!(reader.await.unwrap().changes.len(), 1);
}

#[tokio::test]
async fn the_stream_of_a_recreated_table_can_be_read() {
    let server = Server::start().await;
    let table = server.table().await;
    table.put(Put::new(item! { "PK" => "a", "SK" => "1" })).await.unwrap();
    read(&table, StreamStart::Oldest, 10, 0).await;
    server.reconnect().delete_table("things").await.unwrap();
    server.reconnect().create_table(crate::server::definition()).await.unwrap();
    table.put(Put::new(item! { "PK" => "a", "SK" => "2" })).await.unwrap();
    // The in-process server keeps changes by the table's name, so the old ones may come first.
    let page = read(&table, StreamStart::Oldest, 10, 0).await;
    assert_eq!(page.changes.last().unwrap().key, ("a", "2").into());
}

#[tokio::test]
async fn a_missing_shard_counts_as_trimmed() {
    let server = Server::start().await;
    let table = server.table().await;
    let read = StreamRead::new(
        "shardId-00000001234567890123-deadbeef",
        StreamStart::After(Sequence::from(5)),
    )
    .limit(1);
    // Amazon's servers report it; the in-process one treats any name as an empty shard.
    match table.stream_read(read).await {
        Err(Error::StreamTrimmed { .. }) => {}
        Ok(page) => assert!(page.changes.is_empty()),
        Err(other) => panic!("{other}"),
    }
}
