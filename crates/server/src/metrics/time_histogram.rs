//! A histogram of short times.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::MetricsPage;
use super::page::seconds;

/// Upper bounds of the buckets.
const BOUNDS_US: [u64; 12] =
    [10, 50, 100, 250, 500, 1_000, 2_500, 10_000, 50_000, 250_000, 1_000_000, 5_000_000];

/// Times by bucket. Recording one takes no lock.
#[derive(Debug, Default)]
pub(super) struct TimeHistogram {
    /// The last one is beyond all bounds.
    buckets: [AtomicU64; BOUNDS_US.len() + 1],
    sum_ns: AtomicU64,
}

impl TimeHistogram {
    pub(super) fn record(&self, took: Duration) {
        let is_within = |bound: &u64| took <= Duration::from_micros(*bound);
        let bucket = BOUNDS_US.iter().position(is_within).unwrap_or(BOUNDS_US.len());
        if let Some(bucket) = self.buckets.get(bucket) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.sum_ns.fetch_add(ns, Ordering::Relaxed);
    }

    pub(super) fn write_to(&self, page: &mut MetricsPage, name: &'static str, help: &str) {
        page.begin(name, "histogram", help);
        let mut count = 0;
        for (bucket, bound) in self.buckets.iter().zip(BOUNDS_US) {
            count += bucket.load(Ordering::Relaxed);
            let bound = seconds(Duration::from_micros(bound));
            page.sample(&format!("{name}_bucket"), &[("le", bound.as_str())], count);
        }
        count += self.buckets.last().map_or(0, |last| last.load(Ordering::Relaxed));
        page.sample(&format!("{name}_bucket"), &[("le", "+Inf")], count);
        let sum = Duration::from_nanos(self.sum_ns.load(Ordering::Relaxed));
        page.sample(&format!("{name}_sum"), &[], seconds(sum));
        page.sample(&format!("{name}_count"), &[], count);
    }
}
