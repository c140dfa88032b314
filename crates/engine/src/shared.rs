//! The state that the threads of one engine share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use roundtable_table::Clock;
use tokio::sync::watch;

use crate::catalog::Catalog;
use crate::disk::Disk;
use crate::holds::{ARCHIVE, StreamHold, StreamHolds};
use crate::log::WriteAheadLog;
use crate::metrics::EngineCounters;
use crate::options::Options;
use crate::recent::RecentRecords;
use crate::signal::Signal;
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
    /// Last sequence of the log in the archive, as far as it is known.
    pub(crate) archived: AtomicU64,
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
            clock: Arc::clone(&parts.options.clock),
            options: parts.options,
            disk: parts.disk,
            view: parts.view,
            log: parts.log,
            recent: RecentRecords::default(),
            catalog: RwLock::new(parts.catalog),
            holds: parts.holds,
            archived: AtomicU64::new(0),
            applied: AtomicU64::new(parts.applied),
            metrics: EngineCounters::default(),
            published: watch::Sender::new(visible),
            work: Signal::default(),
            room: Signal::default(),
            upkeep: parts.upkeep,
            token_sweep: Mutex::default(),
            closing: AtomicBool::new(false),
            stopped: OnceLock::new(),
        }
    }

    /// Returns the reason why writes have stopped, if they have.
    pub(crate) fn stopped(&self) -> Option<String> {
        self.stopped.get().cloned()
    }

    /// Stops writes until a restart: the state of the disk is no longer certain.
    pub(crate) fn stop(&self, reason: String) {
        tracing::error!(reason, "writes have stopped; free space or repair the disk, then restart");
        // The first reason is the cause; later ones are consequences.
        let _ = self.stopped.set(reason);
        self.work.notify();
        self.room.notify();
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
            Some(_) => self.archived.load(Ordering::SeqCst),
            None => u64::MAX,
        };
        self.applied.load(Ordering::SeqCst).min(self.holds.reached()).min(archived)
    }

    /// Returns the consumers that keep the log, and the archive among them.
    pub(crate) fn holds(&self) -> Vec<StreamHold> {
        let mut holds = self.holds.list();
        if self.options.archive.is_some() {
            let sequence = self.archived.load(Ordering::SeqCst);
            holds.push(StreamHold { consumer: ARCHIVE.to_owned(), sequence });
        }
        holds
    }
}
