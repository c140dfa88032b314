//! What the engine tells about itself.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const BUCKETS: usize = 32;

/// A histogram by powers of two.
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

    /// Records a time, in microseconds.
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

/// How values were spread: bucket `n` counts those below 2^n and not in a bucket before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// How many values.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The largest.
    pub max: u64,
    /// Counts by powers of two.
    pub buckets: Vec<u64>,
}

/// The counters behind [`Metrics`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    group_requests: Histogram,
    group_bytes: Histogram,
    pub(crate) sync: Histogram,
    pub(crate) checkpoint: Histogram,
    pub(crate) stall: Histogram,
    pub(crate) expired: AtomicU64,
    pub(crate) cut_bytes: AtomicU64,
}

impl Counters {
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

/// The engine's figures since it was opened, and its state now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Requests per group.
    pub group_requests: Distribution,
    /// Log bytes per group.
    pub group_bytes: Distribution,
    /// Time to write and sync a group, in microseconds.
    pub sync_us: Distribution,
    /// Time to bring a run into the tree, in microseconds.
    pub checkpoint_us: Distribution,
    /// Pauses of the writer while the tree was behind, in microseconds.
    pub stall_us: Distribution,
    /// Items removed because their time was over.
    pub expired: u64,
    /// Bytes of a torn, unacknowledged end that opening cut off the log.
    pub cut_bytes: u64,
    /// Bytes in runs not yet in the tree.
    pub memtable_bytes: u64,
    /// Runs waiting for the tree.
    pub frozen_runs: u64,
    /// Bytes of records in the log.
    pub log_bytes: u64,
    /// Bytes of the tree's file.
    pub tree_bytes: u64,
    /// The last sequence readers see.
    pub sequence: u64,
    /// How many sequences the slowest held consumer is behind.
    pub stream_lag: u64,
}
