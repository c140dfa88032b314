//! Reopening after kill -9 in the middle of writing: how long until the first answer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::child::{Part, Running, tell};
use super::data::Town;
use super::ours::Ours;
use crate::progress::Progress;
use crate::report::{Better, Report};

const REOPEN_S_MAX: f64 = 1.0;
/// Deaths, at different fillings of the log; the slowest opening counts.
const KILLS: u32 = 3;
const WRITERS: usize = 16;

pub(super) fn run(root: &Path, items: u64, report: &mut Report) -> Result<()> {
    let dir = tempfile::tempdir_in(root)?;
    let town = Town::of(items);
    let mut from = 0;
    let mut slowest = Duration::ZERO;
    for kill in 0..KILLS {
        let acknowledged = die_writing(dir.path(), items, from, Duration::from_millis(700))
            .with_context(|| format!("death number {kill}"))?;
        let started = Instant::now();
        let ours = Ours::open(dir.path())?;
        ensure!(ours.has(&town.address(0))?, "the first item is gone after kill -9");
        slowest = slowest.max(started.elapsed());
        ensure!(ours.has(&town.address(acknowledged))?, "acknowledged {acknowledged} is gone");
        // What was in flight may lie a little beyond the last acknowledgement heard of.
        from = acknowledged + 1;
    }
    let seconds = slowest.as_secs_f64();
    report.figure("reopen after kill -9, slowest of 3, s", Better::Lower, [seconds]);
    report.under("reopen", seconds, REOPEN_S_MAX, "s");
    Ok(())
}

/// Starts a writer, kills it after it has written for `time`; returns a number it had acknowledged.
fn die_writing(dir: &Path, items: u64, from: u64, time: Duration) -> Result<u64> {
    let mut victim = Running::start(Part::Victim, dir, items, from)?;
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
    acknowledged.context("the writer died before it wrote")
}

pub(super) fn child(dir: &Path, items: u64, from: u64) -> Result<()> {
    let town = Town::of(items);
    let ours = Ours::open(dir)?;
    if from < items {
        let progress = Arc::new(Progress::new("loading before the kill", items - from));
        ours.load(town, from..items, &progress)?;
    }
    // Every thousandth will do: the parent wants to know one that must be there, not all.
    let count = Arc::new(AtomicU64::new(0));
    ours.write_for_ever(town, from.max(items), WRITERS, move |number| {
        if count.fetch_add(1, Ordering::Relaxed).is_multiple_of(1000) {
            tell("acknowledged", number);
        }
    })
}
