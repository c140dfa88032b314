//! Closing a store while threads that have read from it end.
//!
//! A fuzzer that started and stopped servers crashed after a million of them: a thread ended in the moment in
//! which another one closed the tree, and LMDB wrote to the thread's reader slot, which was unmapped already.

use std::sync::Barrier;
use std::thread;

use futures::executor::block_on;
use roundtable_engine::{Engine, Options};
use roundtable_table::{Get, Key, KeyDefinition, Put, Store, TableDefinition, item};

/// The crash came about once in 300.
const TIMES: usize = 500;
const READERS: usize = 8;

#[test]
fn threads_that_have_read_may_end_while_the_store_closes() {
    let directory = tempfile::tempdir().unwrap();
    let definition = TableDefinition::new("town", KeyDefinition::texts("PK", "SK"));
    for _ in 0..TIMES {
        let engine = Engine::open(directory.path(), Options::default()).unwrap();
        let store = Store::new(engine.clone());
        let table = block_on(store.create_table(definition.clone())).unwrap();
        block_on(table.put(Put::new(item! { "PK" => "a", "SK" => "b" }))).unwrap();
        let barrier = Barrier::new(READERS + 1);
        thread::scope(|scope| {
            for _ in 0..READERS {
                let (table, barrier) = (table.clone(), &barrier);
                scope.spawn(move || {
                    let found = block_on(table.get(Get::new(Key::new("a", "b")))).unwrap();
                    assert!(found.item.is_some());
                    drop(table);
                    barrier.wait();
                });
            }
            barrier.wait();
            drop((engine, store, table));
        });
    }
}
