//! Acknowledged writes survive a restart, clean or with an unapplied log.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use roundtable_engine::{Engine, Options};
use roundtable_table::{
    Delete, Get, Key, KeyDefinition, Put, Query, Store, StreamRead, StreamStart, Table,
    TableDefinition, Update, item,
};
use std::os::unix::fs::PermissionsExt as _;

fn definition() -> TableDefinition {
    TableDefinition::new("town", KeyDefinition::texts("PK", "SK"))
        .with_index("GSI1", KeyDefinition::texts("GSI1PK", "GSI1SK"))
        .with_ttl("ttl")
        .with_stream()
}

async fn fill(table: &Table) {
    for n in 0..50 {
        let item = item! {
            "PK" => "USER#ana", "SK" => format!("POST#{n:03}"), "n" => n,
            "GSI1PK" => format!("DAY#{}", n % 3), "GSI1SK" => format!("{n:03}"),
        };
        table.put(Put::new(item)).await.unwrap();
    }
    table.delete(Delete::new(Key::new("USER#ana", "POST#007"))).await.unwrap();
    table
        .update(Update::new(Key::new("USER#ana", "POST#008")).set("GSI1PK", "DAY#9"))
        .await
        .unwrap();
}

async fn check(table: &Table) {
    let page = table.query(Query::new("USER#ana").descending().limit(60)).await.unwrap();
    assert_eq!(page.items.len(), 49);
    assert_eq!(page.items[0].text("SK"), Some("POST#049"));
    let moved = table.query(Query::new("DAY#9").index("GSI1")).await.unwrap();
    assert_eq!(moved.items.len(), 1);
    let day = table.query(Query::new("DAY#1").index("GSI1")).await.unwrap();
    assert_eq!(day.items.len(), 16, "seven was deleted");
    let gone = table.get(Get::new(Key::new("USER#ana", "POST#007"))).await.unwrap();
    assert!(gone.item.is_none());
    let read =
        StreamRead::new(table.stream_shards().await.unwrap()[0].id.clone(), StreamStart::Oldest);
    assert_eq!(table.stream_read(read).await.unwrap().changes.len(), 52);
}

#[tokio::test]
async fn a_clean_restart_and_a_crash_both_keep_everything() {
    let directory = tempfile::tempdir().unwrap();
    let open = || Engine::open(directory.path(), Options::default()).unwrap();
    let engine = open();
    let table = Store::new(engine.clone()).create_table(definition()).await.unwrap();
    fill(&table).await;
    check(&table).await;
    drop(table);
    engine.abandon();

    let engine = open();
    let table = Store::new(engine.clone()).table("town").await.unwrap();
    check(&table).await;
    assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
    engine.checkpoint().unwrap();
    check(&table).await;
    assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
    drop(table);
    engine.close().unwrap();

    let engine = open();
    assert_eq!(engine.metrics().memtable_bytes, 0, "a clean close leaves nothing to replay");
    check(&Store::new(engine).table("town").await.unwrap()).await;
}

#[test]
fn a_directory_cannot_be_opened_twice() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path(), Options::default()).unwrap();
    let error = Engine::open(directory.path(), Options::default()).unwrap_err().to_string();
    assert!(error.contains("another process") && error.contains("stop that one first"), "{error}");
    drop(engine);
    Engine::open(directory.path(), Options::default()).unwrap();
}

#[test]
fn data_directories_and_backups_are_readable_by_their_owner_only() {
    let around = tempfile::tempdir().unwrap();
    let (data, copy) = (around.path().join("data"), around.path().join("copy"));
    let engine = Engine::open(&data, Options::default()).unwrap();
    engine.backup(&copy).unwrap();
    for directory in [data, copy] {
        let mode = std::fs::metadata(directory).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
