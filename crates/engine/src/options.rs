//! How an engine is opened.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use roundtable_table::{Clock, SystemClock};

use crate::disk::Disk;

/// How an engine is opened. The defaults suit a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// How much is written before it goes to the tree. Up to five times as much may be in memory:
    /// four that wait, and one that is on its way.
    pub memtable_bytes: usize,
    /// How long a file of the log is.
    pub segment_bytes: u64,
    /// How long changes stay readable in the stream, at least.
    pub retention: Duration,
    /// Where complete files of the log are copied to, for restores to a point in time.
    pub archive: Option<PathBuf>,
    /// How often expired items are swept and the log is trimmed.
    pub upkeep_interval: Duration,
    /// Whether that happens at all. Whoever only looks leaves everything as it is; `Engine::sweep` sweeps
    /// all the same.
    pub tidies: bool,
    /// Whether the tree waits for the disk. Only tests that simulate crashes of the log say no.
    pub sync_tree: bool,
    /// The log's files, where they are not a directory beside the tree: for tests of faults.
    pub disk: Option<Arc<dyn Disk>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            memtable_bytes: 128 << 20,
            segment_bytes: 64 << 20,
            retention: Duration::from_hours(24),
            archive: None,
            upkeep_interval: Duration::from_secs(1),
            tidies: true,
            sync_tree: true,
            disk: None,
        }
    }
}
