//! The engine's metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::holds::StreamHold;

const BUCKETS: usize = 32;

/// A histogram with buckets by powers of two.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    sum: AtomicU64,
    max: AtomicU64,
}

impl Histogram {
    fn add(&self, value: u64) {
        let bucket = (u64::BITS - value.leading_zeros()) as usize;
        if let Some(count) = self.buckets.get(bucket.min(BUCKETS - 1)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.sum.fetch_add(value, Ordering::Relaxed);
        self.max.fetch_max(value, Ordering::Relaxed);
    }

    /// Records a duration, in microseconds.
    pub(crate) fn record(&self, time: Duration) {
        self.add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    fn distribution(&self) -> Distribution {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let buckets: Vec<u64> = self.buckets.iter().map(load).collect();
        Distribution {
            count: buckets.iter().sum(),
            sum: self.sum.load(Ordering::Relaxed),
            max: self.max.load(Ordering::Relaxed),
            buckets,
        }
    }
}

/// A distribution of values: bucket `n` counts those below 2^n that are not in an earlier bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    pub count: u64,
    pub sum: u64,
    pub max: u64,
    pub buckets: Vec<u64>,
}

/// The counters behind [`Metrics`].
#[derive(Debug, Default)]
pub(crate) struct EngineCounters {
    group_requests: Histogram,
    group_bytes: Histogram,
    pub(crate) sync: Histogram,
    pub(crate) checkpoint: Histogram,
    pub(crate) stall: Histogram,
    pub(crate) expired: AtomicU64,
    pub(crate) cut_bytes: AtomicU64,
}

impl EngineCounters {
    pub(crate) fn group(&self, requests: usize, bytes: usize) {
        self.group_requests.add(requests as u64);
        self.group_bytes.add(bytes as u64);
    }

    pub(crate) fn read(&self) -> Metrics {
        Metrics {
            group_requests: self.group_requests.distribution(),
            group_bytes: self.group_bytes.distribution(),
            sync_us: self.sync.distribution(),
            checkpoint_us: self.checkpoint.distribution(),
            stall_us: self.stall.distribution(),
            expired: self.expired.load(Ordering::Relaxed),
            cut_bytes: self.cut_bytes.load(Ordering::Relaxed),
            ..Metrics::default()
        }
    }
}

/// Metrics since the engine was opened, and its current state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    pub group_requests: Distribution,
    pub group_bytes: Distribution,
    /// Time to write and sync a group, in microseconds.
    pub sync_us: Distribution,
    /// Time to apply a run to the tree, in microseconds.
    pub checkpoint_us: Distribution,
    /// Pauses of the writer while the tree was behind, in microseconds.
    pub stall_us: Distribution,
    /// Expired items removed by sweeps.
    pub expired: u64,
    /// Bytes of a torn, unacknowledged tail that were cut off the log on opening.
    pub cut_bytes: u64,
    /// Bytes of runs that are not in the tree yet.
    pub memtable_bytes: u64,
    /// Runs that are not in the tree yet.
    pub frozen_runs: u64,
    pub log_bytes: u64,
    pub tree_bytes: u64,
    /// Last sequence that readers see.
    pub sequence: u64,
    /// Number of sequences by which the slowest consumer with a hold is behind.
    pub stream_lag: u64,
    /// Milliseconds since everything synced was in the archive; `None` without one.
    pub archive_age_ms: Option<u64>,
    /// Free bytes of the disk.
    pub free_bytes: u64,
    /// The consumers that keep the log.
    pub holds: Vec<StreamHold>,
}
