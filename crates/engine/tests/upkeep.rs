//! Limits of background work: the log, the sweeps, the archive.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use roundtable_engine::{Engine, Options, Restore, RestorePoint, restore};
use roundtable_table::{
    Clock, KeyDefinition, ManualClock, Put, Query, Store, StreamRead, StreamStart, Table,
    TableDefinition, Update, Value, item,
};

const NOW_MS: u64 = 1_800_000_000_000;
/// Names the directory of a child process that may open few files.
const FEW_DESCRIPTORS: &str = "ROUNDTABLE_FEW_DESCRIPTORS_DIRECTORY";

async fn town(engine: &Engine) -> Table {
    let definition = TableDefinition::new("town", KeyDefinition::texts("PK", "SK"))
        .with_ttl("ttl")
        .with_stream();
    Store::new(engine.clone()).create_table(definition).await.unwrap()
}

/// Waits for an effect of another thread.
fn until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < deadline, "timed out after a minute");
        std::thread::yield_now();
    }
}

fn logs(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let mut files: Vec<_> = entries
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        })
        .filter(|(name, _)| Path::new(name).extension().is_some_and(|end| end == "log"))
        .collect();
    files.sort();
    files
}

/// The run never fills, because a counter's old versions are dropped; the log once grew without limit.
#[tokio::test]
async fn a_single_counter_does_not_make_the_log_grow_without_limit() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        memtable_bytes: 64 << 10,
        segment_bytes: 64 << 10,
        retention: Duration::ZERO,
        upkeep_interval: Duration::from_millis(1),
        ..Options::default()
    };
    let engine = Engine::open(directory.path(), options).unwrap();
    let table = town(&engine).await;
    let padding = "x".repeat(500);
    table.put(Put::new(item! {"PK" => "c", "SK" => "c", "padding" => padding})).await.unwrap();
    for _ in 0..2_000 {
        table.update(Update::new(("c", "c")).add("count", 1)).await.unwrap();
    }
    assert!(engine.metrics().group_bytes.sum > 2_000_000, "enough was written to tell");
    until(|| engine.metrics().log_bytes < 800_000);
    let counter = table.query(Query::new("c")).await.unwrap().items;
    assert_eq!(counter.first().unwrap().number("count"), Some(2_000.into()));
}

#[tokio::test]
async fn large_items_that_expire_together_are_removed_once_each_in_several_records() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at_ms(NOW_MS));
    let options = Options {
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        upkeep_interval: Duration::from_hours(1),
        ..Options::default()
    };
    let engine = Engine::open(directory.path(), options).unwrap();
    let table = town(&engine).await;
    let large = Value::from(vec![7u8; 390_000]);
    for n in 0..40 {
        let item = item! {
            "PK" => "p", "SK" => format!("{n}"), "large" => large.clone(), "ttl" => NOW_MS / 1000 + 5,
        };
        table.put(Put::new(item)).await.unwrap();
    }
    clock.advance_ms(5_000);
    let before = engine.metrics().group_bytes;
    engine.sweep().unwrap();
    // The upkeep thread may have removed some of them.
    until(|| engine.metrics().expired == 40);
    let after = engine.metrics().group_bytes;
    assert!(after.count >= before.count + 3, "40 items of 390 KB fit into no single record");
    let mut read = StreamRead::new(
        table.stream_shards().await.unwrap().first().unwrap().id.clone(),
        StreamStart::Oldest,
    );
    let mut removals = 0;
    loop {
        let page = table.stream_read(read.clone()).await.unwrap();
        if page.changes.is_empty() {
            break;
        }
        removals += page.changes.iter().filter(|change| change.expired).count();
        read.start = StreamStart::After(page.next.unwrap());
    }
    assert_eq!(removals, 40);
}

/// A store restored to an earlier point writes other changes under the same sequences.
#[tokio::test]
async fn a_restored_store_does_not_overwrite_the_archive_of_its_origin() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let options = || Options {
        segment_bytes: 2 << 10,
        retention: Duration::ZERO,
        archive: Some(at("archive")),
        upkeep_interval: Duration::from_millis(1),
        ..Options::default()
    };
    let fill = async |engine: &Engine, text: &str| {
        let table = town(engine).await;
        for n in 0..60 {
            let item = item! {"PK" => "p", "SK" => format!("{n}"), "text" => text};
            table.put(Put::new(item)).await.unwrap();
        }
    };
    let engine = Engine::open(at("data"), options()).unwrap();
    let sequence = engine.backup(at("backup")).unwrap();
    fill(&engine, "the first history").await;
    until(|| logs(&at("archive")).len() > 2);
    engine.close().unwrap();
    let archived = logs(&at("archive"));

    let plan = Restore {
        backup: at("backup"),
        archive: None,
        into: at("restored"),
        until: RestorePoint::Sequence(sequence),
    };
    restore(&plan).unwrap();
    let engine = Engine::open(at("restored"), options()).unwrap();
    fill(&engine, "another history altogether").await;
    engine.checkpoint().unwrap();
    // Nothing of the log is archived, so nothing may be trimmed, however old.
    let kept = logs(&at("restored/log"));
    engine.sweep().unwrap();
    assert!(kept.len() > 3);
    assert_eq!(logs(&at("restored/log")).first().unwrap().0, kept.first().unwrap().0);
    let now = logs(&at("archive"));
    assert!(archived.iter().all(|file| now.contains(file)), "the archive was written over");
}

#[tokio::test]
async fn a_consumer_name_has_a_length_limit() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path(), Options::default()).unwrap();
    for name in ["", &"x".repeat(3_000)] {
        let error = engine.hold(name, Some(1)).await.unwrap_err().to_string();
        assert!(error.contains("1 to 255 bytes"), "{error}");
    }
    engine.hold("reader", Some(1)).await.unwrap();
    engine.checkpoint().unwrap();
}

/// The child process; does nothing in a normal test run.
#[tokio::test]
async fn child() {
    let Ok(directory) = std::env::var(FEW_DESCRIPTORS) else { return };
    let options = Options {
        segment_bytes: 4 << 10,
        upkeep_interval: Duration::from_millis(1),
        ..Options::default()
    };
    let engine = Engine::open(&directory, options).unwrap();
    let table = town(&engine).await;
    let mut others = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        others.push(file);
    }
    let padding = "x".repeat(1_000);
    for n in 0..100 {
        let item = item! {"PK" => "p", "SK" => format!("{n}"), "padding" => padding.as_str()};
        table.put(Put::new(item)).await.unwrap();
    }
    drop(others);
    let segments = logs(&Path::new(&directory).join("log")).len();
    assert!(segments > 10, "{segments} segments: too few were started to tell");
}

/// A flood of connections once failed the start of a segment, which stopped all writes for good.
#[test]
fn the_log_goes_on_while_the_process_has_no_descriptors_left() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = Command::new("sh");
    child
        .args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--test-threads=1"])
        .env(FEW_DESCRIPTORS, directory.path());
    let done = child.output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && text.contains("1 passed"), "{text}");
}
