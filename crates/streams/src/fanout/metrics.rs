//! Counts of the fan-out of this process since its start.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::FanOutSource;

#[derive(Debug, Default)]
pub(super) struct FanOutMetrics {
    copies: AtomicU64,
    trimmed: AtomicU64,
    /// Sources that were started and not finished: running, failing or parked.
    behind: Mutex<HashSet<FanOutSource>>,
}

impl FanOutMetrics {
    pub(super) fn source_started(&self, source: &FanOutSource) {
        let mut behind = self.behind.lock();
        if !behind.contains(source) {
            behind.insert(source.clone());
        }
    }

    pub(super) fn source_finished(&self, source: &FanOutSource) {
        self.behind.lock().remove(source);
    }

    pub(super) fn add_copies(&self, copies: usize) {
        self.copies.fetch_add(copies as u64, Ordering::Relaxed);
    }

    pub(super) fn add_trimmed(&self, items: usize) {
        self.trimmed.fetch_add(items as u64, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("feed items written", self.copies.load(Ordering::Relaxed)),
            ("feed items trimmed", self.trimmed.load(Ordering::Relaxed)),
            ("homes behind", self.behind.lock().len() as u64),
        ]
    }
}
