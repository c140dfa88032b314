//! What the threads of one engine share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use roundtable_table::Clock;
use tokio::sync::watch;

use crate::catalog::Catalog;
use crate::disk::Disk;
use crate::log::Log;
use crate::metrics::Counters;
use crate::options::Options;
use crate::recent::Recent;
use crate::signal::Signal;
use crate::view::View;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) view: View,
    pub(crate) log: Arc<Log>,
    /// What the log got last.
    pub(crate) recent: Recent,
    pub(crate) catalog: RwLock<Arc<Catalog>>,
    /// Consumers of the stream, and what they have seen.
    pub(crate) holds: Mutex<BTreeMap<String, u64>>,
    /// Up to which sequence the tree is durable.
    pub(crate) applied: AtomicU64,
    pub(crate) metrics: Counters,
    /// The last visible sequence, for readers of the stream to wait on.
    pub(crate) published: watch::Sender<u64>,
    /// A run was frozen, or the engine closes.
    pub(crate) work: Signal,
    /// A run went into the tree.
    pub(crate) room: Signal,
    /// The log wants a spare, or the engine closes.
    pub(crate) upkeep: Arc<Signal>,
    /// Where the sweep of transaction tokens goes on.
    pub(crate) token_sweep: Mutex<Vec<u8>>,
    pub(crate) closing: AtomicBool,
    stopped: OnceLock<String>,
}

/// What a [`Shared`] starts from.
pub(crate) struct Parts {
    pub(crate) options: Options,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) view: View,
    pub(crate) log: Arc<Log>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) holds: BTreeMap<String, u64>,
    pub(crate) applied: u64,
    pub(crate) upkeep: Arc<Signal>,
}

impl Shared {
    pub(crate) fn new(parts: Parts) -> Self {
        let visible = parts.view.visible();
        Self {
            clock: Arc::clone(&parts.options.clock),
            options: parts.options,
            disk: parts.disk,
            view: parts.view,
            log: parts.log,
            recent: Recent::default(),
            catalog: RwLock::new(parts.catalog),
            holds: Mutex::new(parts.holds),
            applied: AtomicU64::new(parts.applied),
            metrics: Counters::default(),
            published: watch::Sender::new(visible),
            work: Signal::default(),
            room: Signal::default(),
            upkeep: parts.upkeep,
            token_sweep: Mutex::default(),
            closing: AtomicBool::new(false),
            stopped: OnceLock::new(),
        }
    }

    /// Why writes have stopped, if they have.
    pub(crate) fn stopped(&self) -> Option<String> {
        self.stopped.get().cloned()
    }

    /// Stops writes for good: what the disk holds is no longer certain.
    pub(crate) fn stop(&self, reason: String) {
        tracing::error!(reason, "writes have stopped");
        // The first reason is the true one.
        let _ = self.stopped.set(reason);
        self.work.notify();
        self.room.notify();
    }

    /// Ends without bringing anything more into the tree.
    pub(crate) fn abandon(&self) {
        let _ = self.stopped.set(String::from("the engine was abandoned"));
        self.work.notify();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// The sequence up to which the log may be trimmed: in the tree, and seen by every consumer.
    pub(crate) fn trimmable(&self) -> u64 {
        let seen = self.holds.lock().values().min().copied().unwrap_or(u64::MAX);
        self.applied.load(Ordering::SeqCst).min(seen)
    }
}
