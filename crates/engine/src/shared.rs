//! The state that the threads of one engine share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use roundtable_table::{Clock, Error};
use tokio::sync::watch;

use crate::archive::ArchiveProgress;
use crate::catalog::Catalog;
use crate::disk::Disk;
use crate::holds::{ARCHIVE, StreamHold, StreamHolds};
use crate::log::WriteAheadLog;
use crate::metrics::EngineCounters;
use crate::options::Options;
use crate::pauses::{Obstacle, WritePauses};
use crate::recent::RecentRecords;
use crate::signal::Signal;
use crate::threads::ThreadStates;
use crate::view::View;

#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) options: Options,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) view: View,
    pub(crate) log: Arc<WriteAheadLog>,
    pub(crate) recent: RecentRecords,
    pub(crate) catalog: RwLock<Arc<Catalog>>,
    /// Consumers of the stream, up to whose positions the log is kept.
    pub(crate) holds: StreamHolds,
    pub(crate) archive: ArchiveProgress,
    /// Last sequence that is durable in the tree.
    pub(crate) applied: AtomicU64,
    pub(crate) metrics: EngineCounters,
    /// The last visible sequence; readers of the stream wait on it.
    pub(crate) published: watch::Sender<u64>,
    /// Notified when a run was frozen, or the engine closes.
    pub(crate) work: Signal,
    /// Notified when entries were applied to the tree.
    pub(crate) room: Signal,
    /// Notified when the log needs a spare, or the engine closes.
    pub(crate) upkeep: Arc<Signal>,
    /// Key at which the sweep of transaction tokens resumes.
    pub(crate) token_sweep: Mutex<Vec<u8>>,
    pub(crate) closing: AtomicBool,
    /// Reasons to refuse writes for now.
    pub(crate) pauses: WritePauses,
    pub(crate) threads: ThreadStates,
    /// The first damage that a reader of the stream found.
    pub(crate) damage: OnceLock<String>,
    /// Free bytes of the disk when it was last asked.
    free_bytes: AtomicU64,
    stopped: OnceLock<String>,
}

pub(crate) struct SharedStateParts {
    pub(crate) options: Options,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) view: View,
    pub(crate) log: Arc<WriteAheadLog>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) holds: StreamHolds,
    pub(crate) applied: u64,
    pub(crate) upkeep: Arc<Signal>,
}

impl SharedState {
    pub(crate) fn new(parts: SharedStateParts) -> Self {
        let visible = parts.view.visible();
        Self {
            archive: ArchiveProgress::at_start(&parts.options, &parts.log, visible),
            clock: Arc::clone(&parts.options.clock),
            options: parts.options,
            disk: parts.disk,
            view: parts.view,
            log: parts.log,
            recent: RecentRecords::default(),
            catalog: RwLock::new(parts.catalog),
            holds: parts.holds,
            applied: AtomicU64::new(parts.applied),
            metrics: EngineCounters::default(),
            published: watch::Sender::new(visible),
            work: Signal::default(),
            room: Signal::default(),
            upkeep: parts.upkeep,
            token_sweep: Mutex::default(),
            closing: AtomicBool::new(false),
            pauses: WritePauses::default(),
            threads: ThreadStates::default(),
            damage: OnceLock::new(),
            free_bytes: AtomicU64::new(u64::MAX),
            stopped: OnceLock::new(),
        }
    }

    /// Returns the reason why writes have stopped, if they have.
    pub(crate) fn stopped(&self) -> Option<String> {
        self.stopped.get().cloned()
    }

    /// Stops writes until a restart: the state of the disk is no longer certain.
    pub(crate) fn stop(&self, reason: String) {
        tracing::error!(reason, "writes have stopped; repair the disk if need be, then restart");
        // The first reason is the cause; later ones are consequences.
        let _ = self.stopped.set(reason);
        self.work.notify();
        self.room.notify();
    }

    /// Refuses ordinary writes while less space is free than the reserve. They resume only with some more, so
    /// that it does not change with every few writes.
    pub(crate) fn check_space(&self) {
        let free = match self.disk.free_bytes() {
            Ok(free) => free,
            Err(error) => return tracing::warn!(%error, "cannot read the free space of the disk"),
        };
        self.free_bytes.store(free, Ordering::Relaxed);
        let reserve = self.options.reserve_bytes;
        let is_paused = self.pauses.has(Obstacle::LowSpace);
        let needed = if is_paused { reserve.saturating_add(reserve / 4) } else { reserve };
        if free < needed {
            let (free, needed) = (free >> 20, needed >> 20);
            let reason = format!(
                "the disk of the store has {free} MiB free and needs at least {needed} MiB"
            );
            self.pauses.set(Obstacle::LowSpace, reason);
        } else {
            self.pauses.clear(Obstacle::LowSpace);
        }
    }

    pub(crate) fn free_bytes(&self) -> u64 {
        self.free_bytes.load(Ordering::Relaxed)
    }

    /// Returns whether a file of the log may be made in advance: not at the expense of the reserve.
    pub(crate) fn has_room_for_spare(&self) -> bool {
        let needed = self.options.reserve_bytes.saturating_add(self.options.segment_bytes);
        !self.pauses.any() && self.free_bytes() >= needed
    }

    /// Returns whether memory holds as much as it may before the tree has taken some of it.
    pub(crate) fn is_memory_full(&self) -> bool {
        self.view.pending_bytes() >= self.options.memtable_bytes.saturating_mul(4)
    }

    /// Tells operators of damage in the log, at which all readers of the stream get stuck.
    pub(crate) fn note_damage(&self, error: &Error) {
        if let Error::Damaged { .. } = error {
            let _ = self.damage.set(error.to_string());
        }
    }

    /// Returns why writes have stopped or are refused for now, as an error.
    pub(crate) fn refusal(&self) -> Option<Error> {
        if let Some(reason) = self.stopped() {
            return Some(Error::WritesStopped { reason, is_attempted: false });
        }
        let reason = self.pauses.reasons().into_iter().next()?;
        Some(Error::WritesPaused { reason })
    }

    /// Stops the checkpointer, so that nothing more is applied to the tree.
    pub(crate) fn abandon(&self) {
        let _ = self.stopped.set(String::from("the engine was abandoned"));
        self.work.notify();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// Returns the sequence up to which the log is in the tree, in the archive if there is one, and
    /// processed by every consumer.
    pub(crate) fn trimmable(&self) -> u64 {
        let archived = match self.options.archive {
            Some(_) => self.archive.sequence(),
            None => u64::MAX,
        };
        self.applied.load(Ordering::SeqCst).min(self.holds.reached()).min(archived)
    }

    /// Returns the consumers that keep the log, and the archive among them.
    pub(crate) fn holds(&self) -> Vec<StreamHold> {
        let mut holds = self.holds.list();
        if self.options.archive.is_some() {
            let (consumer, sequence) = (ARCHIVE.to_owned(), self.archive.sequence());
            holds.push(StreamHold { consumer, sequence });
        }
        holds
    }
}
