//! Limits of background work: the log, the sweeps, the archive.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use roundtable_engine::{Engine, Options, Restore, RestorePoint, restore};
use roundtable_table::{
    Clock, KeyDefinition, ManualClock, Put, Query, Sequence, Store, StreamRead, StreamStart, Table,
    TableDefinition, Update, Value, item,
};

const NOW_MS: u64 = 1_800_000_000_000;

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
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    // Not those that are about to be renamed.
    let logs = paths.filter(|path| path.extension().is_some_and(|end| end == "log"));
    let read = |path: std::path::PathBuf| {
        // It may have been trimmed meanwhile.
        let bytes = std::fs::read(&path).ok()?;
        Some((path.file_name()?.to_str()?.to_owned(), bytes))
    };
    let mut files: Vec<_> = logs.filter_map(read).collect();
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

/// The position of a consumer that holds the log.
fn position(engine: &Engine, consumer: &str) -> Option<u64> {
    let holds = engine.holds().into_iter();
    holds.filter(|hold| hold.consumer == consumer).map(|hold| hold.sequence).next()
}

/// A store of an earlier version has no holds, and the log may be old after a long stop: without this, the
/// first trim removed what its processors had not read.
#[tokio::test]
async fn nothing_is_trimmed_before_every_expected_consumer_has_a_hold() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at_ms(NOW_MS));
    let options = |awaits_consumers| Options {
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        segment_bytes: 2 << 10,
        retention: Duration::from_hours(1),
        upkeep_interval: Duration::from_millis(1),
        awaits_consumers,
        ..Options::default()
    };
    let engine = Engine::open(directory.path(), options(false)).unwrap();
    let table = town(&engine).await;
    for n in 0..60 {
        let item = item! {"PK" => "p", "SK" => format!("{n}"), "text" => "x".repeat(100)};
        table.put(Put::new(item)).await.unwrap();
    }
    drop(table);
    engine.close().unwrap();
    // The clock jumps, or the store was closed for long.
    clock.advance_ms(48 * 3_600_000);
    let engine = Engine::open(directory.path(), options(true)).unwrap();
    let table = town(&engine).await;
    let first = || logs(&directory.path().join("log")).first().unwrap().0.clone();
    let oldest = first();
    // Sweeps follow trims, so an item that is swept shows that a trim has passed.
    let passes = async |n: u64| {
        for round in 0..2 {
            let swept = engine.metrics().expired;
            let sort = format!("{n}-{round}");
            let item = item! {"PK" => "brief", "SK" => sort, "ttl" => clock.now_seconds()};
            table.put(Put::new(item)).await.unwrap();
            until(|| engine.metrics().expired > swept);
        }
    };
    passes(0).await;
    assert_eq!(first(), oldest, "nobody has said who reads the stream");
    engine.expect_consumers(["fast", "slow"].map(String::from));
    let end = engine.metrics().sequence;
    engine.hold("fast", Some(end)).await.unwrap();
    passes(1).await;
    assert_eq!(first(), oldest, "a consumer has not said how far it is");
    engine.hold("slow", Some(30)).await.unwrap();
    until(|| first() != oldest);
    passes(2).await;
    let read = StreamRead::new(
        table.stream_shards().await.unwrap().first().unwrap().id.clone(),
        StreamStart::After(Sequence::from(30)),
    );
    assert!(!table.stream_read(read.clone()).await.unwrap().changes.is_empty());
    assert_eq!(position(&engine, "slow"), Some(30));
    assert!(engine.metrics().stream_lag >= end - 30);
    // An operator gives the slow one up.
    engine.hold("slow", None).await.unwrap();
    engine.checkpoint().unwrap();
    until(|| first().trim_end_matches(".log").parse::<u64>().unwrap() > 31);
    assert!(table.stream_read(read).await.is_err());
}

#[tokio::test]
async fn the_archive_is_a_consumer_that_no_one_else_can_hold_for() {
    let directory = tempfile::tempdir().unwrap();
    let archive = Some(directory.path().join("archive"));
    let options = Options { archive, ..Options::default() };
    let engine = Engine::open(directory.path().join("data"), options).unwrap();
    assert!(position(&engine, Engine::ARCHIVE).is_some());
    let error = engine.hold(Engine::ARCHIVE, Some(1)).await.unwrap_err().to_string();
    assert!(error.contains("the archive of log files"), "{error}");
}

/// Its age began at 0 with every restart, however long nothing had been archived.
#[tokio::test]
async fn after_a_restart_the_archive_is_as_old_as_its_newest_record() {
    const HOUR_MS: u64 = 3_600_000;
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at_ms(NOW_MS));
    let open = |archive: &str, cleans_up| {
        let options = Options {
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            archive: Some(directory.path().join(archive)),
            upkeep_interval: Duration::from_millis(1),
            cleans_up,
            ..Options::default()
        };
        Engine::open(directory.path().join("data"), options).unwrap()
    };
    let age = |engine: &Engine| engine.metrics().archive_age_ms.unwrap();
    let put = async |engine: &Engine, sort: &str| {
        let item = item! {"PK" => "p", "SK" => sort};
        town(engine).await.put(Put::new(item)).await.unwrap();
    };
    let engine = open("archive", true);
    put(&engine, "one").await;
    engine.close().unwrap();
    clock.advance_ms(HOUR_MS);
    // Without upkeep, nothing is archived.
    let engine = open("archive", false);
    assert_eq!(age(&engine), 0, "it lacks nothing");
    put(&engine, "two").await;
    engine.close().unwrap();
    clock.advance_ms(HOUR_MS);
    for archive in ["archive", "another"] {
        let engine = open(archive, false);
        assert_eq!(age(&engine), 2 * HOUR_MS, "{archive}");
        engine.close().unwrap();
    }
    let engine = open("archive", true);
    until(|| age(&engine) == 0);
}
