//! A small store whose files are changed by inputs: several log segments, the first of which are in the
//! tree.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use roundtable_engine::{Disk as _, Engine, EngineStep, Options, SimulatedDisk};
use roundtable_table::{
    Delete, Key, KeyDefinition, ManualClock, Put, Store, Table, TableDefinition, Transaction, item,
};
use tempfile::TempDir;

/// The tree's file in a data directory.
pub(super) const TREE: &str = "tree.mdb";
pub(super) const ROWS: usize = 40;
const BEGIN_MS: u64 = 1_700_000_000_000;

/// The files of a store.
pub(super) struct BaseStore {
    /// Names and contents of the log's files, oldest first.
    pub(super) log: Vec<(String, Vec<u8>)>,
    pub(super) tree: Vec<u8>,
}

/// A directory in memory if possible: this does not test disks.
pub(super) fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub(super) fn options(disk: &SimulatedDisk) -> Options {
    Options {
        clock: Arc::new(ManualClock::at_ms(BEGIN_MS)),
        segment_bytes: 4 << 10,
        // Nothing is trimmed.
        retention: Duration::from_hours(24),
        sync_tree: false,
        is_stepped: true,
        disk: Some(Arc::new(disk.clone())),
        ..Options::default()
    }
}

/// The text of a row, which is found in its file by it.
pub(super) fn text(row: usize) -> String {
    format!("needle {row:04} {}", "hay ".repeat(20))
}

pub(super) fn key(row: usize) -> Key {
    Key::new("ROWS", format!("{row:04}"))
}

/// Waits for an operation of an engine that is stepped.
pub(super) fn stepped<T>(engine: &Engine, operation: impl Future<Output = T>) -> T {
    let mut operation = std::pin::pin!(operation);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(done) = operation.as_mut().poll(&mut context) {
            return done;
        }
        assert!(engine.step(EngineStep::Write), "the operation waits for nothing");
    }
}

impl BaseStore {
    pub(super) fn build() -> Self {
        let (disk, directory) = (SimulatedDisk::new(), directory());
        let engine = Engine::open(directory.path(), options(&disk)).unwrap();
        let table = table(&engine);
        for row in 0..ROWS {
            let (sort, group) = (format!("{row:04}"), format!("GROUP#{}", row % 3));
            let item = item! {
                "PK" => "ROWS", "SK" => sort.as_str(), "GSI1PK" => group, "GSI1SK" => sort.as_str(),
                "text" => text(row), "ttl" => 1_700_000_000_u64 + row as u64,
            };
            stepped(&engine, table.put(Put::new(item))).unwrap();
            if row == ROWS / 2 {
                engine.checkpoint().unwrap();
            }
        }
        for row in 0..4 {
            let delete = Transaction::new().with(&table, Delete::new(key(row)));
            let item = item! { "PK" => "ROWS", "SK" => format!("{row:04}x"), "text" => text(row) };
            let both = delete.with(&table, Put::new(item));
            stepped(&engine, Store::new(engine.clone()).transact(both)).unwrap();
        }
        drop(table);
        engine.abandon();
        let mut names = disk.names();
        names.retain(|name| Path::new(name).extension().is_some_and(|end| end == "log"));
        let contents = |name: String| disk.contents(&name).map(|bytes| (name, bytes));
        let log = names.into_iter().filter_map(contents).collect();
        Self { log, tree: std::fs::read(directory.path().join(TREE)).unwrap() }
    }

    /// A disk with these log files.
    pub(super) fn disk(log: &[(String, Vec<u8>)]) -> SimulatedDisk {
        let disk = SimulatedDisk::new();
        for (name, bytes) in log {
            let file = disk.create(name, 0).unwrap();
            file.write_at(bytes, 0).unwrap();
            file.sync().unwrap();
        }
        disk
    }

    /// Writes the tree's file into a directory.
    pub(super) fn write_tree(tree: &[u8], directory: &Path) {
        std::fs::write(directory.join(TREE), tree).unwrap();
    }
}

pub(super) fn definition() -> TableDefinition {
    TableDefinition::new("town", KeyDefinition::texts("PK", "SK"))
        .with_index("GSI1", KeyDefinition::texts("GSI1PK", "GSI1SK"))
        .with_ttl("ttl")
        .with_stream()
}

fn table(engine: &Engine) -> Table {
    let store = Store::new(engine.clone());
    stepped(engine, store.create_table(definition())).unwrap()
}
