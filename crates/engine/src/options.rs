//! Options for opening an engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use roundtable_table::{Clock, SystemClock};

use crate::disk::Disk;

/// Options for opening an engine. The defaults suit a server.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Options {
    pub clock: Arc<dyn Clock>,
    /// Bytes of writes after which a run is moved to the tree. Up to five times as much may be in
    /// memory: four waiting, and one being written.
    pub memtable_bytes: usize,
    /// Size of a log file.
    pub segment_bytes: u64,
    /// Minimum time for which changes stay readable in the stream.
    pub retention: Duration,
    /// Trims nothing before [`crate::Engine::expect_consumers`] has named the consumers of the stream, and
    /// each of them has a hold.
    pub awaits_consumers: bool,
    /// Directory to which the log is copied, for restores to a point in time.
    pub archive: Option<PathBuf>,
    /// Interval at which the synced part of the last log file is copied there, too.
    pub archive_interval: Duration,
    /// Interval at which expired items are swept, the log is trimmed, and failed writes are tried again.
    pub upkeep_interval: Duration,
    /// Free bytes of the disk that are kept for [essential](roundtable_table::essential) writes, deletions and
    /// the engine's own work.
    pub reserve_bytes: u64,
    /// Sweeps and trims in the background. Read-only tools turn this off; `Engine::sweep` works
    /// regardless.
    pub cleans_up: bool,
    /// Syncs the tree to disk. Only tests that simulate crashes of the log turn this off.
    pub sync_tree: bool,
    /// Starts no threads: `Engine::step` does what they would do. Only simulations turn this on.
    pub is_stepped: bool,
    /// Replaces the log directory beside the tree, for tests that inject faults.
    pub disk: Option<Arc<dyn Disk>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            memtable_bytes: 128 << 20,
            segment_bytes: 64 << 20,
            retention: Duration::from_hours(24),
            awaits_consumers: false,
            archive: None,
            archive_interval: Duration::from_mins(1),
            upkeep_interval: Duration::from_secs(1),
            reserve_bytes: 0,
            cleans_up: true,
            sync_tree: true,
            is_stepped: false,
            disk: None,
        }
    }
}
