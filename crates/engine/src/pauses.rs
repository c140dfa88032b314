//! Reasons for which the store takes no writes for now. They pass by themselves, or once an operator has freed
//! space, without a restart.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// Something that keeps the store from writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Obstacle {
    /// The log could not be appended to: no write is taken.
    Log,
    /// The tree could not be written: runs stay in memory, and only essential writes are taken.
    Tree,
    /// The free space is below the reserve: only essential writes are taken.
    LowSpace,
}

#[derive(Debug, Default)]
pub(crate) struct WritePauses {
    reasons: Mutex<BTreeMap<Obstacle, String>>,
    count: AtomicUsize,
}

impl WritePauses {
    pub(crate) fn set(&self, obstacle: Obstacle, reason: String) {
        let mut reasons = self.reasons.lock();
        if !reasons.contains_key(&obstacle) {
            tracing::error!(
                reason,
                "writes are refused until this has passed; free space on the disk"
            );
        }
        reasons.insert(obstacle, reason);
        self.count.store(reasons.len(), Ordering::SeqCst);
    }

    pub(crate) fn clear(&self, obstacle: Obstacle) {
        if !self.any() {
            return;
        }
        let mut reasons = self.reasons.lock();
        if let Some(reason) = reasons.remove(&obstacle) {
            let left = reasons.len();
            tracing::info!(reason, left, "a reason to refuse writes has passed");
        }
        self.count.store(reasons.len(), Ordering::SeqCst);
    }

    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn has(&self, obstacle: Obstacle) -> bool {
        self.any() && self.reasons.lock().contains_key(&obstacle)
    }

    /// Returns all reasons, the gravest first.
    pub(crate) fn reasons(&self) -> Vec<String> {
        self.reasons.lock().values().cloned().collect()
    }
}
