//! The checkpointer: brings frozen runs into the tree, bit by bit.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use roundtable_table::Result;

use crate::disk::Disk;
use crate::shared::Shared;
use crate::view::{Frozen, View};

/// Entries of one transaction of the tree. Larger ones save syncs; smaller ones hold up the syncs of
/// the log, on the same disk, for less long.
const CHUNK_ENTRIES: usize = 2_500;

/// Runs until the engine closes and nothing is left to do.
pub(crate) fn run(shared: &Shared) {
    let idle = || shared.view.frozen() == 0 && !shared.is_closing() && shared.stopped().is_none();
    loop {
        while !shared.work.wait_while(idle, Duration::from_hours(1)) {}
        let Some(frozen) = shared.view.oldest_frozen().filter(|_| shared.stopped().is_none())
        else {
            return;
        };
        let started = Instant::now();
        let applied = apply(&shared.view, &frozen, &*shared.disk, shared.options.sync_tree, || {
            shared.room.notify();
        });
        match applied {
            Ok(()) => {
                shared.applied.store(frozen.through.sequence, Ordering::SeqCst);
                shared.view.drop_oldest_frozen();
                shared.metrics.checkpoint.record(started.elapsed());
                shared.room.notify();
            }
            Err(error) => shared.stop(format!("the checkpoint failed ({error})")),
        }
    }
}

/// Brings a frozen run into the tree, in several transactions; after each, `progressed` is called.
pub(crate) fn apply(
    view: &View,
    frozen: &Frozen,
    disk: &dyn Disk,
    sync: bool,
    progressed: impl Fn(),
) -> Result<()> {
    let mut after = None;
    loop {
        let chunk = frozen.run.newest_after(after.as_ref(), CHUNK_ENTRIES);
        // Replaying is idempotent, so only the last transaction says that the run is in the tree.
        let is_last = chunk.len() < CHUNK_ENTRIES;
        let before_commit = || disk.before_tree_commit();
        view.tree.apply(&chunk, frozen.through, is_last, before_commit)?;
        if is_last {
            break;
        }
        frozen.count_applied(chunk.len());
        progressed();
        after = chunk.last().map(|(key, _)| key.clone());
    }
    // The log behind this point may be trimmed now, so the tree's root must be on disk as well.
    if sync {
        view.tree.sync()?;
    }
    Ok(())
}
