//! Data directories that the engine rejects, background removals, and metrics.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[path = "town/agreement.rs"]
mod agreement;
#[path = "town/gated_disk.rs"]
mod gated_disk;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use gated_disk::GatedDisk;
use roundtable_engine::{Engine, Options};
use roundtable_table::{
    BatchWrite, Clock as _, Error, Get, Key, ManualClock, Put, Query, Store, StreamRead,
    StreamStart, Table, item, not_exists,
};

const DIRECTORY: &str = "ROUNDTABLE_FAULTS_DIRECTORY";
const START_MS: u64 = 1_700_000_000_000;

async fn town(engine: &Engine) -> Table {
    Store::new(engine.clone()).create_table(agreement::definition("town")).await.unwrap()
}

fn quick(options: Options) -> Options {
    Options { sync_tree: false, upkeep_interval: Duration::from_hours(1), ..options }
}

/// All processors got stuck at it, and the server said that all was well.
#[tokio::test]
async fn damage_that_a_reader_of_the_stream_finds_is_reported() {
    let directory = closed_directory().await;
    let engine = Engine::open(directory.path(), quick(Options::default())).unwrap();
    assert_eq!(engine.health().problems, Vec::<String>::new());
    let first = segments(directory.path()).remove(0);
    let mut bytes = std::fs::read(&first).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&first, bytes).unwrap();
    let table = town(&engine).await;
    let shard = table.stream_shards().await.unwrap()[0].id.clone();
    let error = table.stream_read(StreamRead::new(shard, StreamStart::Oldest)).await.unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    let problems = engine.health().problems;
    assert_eq!(problems, [format!("{error}: restore from a backup")]);
    assert!(problems[0].contains(name(&first)), "{problems:?}");
    assert!(engine.health().takes_writes, "the tree is not concerned");
}

/// The other process; does nothing in a normal test run.
#[test]
fn another_process() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    match Engine::open(directory, quick(Options::default())) {
        Ok(_) => println!("opened"),
        Err(error) => println!("rejected: {error}"),
    }
}

#[test]
fn a_second_process_is_rejected_with_the_pid_of_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let try_it = || {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["another_process", "--exact", "--nocapture"])
            .env(DIRECTORY, directory.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let engine = Engine::open(directory.path(), quick(Options::default())).unwrap();
    let output = try_it();
    let owner = format!("another process (pid {}) has it open", std::process::id());
    assert!(output.contains("rejected: ") && output.contains(&owner), "{output}");
    drop(engine);
    assert!(try_it().contains("opened"));
}

/// A closed data directory with a few segments, the first of which are in the tree.
async fn closed_directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let options = || quick(Options { segment_bytes: 2 << 10, ..Options::default() });
    let engine = Engine::open(directory.path(), options()).unwrap();
    let table = town(&engine).await;
    for n in 0..60 {
        let item = item! { "PK" => "ROWS", "SK" => format!("{n}"), "text" => "x".repeat(100) };
        table.put(Put::new(item)).await.unwrap();
        if n == 20 {
            engine.checkpoint().unwrap();
        }
    }
    drop(table);
    engine.abandon();
    directory
}

fn segments(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory.join("log")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "log")).collect();
    paths.sort();
    paths
}

fn refusal(directory: &Path) -> String {
    let error = Engine::open(directory, quick(Options::default())).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    error.to_string()
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// A closed directory whose last segment has this format version in its header, and that segment.
async fn directory_of_format(version: u8) -> (tempfile::TempDir, PathBuf) {
    let directory = closed_directory().await;
    let last = segments(directory.path()).pop().unwrap();
    let mut bytes = std::fs::read(&last).unwrap();
    bytes[8] = version;
    let checksum = crc32fast::hash(&bytes[..20]);
    bytes[20..24].copy_from_slice(&checksum.to_le_bytes());
    std::fs::write(&last, bytes).unwrap();
    (directory, last)
}

#[tokio::test]
async fn a_segment_of_another_format_is_rejected_with_its_version() {
    let (directory, last) = directory_of_format(3).await;
    let error = refusal(directory.path());
    assert!(error.contains(name(&last)), "{error}");
    assert!(
        error.contains("its format is version 3, this program reads versions up to 2"),
        "{error}"
    );
}

/// Nothing is appended to it, so that a program for the first format can still read it.
#[tokio::test]
async fn a_segment_of_the_first_format_is_read_but_not_written() {
    let (directory, last) = directory_of_format(1).await;
    let before = std::fs::read(&last).unwrap();
    let copy = |n: usize| item! { "PK" => format!("FEED#{n:026}"), "SK" => "TS#1", "text" => "x" };
    for round in 0..2 {
        let engine = Engine::open(directory.path(), quick(Options::default())).unwrap();
        let table = Store::new(engine.clone()).table("town").await.unwrap();
        let rows = table.query(Query::new("ROWS")).await.unwrap();
        assert_eq!(rows.items.len(), 60);
        let copies = (0..25).map(|n| BatchWrite::Put(copy(round * 25 + n))).collect();
        table.batch_write(copies).await.unwrap();
        for n in 0..(round + 1) * 25 {
            let found = table.get(Get::new((format!("FEED#{n:026}"), "TS#1"))).await.unwrap();
            assert_eq!(found.item, Some(copy(n)));
        }
        drop(table);
        engine.abandon();
    }
    assert_eq!(std::fs::read(&last).unwrap(), before);
}

#[tokio::test]
async fn a_tree_of_another_format_is_rejected_with_its_version() {
    let directory = closed_directory().await;
    let tree = directory.path().join("tree.mdb");
    let mut bytes = std::fs::read(&tree).unwrap();
    let marks: Vec<usize> =
        (0..bytes.len() - 7).filter(|at| &bytes[*at..at + 7] == b"format1").collect();
    assert!(!marks.is_empty());
    marks.into_iter().for_each(|at| bytes[at + 6] = b'9');
    std::fs::write(&tree, bytes).unwrap();
    let error = refusal(directory.path());
    assert!(error.contains("tree.mdb") && error.contains("its format is \"9\""), "{error}");
}

#[tokio::test]
async fn a_file_that_is_not_a_segment_is_rejected() {
    for garbage in [&b""[..], b"short", &[0; 4096], &[0xa5; 4096]] {
        let directory = closed_directory().await;
        let last = segments(directory.path()).pop().unwrap();
        std::fs::write(&last, garbage).unwrap();
        let error = refusal(directory.path());
        assert!(error.contains(name(&last)), "{error}");
        assert!(error.contains("its header is not that of a log segment"), "{error}");
    }
}

#[tokio::test]
async fn a_missing_segment_is_rejected_at_any_position() {
    // The one in which the tree ends.
    let directory = closed_directory().await;
    let all = segments(directory.path());
    let log_of = |directory: &Path| directory.join("log");
    for path in &all[..all.len() - 1] {
        std::fs::remove_file(path).unwrap();
    }
    let error = refusal(directory.path());
    assert!(error.contains("which continues the tree, is missing"), "{error}");

    // All of them.
    std::fs::remove_dir_all(log_of(directory.path())).unwrap();
    let error = refusal(directory.path());
    assert!(error.contains("which continues the tree, is missing"), "{error}");

    // One in the middle of the part that is not in the tree.
    let directory = closed_directory().await;
    let all = segments(directory.path());
    std::fs::remove_file(&all[all.len() - 2]).unwrap();
    let error = refusal(directory.path());
    assert!(error.contains(name(all.last().unwrap())), "{error}");
    assert!(error.contains("the records before sequence") && error.contains("missing"), "{error}");
}

/// A log without its beginning was once opened silently if the tree was missing as well.
#[tokio::test]
async fn a_missing_tree_is_rejected_unless_the_log_is_complete() {
    let directory = closed_directory().await;
    std::fs::remove_file(directory.path().join("tree.mdb")).unwrap();
    let engine = Engine::open(directory.path(), quick(Options::default())).unwrap();
    let table = Store::new(engine.clone()).table("town").await.unwrap();
    let base = agreement::agree(&table, 0).await;
    assert!(base.len() == 60 && base.contains_key(&agreement::key("ROWS", "0")));
    assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
    drop((table, engine));

    std::fs::remove_file(directory.path().join("tree.mdb")).unwrap();
    let all = segments(directory.path());
    std::fs::remove_file(&all[0]).unwrap();
    let error = refusal(directory.path());
    assert!(error.contains(name(&all[1])), "{error}");
    assert!(error.contains("the log begins here, but the tree has nothing before it"), "{error}");
}

/// Returns whether a compact copy of the tree contains these bytes.
fn tree_holds(engine: &Engine, copy: &Path, needle: &str) -> bool {
    engine.checkpoint().unwrap();
    engine.backup(copy).unwrap();
    let bytes = std::fs::read(copy.join("tree.mdb")).unwrap();
    bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
}

#[tokio::test]
async fn the_rows_of_a_deleted_table_are_removed_even_after_a_restart() {
    for restarts in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let mut engine = Engine::open(&data, quick(Options::default())).unwrap();
        let store = Store::new(engine.clone());
        let doomed = store.create_table(agreement::definition("doomed")).await.unwrap();
        let kept = store.create_table(agreement::definition("kept")).await.unwrap();
        for n in 0..600 {
            let item = |text: &str| {
                item! {
                    "PK" => text, "SK" => format!("{n}"), "ttl" => 9_000_000_000_u64,
                    "GSI1PK" => format!("index of the {text}"), "GSI1SK" => format!("{n}"),
                }
            };
            doomed.put(Put::new(item("doomed row"))).await.unwrap();
            if n < 10 {
                kept.put(Put::new(item("kept row"))).await.unwrap();
            }
        }
        let copy = |name: &str| directory.path().join(name);
        assert!(tree_holds(&engine, &copy("before"), "doomed row"));
        store.delete_table("doomed").await.unwrap();
        let error = doomed.get(Get::new(Key::new("a", "b"))).await.unwrap_err();
        assert!(matches!(error, Error::TableNotFound { .. }));
        drop((doomed, kept, store));
        if restarts {
            engine.abandon();
            engine = Engine::open(&data, quick(Options::default())).unwrap();
        }
        engine.sweep().unwrap();
        assert!(!tree_holds(&engine, &copy("after"), "doomed row"));
        assert!(tree_holds(&engine, &copy("after-too"), "kept row"));
        assert_eq!(engine.audit().unwrap(), Vec::<String>::new());

        // A table of the same name starts empty.
        let store = Store::new(engine.clone());
        let table = store.create_table(agreement::definition("doomed")).await.unwrap();
        assert_eq!(agreement::agree(&table, 0).await.len(), 0);
        let kept = store.table("kept").await.unwrap();
        assert_eq!(agreement::agree(&kept, 0).await.len(), 10);
    }
}

#[tokio::test]
async fn expired_items_disappear_at_their_second_and_are_swept_once() {
    let clock = Arc::new(ManualClock::at_ms(START_MS));
    let directory = tempfile::tempdir().unwrap();
    let options = || quick(Options { clock: clock.clone(), ..Options::default() });
    let engine = Engine::open(directory.path(), options()).unwrap();
    let table = town(&engine).await;
    let expires = clock.now_seconds() + 60;
    let row = |n: u64| {
        item! {
            "PK" => "ROWS", "SK" => format!("{n:04}"), "ttl" => expires + n % 2 * 1000,
            "GSI1PK" => "DAY#1", "GSI1SK" => format!("{n:04}"),
        }
    };
    for n in 0..1200 {
        table.put(Put::new(row(n))).await.unwrap();
    }
    let visible = async |table: &Table| {
        let rows = table.query(Query::new("ROWS")).await.unwrap().items.len();
        let indexed = table.query(Query::new("DAY#1").index("GSI1")).await.unwrap().items.len();
        assert_eq!(rows, indexed);
        rows
    };
    clock.set_ms(expires * 1000 - 1);
    assert_eq!(engine.sweep().unwrap(), 0);
    assert_eq!(visible(&table).await, 1200);
    clock.set_ms(expires * 1000);
    assert_eq!(visible(&table).await, 600);
    assert!(table.get(Get::new(Key::new("ROWS", "0000"))).await.unwrap().item.is_none());
    // Conditions treat it as absent, and the write that replaces it removes it first.
    table.put(Put::new(row(1).with("SK", "0000")).when(not_exists("PK"))).await.unwrap();

    let sweeps: Vec<_> = (0..4)
        .map(|_| {
            let engine = engine.clone();
            std::thread::spawn(move || engine.sweep().unwrap())
        })
        .collect();
    let swept: usize = sweeps.into_iter().map(|sweep| sweep.join().unwrap()).sum();
    assert_eq!(swept, 599);
    assert_eq!(engine.metrics().expired, 599);
    drop(table);
    engine.abandon();

    let engine = Engine::open(directory.path(), options()).unwrap();
    assert_eq!(engine.sweep().unwrap(), 0);
    let table = Store::new(engine.clone()).table("town").await.unwrap();
    assert_eq!(visible(&table).await, 601);
    let mut removed = Vec::new();
    let mut start = StreamStart::Oldest;
    loop {
        let shard = table.stream_shards().await.unwrap()[0].id.clone();
        let read = StreamRead::new(shard, start).limit(500);
        let page = table.stream_read(read).await.unwrap();
        if page.changes.is_empty() {
            break;
        }
        let gone = page.changes.iter().filter(|change| change.new.is_none());
        removed.extend(gone.map(|change| (change.key.to_string(), change.expired)));
        start = StreamStart::After(page.next.unwrap());
    }
    assert!(removed.iter().all(|(_, expired)| *expired));
    removed.sort();
    removed.dedup();
    assert_eq!(removed.len(), 600, "one removal each");
    assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn metrics_reflect_the_work_done() {
    let directory = tempfile::tempdir().unwrap();
    let gate = GatedDisk::new(&directory.path().join("log"));
    let disk: Arc<dyn roundtable_engine::Disk> = Arc::new(gate.clone());
    let options = Options { memtable_bytes: 32 << 10, disk: Some(disk), ..Options::default() };
    let engine = Engine::open(directory.path(), quick(options)).unwrap();
    let table = town(&engine).await;
    let row = |n: u64| {
        Put::new(item! { "PK" => "ROWS", "SK" => format!("{n}"), "text" => "x".repeat(1000) })
    };
    let before = engine.metrics();
    gate.allow(0);
    for result in join_all((0..20).map(|n| table.put(row(n)))).await {
        result.unwrap();
    }
    let after = engine.metrics();
    assert_eq!(after.group_requests.sum - before.group_requests.sum, 20);
    let groups = after.group_requests.count - before.group_requests.count;
    assert!((1..=20).contains(&groups));
    assert_eq!(after.sync_us.count - before.sync_us.count, groups);
    assert!(after.sync_us.sum > before.sync_us.sum && after.sync_us.max > 0);
    assert!(after.group_bytes.sum - before.group_bytes.sum > 20_000);
    assert_eq!(after.log_bytes - before.log_bytes, after.group_bytes.sum - before.group_bytes.sum);
    assert!(after.memtable_bytes > before.memtable_bytes + 20_000);
    assert_eq!(after.sequence, before.sequence + 20);
    assert_eq!(after.group_requests.buckets.iter().sum::<u64>(), after.group_requests.count);

    // The tree cannot keep up: the writer pauses and counts the stall.
    assert_eq!(after.stall_us.count, 0);
    let mut written = 20;
    while engine.metrics().stall_us.count == 0 {
        assert!(written < 200, "the memtable is far beyond its limit and the writer did not pause");
        table.put(row(written)).await.unwrap();
        written += 1;
    }
    let behind = engine.metrics();
    assert!(behind.frozen_runs > 0 && behind.checkpoint_us.count == 0);
    gate.wait_for_a_commit();
    gate.allow(usize::MAX);
    engine.checkpoint().unwrap();
    let caught_up = engine.metrics();
    assert!(caught_up.checkpoint_us.count > 0 && caught_up.checkpoint_us.sum > 0);
    assert_eq!((caught_up.frozen_runs, caught_up.memtable_bytes), (0, 0));
    assert!(caught_up.tree_bytes > before.tree_bytes);

    // The lag of a reader is visible.
    assert_eq!(caught_up.stream_lag, 0);
    engine.hold("reader", Some(caught_up.sequence - 5)).await.unwrap();
    assert_eq!(engine.metrics().stream_lag, 6, "the hold takes a sequence itself");
    engine.hold("reader", None).await.unwrap();
    assert_eq!(engine.metrics().stream_lag, 0);
}
