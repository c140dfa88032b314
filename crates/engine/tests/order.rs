//! The order of a table that earlier versions created without one: it is complete after an
//! interruption, a crash and a replay of the log.

#![expect(clippy::unwrap_used, reason = "this is test code")]

use std::time::Duration;

use futures::FutureExt;
use roundtable_engine::{Engine, Options};
use roundtable_table::{
    BatchWrite, Delete, Key, KeyDefinition, Store, Table, TableDefinition, Walk, item,
};

const ITEMS: usize = 5_000;

fn plain() -> TableDefinition {
    TableDefinition::new("town", KeyDefinition::texts("PK", "SK")).with_stream()
}

fn ordered() -> TableDefinition {
    plain().with_order("A#", "T#")
}

async fn open(path: &std::path::Path, definition: TableDefinition) -> (Engine, Table) {
    let engine = Engine::open(path, Options::default()).unwrap();
    let table = Store::new(engine.clone()).create_table(definition).await.unwrap();
    (engine, table)
}

async fn fill(table: &Table) {
    let items = (0..ITEMS).map(|nth| {
        item! {
            "PK" => format!("A#{}", nth % 700), "SK" => format!("T#{nth:05}"),
        }
    });
    let items: Vec<_> = items.map(BatchWrite::Put).collect();
    for batch in items.chunks(25) {
        table.batch_write(batch.to_vec()).await.unwrap();
    }
}

async fn sorts(table: &Table) -> Vec<String> {
    let walk = Walk { below: None, wants: &|_| true, limit: 10_000, passed_max: 10_000 };
    let page = table.walk(walk).await.unwrap();
    assert_eq!(page.down_to, None);
    page.items.iter().map(|item| item.text("SK").unwrap().to_owned()).collect()
}

fn expected(without: usize) -> Vec<String> {
    let left = (0..ITEMS).rev().filter(|nth| *nth != without);
    left.map(|nth| format!("T#{nth:05}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_order_is_completed_by_the_next_start() {
    let directory = tempfile::tempdir().unwrap();
    let (engine, table) = open(directory.path(), plain()).await;
    fill(&table).await;
    // The process stops while it creates the table with an order: after the first request, which
    // stores the definition.
    let store = Store::new(engine.clone());
    let mut creating = Box::pin(store.create_table(ordered()));
    assert!(creating.as_mut().now_or_never().is_none());
    while engine_definition(&store).await.order.is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(creating);
    let walk = Walk { below: None, wants: &|_| true, limit: 1, passed_max: 1 };
    let early = store.table("town").await.unwrap().walk(walk).await;
    assert!(early.is_err(), "an incomplete order answered {early:?}");
    let gone = Key::new(format!("A#{}", 4_000 % 700), "T#04000");
    table.delete(Delete::new(gone)).await.unwrap();
    drop((table, store));
    engine.abandon();

    let (engine, table) = open(directory.path(), ordered()).await;
    assert_eq!(sorts(&table).await, expected(4_000));
    assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
    drop(table);
    engine.abandon();

    // The log is replayed, then applied to the tree.
    let (engine, table) = open(directory.path(), ordered()).await;
    assert_eq!(sorts(&table).await, expected(4_000));
    engine.checkpoint().unwrap();
    assert_eq!(sorts(&table).await, expected(4_000));
    assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
}

async fn engine_definition(store: &Store) -> TableDefinition {
    TableDefinition::clone(store.table("town").await.unwrap().definition())
}
