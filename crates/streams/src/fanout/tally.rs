//! What the fan-out of this process has done, and whose it has not finished.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::Home;

/// Counts of this process since its start.
#[derive(Debug, Default)]
pub(super) struct Tally {
    copies: AtomicU64,
    trimmed: AtomicU64,
    /// Homes that were begun and are not finished: under way, failing or parked.
    behind: Mutex<HashSet<Home>>,
}

impl Tally {
    pub(super) fn begun(&self, home: &Home) {
        let mut behind = self.behind.lock();
        if !behind.contains(home) {
            behind.insert(home.clone());
        }
    }

    pub(super) fn finished(&self, home: &Home) {
        self.behind.lock().remove(home);
    }

    pub(super) fn copied(&self, copies: usize) {
        self.copies.fetch_add(copies as u64, Ordering::Relaxed);
    }

    pub(super) fn trimmed(&self, items: usize) {
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
