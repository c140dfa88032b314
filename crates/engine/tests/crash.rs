//! The machine fails at every step of a scripted run, with every kind of fault. Acknowledged writes must
//! be there afterwards, others must have happened whole or not at all, and recovery may itself be
//! interrupted at each of its steps.
//!
//! The log is on a simulated disk that counts steps and injects faults; the tree is in a directory, and
//! its commits count as durable once they happen.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[path = "town/agreement.rs"]
mod agreement;
#[path = "town/damage.rs"]
mod damage;
#[path = "town/full_disk.rs"]
mod full_disk;
#[path = "town/script.rs"]
mod script;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use roundtable_engine::{DiskFault, Engine, IoStep, Options, SimulatedDisk};
use roundtable_table::Error;
use tempfile::TempDir;

use script::Script;

const CRASHES: [DiskFault; 4] = [
    DiskFault::CrashBefore,
    DiskFault::CrashAfter,
    DiskFault::CrashWithin { permille: 350 },
    DiskFault::CrashWithin { permille: 990 },
];

/// A data directory whose log is simulated.
struct Home {
    tree: TempDir,
    disk: SimulatedDisk,
    retention: Duration,
}

impl Home {
    fn new(retention: Duration) -> Self {
        Self { tree: in_memory(), disk: SimulatedDisk::new(), retention }
    }

    /// Returns the same data directory with another disk and a copy of the tree, so that recovery does
    /// not change this one.
    fn with(&self, disk: SimulatedDisk) -> Self {
        let tree = in_memory();
        copy_tree(self.tree.path(), tree.path());
        Self { tree, disk, retention: self.retention }
    }

    fn open(&self, script: &Script) -> Result<Engine, Error> {
        // If the log is trimmed, failed removals must be retried soon.
        let trims = self.retention == Duration::ZERO;
        let upkeep_interval =
            if trims { Duration::from_millis(1) } else { Duration::from_hours(1) };
        let options = Options {
            clock: script.clock.clone(),
            memtable_bytes: 6 << 10,
            segment_bytes: 4 << 10,
            retention: self.retention,
            upkeep_interval,
            sync_tree: false,
            disk: Some(Arc::new(self.disk.clone())),
            ..Options::default()
        };
        Engine::open(self.tree.path(), options)
    }
}

/// A directory in memory if the system supports it: the tree need not be durable here, and a busy disk
/// would make thousands of small runs slow.
fn in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn copy_tree(from: &Path, to: &Path) {
    if from.join("tree.mdb").exists() {
        std::fs::copy(from.join("tree.mdb"), to.join("tree.mdb")).unwrap();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

const FOREVER: Duration = Duration::from_secs(1 << 40);

/// Runs the script until it ends or the machine fails at `step`.
async fn live(home: &Home, step: u64, fault: DiskFault) -> Script {
    home.disk.fail_at(step, fault);
    let mut script = Script::new();
    if let Ok(engine) = home.open(&script) {
        if let Err(error) = script.live(&engine).await {
            assert!(matches!(error, Error::WritesStopped { .. }), "{error}");
        }
        drop(engine);
    }
    script
}

/// Returns the number of steps of the script without faults.
async fn steps(retention: Duration) -> u64 {
    let home = Home::new(retention);
    let script = live(&home, u64::MAX, DiskFault::CrashBefore).await;
    let kinds: std::collections::BTreeSet<IoStep> =
        home.disk.trace().into_iter().map(|(step, _)| step).collect();
    for kind in [IoStep::Create, IoStep::Write, IoStep::Sync, IoStep::Rename, IoStep::TreeCommit] {
        assert!(kinds.contains(&kind), "the script takes no step {kind:?}");
    }
    let engine = home.with(home.disk.crash(0)).open(&script).unwrap();
    script.check_acknowledged(&engine).await;
    home.disk.steps()
}

async fn recover(home: &Home, script: &mut Script) -> Engine {
    let engine = home.open(script).unwrap();
    script.recover(&engine).await;
    engine
}

async fn crash_everywhere(retention: Duration, faults: &[DiskFault], seeds: u64) -> String {
    let last = steps(retention).await + 3;
    let mut trims = false;
    for step in 1..=last {
        for fault in faults {
            let home = Home::new(retention);
            let script = live(&home, step, *fault).await;
            trims |= home.disk.trace().iter().any(|(kind, _)| *kind == IoStep::Remove);
            for seed in 1..seeds {
                let after = home.with(home.disk.crash(seed * 1000 + step));
                recover(&after, &mut script.clone()).await;
            }
            let after = home.with(home.disk.crash(step));
            let mut script = script.clone();
            let engine = recover(&after, &mut script).await;
            script.go_on(&engine).await;
        }
    }
    assert_eq!(trims, retention == Duration::ZERO);
    format!("{last} steps, {} power losses", last * faults.len() as u64 * seeds)
}

#[test]
fn a_power_loss_at_any_step_loses_nothing_acknowledged() {
    println!("{}", block_on(crash_everywhere(FOREVER, &CRASHES, 3)));
}

#[test]
fn a_power_loss_while_the_log_is_trimmed_loses_nothing_acknowledged() {
    println!("{}", block_on(crash_everywhere(Duration::ZERO, &CRASHES[1..3], 1)));
}

#[test]
fn a_power_loss_at_any_step_of_recovery_loses_nothing_either() {
    block_on(async {
        let mut taken = std::collections::BTreeSet::new();
        let mut recoveries = 0;
        for (nth, step) in (1..=steps(FOREVER).await).step_by(3).enumerate() {
            let home = Home::new(FOREVER);
            let script = live(&home, step, CRASHES[nth % CRASHES.len()]).await;
            let crashed = home.disk.crash(step);
            for (during, fault) in (1..).zip(CRASHES.into_iter().cycle().skip(nth)) {
                let first = home.with(crashed.crash(0));
                first.disk.fail_at(during, fault);
                drop(first.open(&script));
                recover(&first.with(first.disk.crash(step + during)), &mut script.clone()).await;
                recoveries += 1;
                taken.extend(first.disk.trace().into_iter().map(|(step, _)| step));
                if first.disk.steps() < during {
                    break;
                }
            }
        }
        println!("{recoveries} recoveries cut off");
        for kind in
            [IoStep::Write, IoStep::Sync, IoStep::Truncate, IoStep::Remove, IoStep::TreeCommit]
        {
            assert!(taken.contains(&kind), "recovery never took a step {kind:?}");
        }
    });
}

/// A step fails but the machine keeps running: writes stop, reads continue, a restart recovers, and what
/// is visible after the restart survives a power loss.
async fn fail_everywhere(fault: DiskFault, kinds: &[IoStep]) -> String {
    let mut hit = 0;
    for step in 1..=steps(FOREVER).await {
        let home = Home::new(FOREVER);
        home.disk.fail_at(step, fault);
        let mut script = Script::new();
        if let Ok(engine) = home.open(&script) {
            if let Err(error) = script.live(&engine).await {
                let (Error::WritesStopped { reason, .. } | Error::WritesPaused { reason }) = &error
                else {
                    panic!("{error}")
                };
                let named = ["simulated input/output error", "no space left"];
                assert!(named.iter().any(|name| reason.contains(name)), "{reason}");
            }
            script.check_acknowledged(&engine).await;
            assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
        }
        let trace = home.disk.trace();
        let taken = (1..).zip(&trace).find(|(nth, _)| *nth == step);
        if !taken.is_some_and(|(_, (kind, _))| kinds.contains(kind)) {
            continue;
        }
        hit += 1;
        recover(&home.with(home.disk.crash(step)), &mut script.clone()).await;
        let restarted = home.with(home.disk.kill());
        let engine = recover(&restarted, &mut script).await;
        // Before anything else is written or applied to the tree.
        let shown = restarted.disk.crash(step);
        engine.abandon();
        recover(&home.with(shown), &mut script.clone()).await;
        let engine = recover(&restarted, &mut script).await;
        script.go_on(&engine).await;
    }
    assert!(hit > 10, "{hit}");
    format!("{fault:?} came up {hit} times")
}

#[test]
fn a_failed_step_stops_writes_until_a_restart() {
    let kinds = [IoStep::Write, IoStep::Sync, IoStep::Create, IoStep::Rename, IoStep::TreeCommit];
    println!("{}", block_on(fail_everywhere(DiskFault::Fails, &kinds)));
}

/// The next segment was once removed instead, and the stream had a gap after a restart.
#[test]
fn a_segment_that_cannot_be_removed_is_retried_before_the_next() {
    block_on(async {
        for nth in 1..=4 {
            let home = Home::new(Duration::ZERO);
            home.disk.fail_at_nth(IoStep::Remove, nth, DiskFault::Fails);
            let mut script = Script::new();
            let engine = home.open(&script).unwrap();
            script.live(&engine).await.unwrap();
            engine.checkpoint().unwrap();
            script.clock.advance_ms(1000);
            let removals =
                || home.disk.trace().iter().filter(|(s, _)| *s == IoStep::Remove).count();
            let deadline = Instant::now() + Duration::from_mins(1);
            while removals() < nth + 2 {
                assert!(Instant::now() < deadline, "the log is not trimmed");
                std::thread::yield_now();
            }
            script.check_acknowledged(&engine).await;
            engine.abandon();
            recover(&home.with(home.disk.crash(0)), &mut script.clone()).await;
            recover(&home, &mut script).await;
        }
    });
}

#[test]
fn a_failed_sync_that_drops_its_pages_loses_nothing_visible_after_a_restart() {
    println!("{}", block_on(fail_everywhere(DiskFault::SyncForgets, &[IoStep::Sync])));
}

#[test]
fn a_full_disk_stops_writes_until_a_restart_with_free_space() {
    let kinds = [IoStep::Write, IoStep::Create, IoStep::TreeCommit];
    println!("{}", block_on(fail_everywhere(DiskFault::DiskFull, &kinds)));
}

#[test]
fn many_crashes_in_a_row_lose_nothing_acknowledged() {
    block_on(async {
        for seed in 0..12 {
            let mut random = SmallRng::seed_from_u64(seed);
            let mut home = Home::new(FOREVER);
            let mut script =
                live(&home, random.random_range(20..100), DiskFault::CrashBefore).await;
            for _ in 0..12 {
                home = home.with(home.disk.crash(random.random()));
                let fault = CRASHES[random.random_range(0..CRASHES.len())];
                home.disk.fail_at(random.random_range(1..40), fault);
                let Ok(engine) = home.open(&script) else { continue };
                if let Err(error) = script.try_to_go_on(&engine).await {
                    assert!(matches!(error, Error::WritesStopped { .. }), "{error}");
                }
            }
            let home = home.with(home.disk.crash(seed));
            let engine = recover(&home, &mut script).await;
            script.go_on(&engine).await;
        }
    });
}
