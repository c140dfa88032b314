//! A long load in batches: its rate, the longest wait of a call and its memory.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use roundtable_test_client::rate;

use super::child::{ChildProcess, ChildTask, send_number, value_of};
use super::data::Town;
use super::ours::Ours;
use crate::machine::{self, MIB};
use crate::progress::Progress;
use crate::report::{Better, Report};

const STALL_MS_MAX: f64 = 400.0;
const ANONYMOUS_MB_MAX: f64 = 800.0;

pub(super) fn run(root: &Path, items: u64, report: &mut Report) -> Result<()> {
    let dir = tempfile::tempdir_in(root)?;
    let numbers = ChildProcess::start(ChildTask::Load, dir.path(), items, 0)?.finish()?;
    let (stall, memory) = (value_of(&numbers, "stall_ms")?, value_of(&numbers, "anonymous_mb")?);
    report.figure(
        format!("load of {items}, items/s"),
        Better::Higher,
        [value_of(&numbers, "rate")?],
    );
    report.figure("  longest wait of a call, ms", Better::Lower, [stall]);
    for (figure, name) in [
        ("  slowest sync of the log, ms", "sync_ms"),
        ("  longest pause for the tree, ms", "pause_ms"),
        ("  slowest checkpoint of a run, ms", "checkpoint_ms"),
    ] {
        report.figure(figure, Better::Lower, [value_of(&numbers, name)?]);
    }
    report.figure("  anonymous memory, MB", Better::Lower, [memory]);
    report.figure("  on disk afterwards, MB", Better::Lower, [value_of(&numbers, "disk_mb")?]);
    report.under("load-stall", stall, STALL_MS_MAX, "ms");
    report.under("load-memory", memory, ANONYMOUS_MB_MAX, "MB");
    Ok(())
}

pub(super) fn child(dir: &Path, items: u64) -> Result<()> {
    let town = Town::of(items);
    let ours = Ours::open(dir)?;
    let progress = Arc::new(Progress::new("loading ours", items));
    let highest = AtomicU64::new(0);
    let ended = AtomicBool::new(false);
    let loaded = thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                let now = machine::anonymous_bytes().unwrap_or_default();
                highest.fetch_max(now, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(20));
            }
        });
        let loaded = ours.load(town, town.first(), &progress);
        ended.store(true, Ordering::Relaxed);
        loaded
    })?;
    send_number("rate", rate(items, loaded.elapsed));
    send_number("stall_ms", loaded.longest_wait.as_secs_f64() * 1e3);
    let metrics = ours.metrics();
    send_number("sync_ms", metrics.sync_us.max / 1000);
    send_number("pause_ms", metrics.stall_us.max / 1000);
    send_number("checkpoint_ms", metrics.checkpoint_us.max / 1000);
    send_number("anonymous_mb", highest.load(Ordering::Relaxed) / MIB);
    send_number("disk_mb", machine::occupied_bytes(dir)? / MIB);
    Ok(())
}
