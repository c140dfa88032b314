//! Backups under load, restores to a point between two writes, and retention of the log.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[path = "town/agreement.rs"]
mod agreement;
#[path = "town/gated_disk.rs"]
mod gated_disk;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gated_disk::GatedDisk;
use roundtable_engine::{Engine, Options, Restore, RestoreError, RestorePoint, restore};
use roundtable_table::{
    BatchWrite, Clock as _, Error, Get, Item, Key, ManualClock, Put, Sequence, Store, StreamRead,
    StreamStart, Table, Transaction, Update, item,
};

const START_MS: u64 = 1_700_000_000_000;
const WRITERS: usize = 8;
const BALANCE: u64 = 1000;

async fn town(engine: &Engine) -> Table {
    Store::new(engine.clone()).create_table(agreement::definition("town")).await.unwrap()
}

fn row(sort: &str, n: u64) -> Item {
    item! {
        "PK" => "ROWS", "SK" => sort, "n" => n, "padding" => "p".repeat(200),
        "GSI1PK" => format!("DAY#{}", n % 3), "GSI1SK" => sort,
    }
}

/// Opens a directory and returns its sort keys and numbers.
async fn rows(directory: &Path) -> Vec<String> {
    let engine = Engine::open(directory, Options::default()).unwrap();
    assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
    let table = Store::new(engine).table("town").await.unwrap();
    let base = agreement::agree(&table, START_MS / 1000).await;
    let rows = base.values().filter(|item| item.text("PK") == Some("ROWS"));
    rows.map(|item| format!("{}={}", item.text("SK").unwrap(), item.number("n").unwrap())).collect()
}

/// Writes from several tasks until stopped.
struct Load {
    acknowledged: Arc<[AtomicU64]>,
    stopped: Arc<AtomicBool>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    async fn start(table: &Table) -> Self {
        for n in 0..2 {
            let item = item! { "PK" => "ACCOUNTS", "SK" => format!("{n}"), "balance" => BALANCE };
            table.put(Put::new(item)).await.unwrap();
        }
        let acknowledged: Arc<[AtomicU64]> = (0..WRITERS).map(|_| AtomicU64::new(0)).collect();
        let stopped = Arc::new(AtomicBool::new(false));
        let tasks = (0..WRITERS).map(|writer| {
            let (table, stopped) = (table.clone(), Arc::clone(&stopped));
            let acknowledged = Arc::clone(&acknowledged);
            tokio::spawn(async move {
                let mut version = 0;
                while !stopped.load(Ordering::SeqCst) {
                    version += 1;
                    let amount = i64::try_from(version % 5).unwrap() - 2;
                    let account = |n: &str| Update::new(Key::new("ACCOUNTS", n));
                    let transaction = Transaction::new()
                        .with(&table, Put::new(row(&format!("WRITER#{writer}"), version)))
                        .with(&table, account("0").add("balance", amount))
                        .with(&table, account("1").add("balance", -amount));
                    table.store().transact(transaction).await.unwrap();
                    acknowledged[writer].store(version, Ordering::SeqCst);
                }
            })
        });
        let tasks = tasks.collect();
        Self { acknowledged, stopped, tasks }
    }

    fn acknowledged(&self) -> Vec<u64> {
        self.acknowledged.iter().map(|version| version.load(Ordering::SeqCst)).collect()
    }

    async fn stop(self) {
        self.stopped.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.unwrap();
        }
    }
}

/// Checks that a copy is consistent, and no older than the call that made it.
async fn check_copy(directory: &Path, sequence: u64, acknowledged: &[u64]) {
    let engine = Engine::open(directory, Options::default()).unwrap();
    assert_eq!(engine.metrics().sequence, sequence);
    assert_eq!(engine.metrics().cut_bytes, 0);
    assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
    let table = Store::new(engine).table("town").await.unwrap();
    let base = agreement::agree(&table, START_MS / 1000).await;
    let number = |item: &Item, name| item.number(name).unwrap().to_u64().unwrap();
    let accounts = ["0", "1"].map(|n| number(&base[&agreement::key("ACCOUNTS", n)], "balance"));
    assert_eq!(accounts.iter().sum::<u64>(), 2 * BALANCE);
    for (writer, version) in acknowledged.iter().enumerate() {
        let item = base.get(&agreement::key("ROWS", &format!("WRITER#{writer}")));
        let found = item.map_or(0, |item| number(item, "n"));
        assert!(
            found >= *version,
            "writer {writer}: {version} was acknowledged, the copy has {found}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_is_consistent_and_has_all_acknowledged_writes() {
    let home = tempfile::tempdir().unwrap();
    let options = Options {
        memtable_bytes: 8 << 10,
        segment_bytes: 4 << 10,
        retention: Duration::ZERO,
        upkeep_interval: Duration::from_millis(1),
        sync_tree: false,
        ..Options::default()
    };
    // Enough data that the log would be trimmed while the tree is copied.
    let quick = Options { sync_tree: false, ..Options::default() };
    let engine = Engine::open(home.path().join("data"), quick).unwrap();
    let table = town(&engine).await;
    for batch in 0..30 {
        let large = |n| item! { "PK" => format!("{batch}"), "SK" => n, "x" => "x".repeat(10_000) };
        let put = |n: u64| BatchWrite::Put(large(format!("{n}")));
        table.batch_write((0..25).map(put).collect()).await.unwrap();
    }
    drop(table);
    engine.close().unwrap();
    let engine = Engine::open(home.path().join("data"), options).unwrap();
    let load = Load::start(&town(&engine).await).await;
    let mut copies = Vec::new();
    for n in 0..6 {
        let before = engine.metrics().sequence;
        until(|| engine.metrics().sequence > before + 100);
        let into = home.path().join(format!("backup-{n}"));
        let acknowledged = load.acknowledged();
        copies.push((engine.backup(&into).unwrap(), into, acknowledged));
    }
    load.stop().await;
    for (sequence, backup, acknowledged) in copies {
        let into = home.path().join(format!("restored-{sequence}"));
        let plan = Restore {
            backup: backup.clone(),
            archive: None,
            into: into.clone(),
            until: RestorePoint::Latest,
        };
        assert_eq!(restore(&plan).unwrap(), sequence);
        check_copy(&into, sequence, &acknowledged).await;
        check_copy(&backup, sequence, &acknowledged).await;
    }
}

/// Waits for an effect of another thread.
fn until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < deadline, "timed out after a minute");
        std::thread::yield_now();
    }
}

fn refusal(plan: &Restore) -> String {
    let error = restore(plan).unwrap_err().to_string();
    let left = std::fs::read_dir(&plan.into).is_ok_and(|mut files| files.next().is_some());
    assert!(!left || error.contains("not empty"), "a failed restore left files behind: {error}");
    error
}

/// Data directories with a manual clock.
struct Home {
    directory: tempfile::TempDir,
    clock: Arc<ManualClock>,
}

impl Home {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::at_ms(START_MS));
        Self { directory: tempfile::tempdir().unwrap(), clock }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn options(&self) -> Options {
        Options {
            clock: self.clock.clone(),
            segment_bytes: 2 << 10,
            upkeep_interval: Duration::from_millis(1),
            sync_tree: false,
            ..Options::default()
        }
    }

    fn plan(&self, into: &str, until: RestorePoint) -> Restore {
        Restore { backup: self.path("backup"), archive: None, into: self.path(into), until }
    }

    /// Puts a row a second later; returns its time and sequence.
    async fn put(&self, engine: &Engine, sort: &str, n: u64) -> (u64, u64) {
        self.clock.advance_ms(1000);
        let table = Store::new(engine.clone()).table("town").await.unwrap();
        table.put(Put::new(row(sort, n))).await.unwrap();
        (self.clock.now_ms(), engine.metrics().sequence)
    }
}

#[tokio::test]
async fn a_restore_to_a_point_between_two_writes_has_the_first_only() {
    let home = Home::new();
    let engine = Engine::open(home.path("data"), home.options()).unwrap();
    town(&engine).await;
    let (_, zeroth) = home.put(&engine, "zeroth", 0).await;
    engine.checkpoint().unwrap();
    let (first_ms, first) = home.put(&engine, "first", 1).await;
    let (second_ms, second) = home.put(&engine, "second", 2).await;
    home.put(&engine, "first", 3).await;
    engine.backup(home.path("backup")).unwrap();

    let shown = ["first=1", "zeroth=0"];
    for (into, until) in [
        ("by-sequence", RestorePoint::Sequence(first)),
        ("by-time", RestorePoint::Time(first_ms)),
        ("by-time-between", RestorePoint::Time(second_ms - 1)),
    ] {
        assert_eq!(restore(&home.plan(into, until)).unwrap(), first);
        assert_eq!(rows(&home.path(into)).await, shown);
    }
    let plan = home.plan("second", RestorePoint::Sequence(second));
    assert_eq!(restore(&plan).unwrap(), second);
    assert_eq!(rows(&home.path("second")).await, ["first=1", "second=2", "zeroth=0"]);

    // A restore cannot go back before the checkpoint in the backup's tree.
    let error = refusal(&home.plan("too-early", RestorePoint::Sequence(zeroth - 1)));
    let reason = format!("the backup already holds sequence {zeroth}; use an earlier backup");
    assert!(error.contains("cannot restore") && error.contains(&reason), "{error}");
    restore(&home.plan("too-early", RestorePoint::Sequence(zeroth))).unwrap();
    assert_eq!(rows(&home.path("too-early")).await, ["zeroth=0"]);
    // The backup itself is a data directory.
    assert_eq!(rows(&home.path("backup")).await, ["first=3", "second=2", "zeroth=0"]);

    // The restored store accepts writes.
    let engine = Engine::open(home.path("by-time"), home.options()).unwrap();
    home.put(&engine, "third", 3).await;
    drop(engine);
    assert_eq!(rows(&home.path("by-time")).await, ["first=1", "third=3", "zeroth=0"]);
}

#[tokio::test]
async fn a_restore_from_archived_segments_reaches_any_point_after_the_backup() {
    let home = Home::new();
    let options = Options { archive: Some(home.path("archive")), ..home.options() };
    let engine = Engine::open(home.path("data"), options).unwrap();
    let table = town(&engine).await;
    home.put(&engine, "first", 1).await;
    engine.checkpoint().unwrap();
    let at_backup = engine.backup(home.path("backup")).unwrap();
    let (second_ms, second) = home.put(&engine, "second", 2).await;
    home.clock.advance_ms(1000);
    let transaction =
        Transaction::new().with(&table, Put::new(row("a", 1))).with(&table, Put::new(row("b", 1)));
    table.store().transact(transaction).await.unwrap();
    // Enough to complete and archive the segments with these writes.
    for n in 0..40 {
        home.put(&engine, "later", n).await;
    }
    let last = log_files(&home.path("data/log")).last().unwrap().clone();
    until(|| log_files(&home.path("archive")).len() + 1 >= log_files(&home.path("data/log")).len());
    assert!(!log_files(&home.path("archive")).contains(&last), "the last one is not complete");

    let plan = |into: &str, until| Restore {
        archive: Some(home.path("archive")),
        ..home.plan(into, until)
    };
    let shown = ["first=1", "second=2"];
    for (into, until) in [
        ("by-sequence", RestorePoint::Sequence(second)),
        ("by-time", RestorePoint::Time(second_ms + 1)),
        // Transactions are restored whole or not at all.
        ("within-transaction", RestorePoint::Sequence(second + 1)),
    ] {
        assert_eq!(restore(&plan(into, until)).unwrap(), second);
        assert_eq!(rows(&home.path(into)).await, shown);
    }
    restore(&plan("with-transaction", RestorePoint::Sequence(second + 2))).unwrap();
    let whole = ["a=1", "b=1", "first=1", "second=2"];
    assert_eq!(rows(&home.path("with-transaction")).await, whole);
    assert_eq!(restore(&home.plan("bare", RestorePoint::Latest)).unwrap(), at_backup);
    assert_eq!(rows(&home.path("bare")).await, ["first=1"]);
    let reached = restore(&plan("latest", RestorePoint::Latest)).unwrap();
    assert!(reached > second + 2);

    // A gap in the archive is detected by the restore itself.
    let archived = log_files(&home.path("archive"));
    std::fs::remove_file(home.path("archive").join(&archived[archived.len() / 2])).unwrap();
    let error = refusal(&plan("hole", RestorePoint::Latest));
    assert!(error.contains("neither the backup nor the archive has the next log file"), "{error}");
}

#[tokio::test]
async fn a_backup_between_two_transactions_of_a_checkpoint_holds_the_whole_run() {
    let home = Home::new();
    let gate = GatedDisk::new(&home.path("log"));
    let options = Options {
        disk: Some(Arc::new(gate.clone())),
        segment_bytes: 64 << 20,
        upkeep_interval: Duration::from_hours(1),
        ..home.options()
    };
    let engine = Engine::open(home.path("data"), options).unwrap();
    let table = town(&engine).await;
    // More than the tree takes in one transaction.
    for batch in 0..220 {
        let put = |n| BatchWrite::Put(row(&format!("{batch:03}-{n:02}"), n));
        table.batch_write((0..25).map(put).collect()).await.unwrap();
    }
    let end = engine.metrics().sequence;
    gate.allow(1);
    let checkpoint = std::thread::spawn({
        let engine = engine.clone();
        move || engine.checkpoint()
    });
    gate.wait_for_a_commit();
    assert_eq!(engine.backup(home.path("backup")).unwrap(), end);
    gate.allow(usize::MAX);
    checkpoint.join().unwrap().unwrap();

    let error = refusal(&home.plan("middle", RestorePoint::Sequence(end / 2)));
    assert!(error.contains(&format!("already holds sequence {end}")), "{error}");
    assert_eq!(restore(&home.plan("whole", RestorePoint::Sequence(end))).unwrap(), end);
    assert_eq!(rows(&home.path("whole")).await.len(), 5500);
}

#[tokio::test]
async fn a_target_directory_that_is_not_empty_is_rejected() {
    let home = Home::new();
    let engine = Engine::open(home.path("data"), home.options()).unwrap();
    town(&engine).await;
    std::fs::create_dir(home.path("taken")).unwrap();
    std::fs::write(home.path("taken/letter"), "dear ana").unwrap();
    let error = engine.backup(home.path("taken")).unwrap_err().to_string();
    assert!(error.contains("taken") && error.contains("it is not empty"), "{error}");
    engine.backup(home.path("backup")).unwrap();
    let error = refusal(&home.plan("taken", RestorePoint::Latest));
    assert!(error.contains("taken") && error.contains("it is not empty"), "{error}");
    let error = engine.backup(home.path("data")).unwrap_err().to_string();
    assert!(error.contains("it is not empty"), "{error}");
    assert_eq!(std::fs::read_to_string(home.path("taken/letter")).unwrap(), "dear ana");
}

/// The range of times that a refused restore says it could restore.
fn covered(plan: &Restore) -> (Option<u64>, Option<u64>) {
    match restore(plan).unwrap_err() {
        RestoreError::NotCovered { from_ms, to_ms } => (from_ms, to_ms),
        RestoreError::Store(error) => panic!("{error}"),
    }
}

/// It once restored the last state that it had, and said that all was well.
#[tokio::test]
async fn a_restore_to_a_time_that_is_not_covered_is_refused_with_the_range_that_is() {
    let home = Home::new();
    let engine = Engine::open(home.path("data"), home.options()).unwrap();
    town(&engine).await;
    let (first_ms, _) = home.put(&engine, "first", 1).await;
    engine.checkpoint().unwrap();
    let (second_ms, second) = home.put(&engine, "second", 2).await;
    engine.backup(home.path("backup")).unwrap();
    let range = (Some(first_ms), Some(second_ms));
    for outside in [0, first_ms - 1, second_ms + 1, u64::MAX] {
        let plan = home.plan("outside", RestorePoint::Time(outside));
        assert_eq!(covered(&plan), range, "at {outside}");
        assert!(!home.path("outside").exists());
    }
    let error = restore(&home.plan("outside", RestorePoint::Time(0))).unwrap_err().to_string();
    assert!(error.starts_with("cannot restore to that point: "), "{error}");
    for (into, inside) in [("from", first_ms), ("between", first_ms + 1), ("to", second_ms)] {
        restore(&home.plan(into, RestorePoint::Time(inside))).unwrap();
        let shown: &[&str] =
            if inside == second_ms { &["first=1", "second=2"] } else { &["first=1"] };
        assert_eq!(rows(&home.path(into)).await, shown);
    }
    assert_eq!(restore(&home.plan("all", RestorePoint::Latest)).unwrap(), second);
}

/// Makes the archive a link to this directory, at once.
fn link(home: &Home, target: &str) {
    std::os::unix::fs::symlink(home.path(target), home.path("link")).unwrap();
    std::fs::rename(home.path("link"), home.path("archive")).unwrap();
}

/// Up to 64 MiB of changes, which may be those of days, were once in no archive.
#[tokio::test]
async fn the_archive_receives_the_synced_tail_at_its_interval_and_when_the_store_is_closed() {
    const MINUTE_MS: u64 = 60_000;
    let home = Home::new();
    let options = || Options {
        archive: Some(home.path("archive")),
        segment_bytes: 64 << 20,
        ..home.options()
    };
    std::fs::create_dir(home.path("kept")).unwrap();
    link(&home, "kept");
    let engine = Engine::open(home.path("data"), options()).unwrap();
    town(&engine).await;
    engine.backup(home.path("backup")).unwrap();
    let age = |engine: &Engine| engine.metrics().archive_age_ms.unwrap();
    let restored = async |into: &str| {
        let archive = Some(home.path("archive"));
        restore(&Restore { archive, ..home.plan(into, RestorePoint::Latest) }).unwrap();
        rows(&home.path(into)).await
    };
    home.put(&engine, "first", 1).await;
    let_upkeep_pass(&engine, &home.clock).await;
    assert_eq!(age(&engine), 1_000, "a second has passed since the start");
    assert_eq!(log_files(&home.path("archive")).len(), 0);
    home.clock.advance_ms(MINUTE_MS);
    until(|| age(&engine) == 0);
    assert_eq!(restored("one").await, ["first=1"]);
    // The same file grows.
    home.put(&engine, "second", 2).await;
    let_upkeep_pass(&engine, &home.clock).await;
    assert_eq!(restored("two").await, ["first=1"]);
    home.clock.advance_ms(MINUTE_MS);
    until(|| age(&engine) == 0);
    assert_eq!(restored("three").await, ["first=1", "second=2"]);
    assert_eq!(log_files(&home.path("archive")).len(), 1);
    // Also if the clock is set back.
    home.put(&engine, "third", 3).await;
    home.clock.set_ms(START_MS);
    until(|| {
        let held = engine.holds().into_iter().find(|hold| hold.consumer == Engine::ARCHIVE);
        held.unwrap().sequence == engine.metrics().sequence
    });
    assert_eq!(restored("four").await, ["first=1", "second=2", "third=3"]);
    // An archive that cannot be reached gets old, and is not hidden by a store where nothing happens.
    link(&home, "nowhere");
    home.clock.advance_ms(5 * MINUTE_MS);
    let_upkeep_pass(&engine, &home.clock).await;
    assert!(age(&engine) >= 5 * MINUTE_MS);
    link(&home, "kept");
    until(|| age(&engine) == 0);
    home.put(&engine, "fourth", 4).await;
    engine.close().unwrap();
    assert_eq!(restored("five").await.len(), 4, "nothing is lost when it is closed");

    // After a restart it goes on with the same file.
    let engine = Engine::open(home.path("data"), options()).unwrap();
    home.put(&engine, "fifth", 5).await;
    home.clock.advance_ms(MINUTE_MS);
    until(|| age(&engine) == 0);
    assert_eq!(restored("six").await.len(), 5);
}

/// An operator may copy the files of the log there, with the zeros at their end.
#[tokio::test]
async fn a_log_file_that_was_copied_into_the_archive_by_hand_is_brought_up_to_date() {
    let home = Home::new();
    let engine = Engine::open(home.path("data"), home.options()).unwrap();
    town(&engine).await;
    engine.backup(home.path("backup")).unwrap();
    home.put(&engine, "first", 1).await;
    engine.close().unwrap();
    std::fs::create_dir(home.path("archive")).unwrap();
    for name in log_files(&home.path("data/log")) {
        let mut bytes = std::fs::read(home.path("data/log").join(&name)).unwrap();
        bytes.resize(bytes.len().max(2 << 10) + 3_000_000, 0);
        std::fs::write(home.path("archive").join(&name), bytes).unwrap();
    }
    let options = Options { archive: Some(home.path("archive")), ..home.options() };
    let engine = Engine::open(home.path("data"), options).unwrap();
    home.put(&engine, "second", 2).await;
    engine.close().unwrap();
    let archive = Some(home.path("archive"));
    restore(&Restore { archive, ..home.plan("restored", RestorePoint::Latest) }).unwrap();
    assert_eq!(rows(&home.path("restored")).await, ["first=1", "second=2"]);
}

fn log_files(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let segments = paths.filter(|path| path.extension().is_some_and(|end| end == "log"));
    let names = segments.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Waits for full passes of the upkeep thread, which sweeps expired items after trimming the log.
async fn let_upkeep_pass(engine: &Engine, clock: &ManualClock) {
    let table = town(engine).await;
    for n in 0..3 {
        let swept = engine.metrics().expired;
        let item = item! { "PK" => "BRIEF", "SK" => format!("{n}"), "ttl" => clock.now_seconds() };
        table.put(Put::new(item)).await.unwrap();
        until(|| engine.metrics().expired > swept);
    }
}

async fn read_after(table: &Table, sequence: u64) -> Result<usize, Error> {
    let read = StreamRead::new(
        table.stream_shards().await.unwrap()[0].id.clone(),
        StreamStart::After(Sequence::from(sequence)),
    )
    .limit(10);
    table.stream_read(read).await.map(|page| page.changes.len())
}

/// On a disk that both share, the log and the archive once kept each other from recovering.
#[tokio::test]
async fn what_is_archived_is_trimmed_while_the_archive_takes_no_more() {
    let home = Home::new();
    let log = home.path("data/log");
    let options = Options {
        archive: Some(home.path("archive")),
        retention: Duration::from_hours(1),
        ..home.options()
    };
    let engine = Engine::open(home.path("data"), options).unwrap();
    let table = town(&engine).await;
    for n in 0..40 {
        table.put(Put::new(row(&format!("{n}"), n))).await.unwrap();
    }
    let files = log_files(&log);
    until(|| log_files(&home.path("archive")).len() > 4);
    engine.checkpoint().unwrap();
    std::fs::rename(home.path("archive"), home.path("before")).unwrap();
    std::fs::write(home.path("archive"), "in the way").unwrap();
    home.clock.advance_ms(2 * 3_600_000);
    until(|| log_files(&log)[0] != files[0]);
}

#[tokio::test]
async fn the_log_keeps_recent_unapplied_unarchived_and_held_segments() {
    const HOUR_MS: u64 = 3_600_000;
    let home = Home::new();
    let log = home.path("data/log");
    let options = || Options {
        archive: Some(home.path("archive")),
        retention: Duration::from_hours(1),
        ..home.options()
    };
    // A file blocks the archive directory.
    std::fs::write(home.path("archive"), "in the way").unwrap();
    let engine = Engine::open(home.path("data"), options()).unwrap();
    let table = town(&engine).await;
    for n in 0..40 {
        table.put(Put::new(row(&format!("{n}"), n))).await.unwrap();
    }
    let (sequence, files) = (engine.metrics().sequence, log_files(&log));
    assert!(files.len() > 4);
    let first = || log_files(&log)[0].clone();
    let hold = |engine: &Engine, sequence| {
        let engine = engine.clone();
        async move { engine.hold("reader", sequence).await.unwrap() }
    };

    // In the tree, old and not held, but not archived.
    engine.checkpoint().unwrap();
    home.clock.advance_ms(2 * HOUR_MS);
    let_upkeep_pass(&engine, &home.clock).await;
    assert_eq!(first(), files[0]);
    // Archived, but held by a reader.
    hold(&engine, Some(0)).await;
    std::fs::remove_file(home.path("archive")).unwrap();
    until(|| log_files(&home.path("archive")).len() > 4);
    let_upkeep_pass(&engine, &home.clock).await;
    assert_eq!(first(), files[0]);
    assert_eq!(read_after(&table, 0).await.unwrap(), 10);
    assert!(engine.metrics().stream_lag >= sequence);

    // The hold survives a restart, both from the log and from the tree.
    drop(table);
    engine.abandon();
    for _ in 0..2 {
        let engine = Engine::open(home.path("data"), options()).unwrap();
        assert!(engine.metrics().stream_lag >= sequence);
        let_upkeep_pass(&engine, &home.clock).await;
        assert_eq!(first(), files[0]);
        engine.close().unwrap();
    }

    // The reader advances, and the log is trimmed up to its segment.
    let engine = Engine::open(home.path("data"), options()).unwrap();
    let table = town(&engine).await;
    hold(&engine, Some(sequence / 2)).await;
    until(|| first() != files[0]);
    let_upkeep_pass(&engine, &home.clock).await;
    assert!(read_after(&table, sequence / 2).await.is_ok());
    let error = read_after(&table, 1).await.unwrap_err();
    assert!(matches!(&error, Error::StreamTrimmed { table, .. } if table == "town"), "{error}");
    assert_eq!(error.to_string(), "the stream of \"town\" no longer holds changes after 1");
    agreement::agree(&table, home.clock.now_seconds()).await;

    // Recent segments and those not in the tree stay without any reader.
    hold(&engine, None).await;
    engine.checkpoint().unwrap();
    let young = engine.metrics().sequence;
    for n in 0..40 {
        table.put(Put::new(row(&format!("young-{n}"), n))).await.unwrap();
    }
    let_upkeep_pass(&engine, &home.clock).await;
    assert!(read_after(&table, young).await.is_ok());
    home.clock.advance_ms(2 * HOUR_MS);
    let_upkeep_pass(&engine, &home.clock).await;
    assert!(read_after(&table, young).await.is_ok(), "it is old, but not in the tree");
    engine.checkpoint().unwrap();
    until(|| first().trim_end_matches(".log").parse::<u64>().unwrap() > young + 1);
    let_upkeep_pass(&engine, &home.clock).await;
    assert!(read_after(&table, young).await.is_err());
    let found = table.get(Get::new(Key::new("ROWS", "young-1"))).await.unwrap();
    assert!(found.item.is_some(), "only the stream is trimmed");
    assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
}
