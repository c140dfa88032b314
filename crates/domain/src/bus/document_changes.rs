//! The changes of documents, on their way from the live bus to the index.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use roundtable_model::TYPE;
use roundtable_model::table::{Change, Sequence};
use tokio::sync::Notify;

use super::Sink;
use crate::search::{DOCUMENT_TYPES, DocumentState};

/// Changes that wait for the index. Beyond that they are dropped, and read again from the stream or the
/// table.
const WAITING_MAX: usize = 50_000;
const WAITING_BYTES_MAX: usize = 32 << 20;

/// A change of a document.
#[derive(Clone, Debug)]
pub struct DocumentChange {
    pub sequence: Sequence,
    pub state: DocumentState,
}

/// A batch of changes.
#[derive(Debug, Default)]
pub struct DocumentChanges {
    /// Some changes were missed before these; `Some(true)` if none will be from now on.
    pub gap: Option<bool>,
    pub changes: Vec<DocumentChange>,
}

/// The queue between bus and index. Empty until an index asks for changes.
#[derive(Clone, Debug, Default)]
pub struct DocumentChangeQueue {
    shared: Arc<SharedQueue>,
}

#[derive(Debug, Default)]
struct SharedQueue {
    state: Mutex<QueueState>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    is_wanted: bool,
    waiting: DocumentChanges,
    bytes: usize,
    /// The last that the bus said.
    is_complete: bool,
}

impl DocumentChange {
    /// `None` if the index is not affected.
    pub fn of(change: &Change) -> Option<Self> {
        let image = change.new.as_ref().or(change.old.as_ref())?;
        image.text(TYPE).filter(|kind| DOCUMENT_TYPES.contains(kind))?;
        let old = change.old.as_ref().and_then(DocumentState::of);
        let state = match &change.new {
            Some(new) => DocumentState::of(new)?,
            None => DocumentState { document: None, ..old.clone()? },
        };
        // Counters, scores and the like.
        let is_same = old.is_some_and(|old| old == state);
        (!is_same).then(|| Self { sequence: change.sequence.clone(), state })
    }

    fn bytes(&self) -> usize {
        let text = self.state.document.as_ref().map_or(0, |document| document.text.len());
        size_of::<Self>() + text
    }
}

impl DocumentChangeQueue {
    /// Collects changes from now on. Those before are a gap.
    pub fn start(&self) {
        let mut state = self.shared.state.lock();
        state.is_wanted = true;
        let is_complete = state.is_complete;
        state.miss(is_complete);
    }

    /// Waits for changes, at most this long, and takes them.
    pub async fn take(&self, wait_max: Duration) -> DocumentChanges {
        let woken = self.shared.wake.notified();
        if self.is_empty() {
            // Without changes in time there are none.
            let _ = tokio::time::timeout(wait_max, woken).await;
        }
        let mut state = self.shared.state.lock();
        state.bytes = 0;
        std::mem::take(&mut state.waiting)
    }

    fn is_empty(&self) -> bool {
        let state = self.shared.state.lock();
        state.waiting.gap.is_none() && state.waiting.changes.is_empty()
    }

    fn miss(&self, is_complete: bool) {
        let mut state = self.shared.state.lock();
        state.is_complete = is_complete;
        if state.is_wanted {
            state.miss(is_complete);
            drop(state);
            self.shared.wake.notify_one();
        }
    }
}

impl QueueState {
    fn miss(&mut self, is_complete: bool) {
        self.bytes = 0;
        self.waiting = DocumentChanges { gap: Some(is_complete), changes: Vec::new() };
    }
}

impl Sink for DocumentChangeQueue {
    fn apply(&self, changes: &[Change]) {
        if !self.shared.state.lock().is_wanted {
            return;
        }
        let new: Vec<DocumentChange> = changes.iter().filter_map(DocumentChange::of).collect();
        if new.is_empty() {
            return;
        }
        let mut state = self.shared.state.lock();
        state.bytes += new.iter().map(DocumentChange::bytes).sum::<usize>();
        state.waiting.changes.extend(new);
        if state.waiting.changes.len() > WAITING_MAX || state.bytes > WAITING_BYTES_MAX {
            let is_complete = state.is_complete;
            state.miss(is_complete);
        }
        drop(state);
        self.shared.wake.notify_one();
    }

    fn start(&self) {
        self.miss(true);
    }

    fn reset(&self, is_complete: bool) {
        self.miss(is_complete);
    }
}
