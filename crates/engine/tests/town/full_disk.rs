//! Disks that are full for a while, processes without file descriptors, and threads that panic: the engine says
//! so, and goes on once it can.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use roundtable_engine::{DiskFault, Engine, IoStep, Options, SimulatedDisk};
use roundtable_table::{Delete, Error, Get, Key, Put, Query, Store, Table, essential, item};

use crate::script::Script;
use crate::{FOREVER, Home, block_on, in_memory, recover, steps};

const DIRECTORY: &str = "ROUNDTABLE_SMALL_DIRECTORY";
const MIB: usize = 1 << 20;

/// Waits for an effect of another thread.
fn until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < deadline, "timed out after a minute");
        std::thread::sleep(Duration::from_millis(1));
    }
}

async fn town(engine: &Engine) -> Table {
    Store::new(engine.clone()).create_table(crate::agreement::definition("town")).await.unwrap()
}

fn row(n: usize) -> Put {
    Put::new(item! { "PK" => "ROWS", "SK" => format!("{n:06}"), "text" => "x".repeat(1000) })
}

fn is_paused<T>(done: &Result<T, Error>) -> bool {
    matches!(done, Err(Error::WritesPaused { .. }))
}

/// A fault comes up at every step and passes: what was refused did not happen, what was acknowledged is there,
/// and writes go on without a restart.
async fn pause_everywhere(fault: DiskFault, lasting: &[IoStep]) -> String {
    let mut paused = 0;
    for step in 1..=steps(Duration::ZERO).await {
        let home = Home::new(Duration::ZERO);
        home.disk.fail_at(step, fault);
        let mut script = Script::new();
        let Ok(engine) = home.open(&script) else { continue };
        let lived = script.live(&engine).await;
        // A run may take fewer steps than the last one.
        home.disk.cancel_faults();
        let taken = home.disk.trace().get(usize::try_from(step).unwrap() - 1).cloned();
        if taken.is_some_and(|(kind, _)| lasting.contains(&kind)) {
            continue;
        }
        if let Err(error) = lived {
            assert!(matches!(error, Error::WritesPaused { .. }), "step {step}: {error:?}");
            script.give_up_pending();
            script.check_acknowledged(&engine).await;
            paused += 1;
        }
        home.disk.make_room();
        until(|| engine.health().problems.is_empty());
        assert!(engine.health().takes_writes);
        script.go_on(&engine).await;
        engine.abandon();
        recover(&home.with(home.disk.crash(step)), &mut script.clone()).await;
        recover(&home.with(home.disk.kill()), &mut script).await;
    }
    assert!(paused > 10, "{paused}");
    format!("{fault:?} paused writes {paused} times")
}

/// Writes once stopped until a restart.
#[test]
fn a_full_disk_pauses_writes_until_there_is_space_again() {
    println!("{}", block_on(pause_everywhere(DiskFault::DiskFull, &[])));
}

/// A failed rotation of the log once stopped writes until a restart.
#[test]
fn a_lack_of_file_descriptors_pauses_writes_until_there_are_some() {
    // No system reports it for these, and what a failed sync leaves is unknown.
    let lasting = [IoStep::Sync, IoStep::Truncate];
    println!("{}", block_on(pause_everywhere(DiskFault::NoDescriptors, &lasting)));
}

/// The part of a group that landed is whole records. They must not come back after their writers were told that
/// nothing happened, nor follow a shorter group in their place.
#[test]
fn a_crash_before_a_torn_group_is_cut_off_loses_nothing() {
    block_on(async {
        let mut hit = 0;
        for step in 1..=steps(FOREVER).await {
            for then in [DiskFault::CrashBefore, DiskFault::CrashAfter] {
                let home = Home::new(FOREVER);
                home.disk.fail_at(step, DiskFault::DiskFull);
                home.disk.fail_at(step + 1, then);
                let mut script = Script::new();
                let Ok(engine) = home.open(&script) else { continue };
                // Whatever it says: the machine is off.
                let _ = script.live(&engine).await;
                drop(engine);
                let trace = home.disk.trace();
                hit += usize::from(trace.last().is_some_and(|(kind, _)| *kind == IoStep::Truncate));
                recover(&home.with(home.disk.crash(step)), &mut script.clone()).await;
                recover(&home.with(home.disk.kill()), &mut script).await;
            }
        }
        assert!(hit > 10, "{hit}");
    });
}

#[test]
fn the_reserve_is_for_essential_writes_deletions_and_the_engine() {
    block_on(async {
        let (tree, disk) = (in_memory(), SimulatedDisk::new());
        let options = Options {
            reserve_bytes: 4 << 20,
            upkeep_interval: Duration::from_millis(1),
            sync_tree: false,
            disk: Some(Arc::new(disk.clone())),
            ..Options::default()
        };
        let engine = Engine::open(tree.path(), options).unwrap();
        let table = town(&engine).await;
        table.put(row(1)).await.unwrap();
        disk.set_free_bytes((4 << 20) - 1);
        until(|| !engine.health().takes_writes);
        let problems = engine.health().problems;
        let expected =
            "writes are refused for now: the disk of the store has 3 MiB free and needs at least ";
        assert!(problems.len() == 1 && problems[0].starts_with(expected), "{problems:?}");
        let refused = table.put(row(2)).await;
        assert!(is_paused(&refused), "{refused:?}");
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("nothing was changed; try again in a minute"), "{text}");
        essential(table.put(row(3))).await.unwrap();
        table.delete(Delete::new(("ROWS", "000001"))).await.unwrap();
        engine.hold("reader", Some(1)).await.unwrap();
        engine.checkpoint().unwrap();
        let rows = table.query(Query::new("ROWS")).await.unwrap().items;
        assert_eq!(rows.len(), 1, "the third alone");
        // A little more is not enough.
        disk.set_free_bytes(4 << 20);
        until(|| engine.metrics().free_bytes == 4 << 20);
        assert!(is_paused(&table.put(row(2)).await));
        disk.set_free_bytes(5 << 20);
        until(|| engine.health().takes_writes);
        table.put(row(2)).await.unwrap();
    });
}

/// The log was once kept for its full retention while the disk was full of it.
#[test]
fn a_log_that_no_consumer_needs_is_trimmed_early_when_space_is_short() {
    block_on(async {
        let (tree, disk) = (in_memory(), SimulatedDisk::new());
        let options = Options {
            reserve_bytes: 4 << 20,
            segment_bytes: 4 << 10,
            upkeep_interval: Duration::from_millis(1),
            sync_tree: false,
            disk: Some(Arc::new(disk.clone())),
            ..Options::default()
        };
        let engine = Engine::open(tree.path(), options).unwrap();
        let table = town(&engine).await;
        for n in 0..40 {
            table.put(row(n)).await.unwrap();
        }
        engine.checkpoint().unwrap();
        let before = engine.metrics().log_bytes;
        assert!(before > 40_000);
        disk.set_free_bytes(0);
        until(|| engine.metrics().log_bytes < before / 4);
    });
}

/// Nothing noticed that the checkpointer was gone, and writes hung once memory was full.
#[test]
fn a_panic_of_any_thread_is_reported_and_writes_do_not_hang() {
    for (thread, kind) in
        [("writer", IoStep::Write), ("checkpoint", IoStep::TreeCommit), ("upkeep", IoStep::Remove)]
    {
        block_on(async {
            let (tree, disk) = (in_memory(), SimulatedDisk::new());
            let options = Options {
                memtable_bytes: 6 << 10,
                segment_bytes: 4 << 10,
                retention: Duration::ZERO,
                upkeep_interval: Duration::from_millis(1),
                sync_tree: false,
                disk: Some(Arc::new(disk.clone())),
                ..Options::default()
            };
            let engine = Engine::open(tree.path(), options).unwrap();
            let table = town(&engine).await;
            let taken = disk.trace().iter().filter(|(step, _)| *step == kind).count();
            disk.fail_at_nth(kind, taken + 1, DiskFault::Panics);
            let has_panicked = || engine.health().threads.contains(&(thread, false));
            let mut last = Ok(());
            for n in 0..2_000 {
                let put = table.put(row(n));
                let put = tokio::time::timeout(Duration::from_secs(20), put).await;
                last = put.expect("a write hangs").map(drop);
                if last.is_err() || thread == "upkeep" && has_panicked() {
                    break;
                }
            }
            until(has_panicked);
            let health = engine.health();
            let expected = format!("the engine's {thread} thread has panicked (a simulated bug)");
            assert!(health.problems.iter().any(|it| it.starts_with(&expected)), "{health:?}");
            assert_eq!(health.takes_writes, thread == "upkeep", "{health:?}");
            assert_eq!(last.is_ok(), thread == "upkeep", "{last:?}");
            if thread == "writer" {
                let error = last.unwrap_err();
                assert!(error.leaves_outcome_unknown(), "it may be in the log: {error:?}");
            }
            if thread != "upkeep" {
                let error = table.put(row(1)).await.unwrap_err();
                assert!(matches!(error, Error::WritesStopped { .. }), "{error:?}");
                assert!(!error.leaves_outcome_unknown(), "it was never tried: {error:?}");
                assert!(
                    error.to_string().contains(&format!("the {thread} thread panicked")),
                    "{error}"
                );
            }
        });
    }
}

/// The process in which a small file system is mounted; does nothing in a normal test run.
#[test]
fn on_a_small_file_system() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    block_on(fill_twice(Path::new(&directory)));
    println!("survived");
}

fn small_options() -> Options {
    Options {
        memtable_bytes: MIB / 4,
        segment_bytes: MIB as u64,
        upkeep_interval: Duration::from_millis(5),
        reserve_bytes: 4 * MIB as u64,
        ..Options::default()
    }
}

/// Writes rows until they are refused; returns the number of the next one.
async fn fill(table: &Table, from: usize, are_essential: bool) -> usize {
    for n in from..from + 100_000 {
        let put = table.put(row(n));
        let done = if are_essential { essential(put).await } else { put.await };
        if let Err(error) = done {
            assert!(matches!(error, Error::WritesPaused { .. }), "{error:?}");
            return n;
        }
    }
    panic!("the disk never fills");
}

async fn fill_twice(directory: &Path) {
    let (ballast, data) = (directory.join("ballast"), directory.join("data"));
    std::fs::write(&ballast, vec![1; 12 * MIB]).unwrap();
    let engine = Engine::open(&data, small_options()).unwrap();
    let table = town(&engine).await;
    // Down to the reserve.
    let first = fill(&table, 0, false).await;
    assert!(engine.metrics().free_bytes > 0, "only the reserve is left");
    essential(table.put(row(first))).await.unwrap();
    engine.checkpoint().unwrap();
    // To the last byte.
    let mut rest = std::fs::File::create(directory.join("rest")).unwrap();
    while std::io::Write::write_all(&mut rest, &[1; 4096]).is_ok() {}
    let second = fill(&table, first + 1, true).await;
    assert!(!engine.health().problems.is_empty());
    assert!(table.get(Get::new(Key::new("ROWS", "000000"))).await.unwrap().item.is_some());
    // A restart does not help, but the store opens and can be read.
    drop(table);
    engine.abandon();
    let engine = Engine::open(&data, small_options()).unwrap();
    let table = Store::new(engine.clone()).table("town").await.unwrap();
    let acknowledged = table.get(Get::new(Key::new("ROWS", format!("{:06}", second - 1)))).await;
    assert!(acknowledged.unwrap().item.is_some());
    assert!(is_paused(&table.put(row(second)).await));
    // Space is freed, and the process is still the same.
    drop(rest);
    std::fs::remove_file(directory.join("rest")).unwrap();
    std::fs::remove_file(&ballast).unwrap();
    until(|| engine.health().takes_writes);
    for n in second..second + 100 {
        table.put(row(n)).await.unwrap();
    }
    engine.checkpoint().unwrap();
    let check = async |table: &Table, engine: &Engine| {
        for n in 0..second + 100 {
            let found = table.get(Get::new(Key::new("ROWS", format!("{n:06}")))).await.unwrap();
            assert!(found.item.is_some(), "row {n} was acknowledged");
        }
        assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
    };
    check(&table, &engine).await;
    drop(table);
    engine.abandon();
    let engine = Engine::open(&data, small_options()).unwrap();
    check(&town(&engine).await, &engine).await;
}

/// On a file system of 32 MiB. Mounting it needs root, or user namespaces that the system lets anyone create;
/// without them this test fails rather than passing unseen.
#[test]
fn a_small_file_system_that_is_filled_takes_writes_again_once_space_is_freed() {
    let directory = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=32m tmpfs \"$0\" && exec \"$@\"";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", mount])
        .arg(directory.path())
        .arg(std::env::current_exe().unwrap())
        .args(["full_disk::on_a_small_file_system", "--exact", "--nocapture"])
        .env(DIRECTORY, directory.path())
        .output()
        .expect("unshare (util-linux) is needed to mount a small file system");
    let (out, err) = (output.stdout, output.stderr);
    let (out, err) = (String::from_utf8_lossy(&out), String::from_utf8_lossy(&err));
    assert!(
        out.contains("survived"),
        "no small file system, or the store failed on it: {out}{err}"
    );
}
