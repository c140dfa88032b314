//! The checkpointer: applies frozen runs to the tree, in chunks.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use roundtable_table::{Error, Result};

use crate::disk::Disk;
use crate::pauses::Obstacle;
use crate::shared::SharedState;
use crate::view::{FrozenRun, View};

/// Entries per transaction of the tree. Larger transactions save syncs; smaller ones delay the log's
/// syncs on the same disk less.
const CHUNK_ENTRIES: usize = 2_500;

/// Runs until the engine closes and all runs are applied.
pub(crate) fn run(shared: &SharedState) {
    let idle = || shared.view.frozen() == 0 && !shared.is_closing() && shared.stopped().is_none();
    loop {
        while !shared.work.wait_while(idle, Duration::from_hours(1)) {}
        match step(shared) {
            CheckpointStep::Applied => {}
            CheckpointStep::Paused if !shared.is_closing() => {
                let waiting = || !shared.is_closing() && shared.stopped().is_none();
                shared.work.wait_while(waiting, shared.options.upkeep_interval);
            }
            CheckpointStep::Paused | CheckpointStep::Ended => return,
        }
    }
}

/// The outcome for the oldest frozen run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckpointStep {
    Applied,
    /// The tree cannot be written now, as on a full disk. The run stays in memory and in the log.
    Paused,
    /// There is none, or writes have stopped.
    Ended,
}

/// Applies the oldest frozen run.
pub(crate) fn step(shared: &SharedState) -> CheckpointStep {
    let Some(frozen) = shared.view.oldest_frozen().filter(|_| shared.stopped().is_none()) else {
        return CheckpointStep::Ended;
    };
    let started = Instant::now();
    let applied = apply(&shared.view, &frozen, &*shared.disk, shared.options.sync_tree, || {
        shared.room.notify();
    });
    match applied {
        Ok(()) => {
            shared.pauses.clear(Obstacle::Tree);
            shared.applied.store(frozen.through.sequence, Ordering::SeqCst);
            shared.view.drop_oldest_frozen();
            shared.metrics.checkpoint.record(started.elapsed());
            shared.room.notify();
            CheckpointStep::Applied
        }
        Err(Error::WritesPaused { reason }) => {
            frozen.restart();
            shared.pauses.set(Obstacle::Tree, format!("the checkpoint failed ({reason})"));
            shared.room.notify();
            CheckpointStep::Paused
        }
        Err(error) => {
            shared.stop(format!("the checkpoint failed ({error})"));
            CheckpointStep::Ended
        }
    }
}

/// Applies a frozen run to the tree in several transactions, and calls `progressed` after each.
pub(crate) fn apply(
    view: &View,
    frozen: &FrozenRun,
    disk: &dyn Disk,
    sync: bool,
    progressed: impl Fn(),
) -> Result<()> {
    let mut after = None;
    loop {
        let chunk = frozen.run.newest_after(after.as_ref(), CHUNK_ENTRIES);
        // Replaying is idempotent, so only the last transaction marks the run as applied.
        let is_last = chunk.len() < CHUNK_ENTRIES;
        view.tree.apply(&chunk, frozen.through, is_last, disk)?;
        if is_last {
            break;
        }
        frozen.count_applied(chunk.len());
        progressed();
        after = chunk.last().map(|(key, _)| key.clone());
    }
    // The log up to here may be trimmed now, so the tree's root must be on disk as well.
    if sync {
        view.tree.sync()?;
    }
    Ok(())
}
