//! The time from reopening to the first read, after kill -9 during writes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::child::{ChildProcess, ChildTask, send_number};
use super::data::Town;
use super::ours::Ours;
use crate::progress::Progress;
use crate::report::{Better, Report};

const REOPEN_S_MAX: f64 = 1.0;
/// Kills at different sizes of the log; the slowest reopening counts.
const KILLS: u32 = 3;
const WRITERS: usize = 16;

pub(super) fn run(root: &Path, items: u64, report: &mut Report) -> Result<()> {
    let dir = tempfile::tempdir_in(root)?;
    let town = Town::of(items);
    let mut from = 0;
    let mut slowest = Duration::ZERO;
    for kill in 0..KILLS {
        let acknowledged = kill_while_writing(dir.path(), items, from, Duration::from_millis(700))
            .with_context(|| format!("kill number {kill}"))?;
        let started = Instant::now();
        let ours = Ours::open(dir.path())?;
        ensure!(ours.has(&town.address(0))?, "the first item is gone after kill -9");
        slowest = slowest.max(started.elapsed());
        ensure!(
            ours.has(&town.address(acknowledged))?,
            "the acknowledged item {acknowledged} is gone"
        );
        // Writes in flight may lie a little beyond the last reported acknowledgement.
        from = acknowledged + 1;
    }
    let seconds = slowest.as_secs_f64();
    report.figure("reopen after kill -9, slowest of 3, s", Better::Lower, [seconds]);
    report.under("reopen", seconds, REOPEN_S_MAX, "s");
    Ok(())
}

/// Starts a writer and kills it after it has written for `time`; returns an acknowledged number.
fn kill_while_writing(dir: &Path, items: u64, from: u64, time: Duration) -> Result<u64> {
    let mut victim = ChildProcess::start(ChildTask::Victim, dir, items, from)?;
    let mut acknowledged = None;
    let mut writing_since = None;
    while let Some((_, number)) = victim.next()? {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "activities are numbered far below 2^52"
        )]
        let number = number as u64;
        acknowledged = Some(number);
        if writing_since.get_or_insert_with(Instant::now).elapsed() > time {
            break;
        }
    }
    victim.kill()?;
    acknowledged.context("the writer ended before its first write")
}

pub(super) fn child(dir: &Path, items: u64, from: u64) -> Result<()> {
    let town = Town::of(items);
    let ours = Ours::open(dir)?;
    if from < items {
        let progress = Arc::new(Progress::new("loading before the kill", items - from));
        ours.load(town, from..items, &progress)?;
    }
    // Every thousandth is enough: the parent needs only one that must exist.
    let count = Arc::new(AtomicU64::new(0));
    ours.write_forever(town, from.max(items), WRITERS, move |number| {
        if count.fetch_add(1, Ordering::Relaxed).is_multiple_of(1000) {
            send_number("acknowledged", number);
        }
    })
}
