//! The log of recent notifications of all users, in stream order, for subscriptions.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Notification;
use roundtable_model::table::{Change, Item};
use roundtable_model::{FromItem, NotificationId, NotificationKind, TYPE};
use tokio::sync::watch;

use super::{NotificationError, Notifications};
use crate::stream_reader::{ChangeSink, StreamReader};

/// Notifications kept for returning subscribers.
const LOG_MAX: usize = 10_000;

/// The log, and its position in the stream.
#[derive(Debug)]
pub(super) struct NotificationLog {
    state: Mutex<LogState>,
    stream_reader: StreamReader,
    changed: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct LogState {
    notes: VecDeque<Arc<Notification>>,
    /// The number of the oldest entry.
    first: u64,
    numbers: HashMap<NotificationId, u64>,
}

impl NotificationLog {
    pub(super) fn new() -> Self {
        let (state, stream_reader) = Default::default();
        Self { state, stream_reader, changed: watch::Sender::new(0) }
    }

    /// The number after this notification and true; if it is unknown or `None`, the number of the
    /// next entry and false.
    pub(super) fn number_after(&self, id: Option<&NotificationId>) -> (u64, bool) {
        let state = self.state.lock();
        match id.and_then(|id| state.numbers.get(id)) {
            Some(number) => (number + 1, true),
            None => (state.end(), false),
        }
    }

    /// At most `wanted` entries from this number on; `None` if some of them were dropped.
    pub(super) fn read_from(&self, number: u64, wanted: usize) -> Option<Vec<Arc<Notification>>> {
        let state = self.state.lock();
        let skipped = usize::try_from(number.checked_sub(state.first)?).ok()?;
        Some(state.notes.iter().skip(skipped).take(wanted).cloned().collect())
    }

    /// Changes with every new entry.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Marks a gap: readers at the end learn that entries are missing.
    fn mark_gap(&self) {
        let mut state = self.state.lock();
        state.first = state.end() + 1;
        state.notes.clear();
        state.numbers.clear();
        let end = state.end();
        drop(state);
        self.changed.send_replace(end);
    }
}

impl LogState {
    fn end(&self) -> u64 {
        self.first + self.notes.len() as u64
    }

    fn push(&mut self, LogEntry { note, is_first }: LogEntry) {
        let number = self.end();
        // Changes may be delivered twice.
        if is_first && self.numbers.contains_key(&note.id) {
            return;
        }
        // A returning reader has seen the first of its entries, and perhaps no other.
        self.numbers.entry(note.id.clone()).or_insert(number);
        self.notes.push_back(Arc::new(note));
        while self.notes.len() > LOG_MAX
            && let Some(oldest) = self.notes.pop_front()
        {
            if self.numbers.get(&oldest.id) == Some(&self.first) {
                self.numbers.remove(&oldest.id);
            }
            self.first += 1;
        }
    }
}

#[derive(Debug)]
struct LogEntry {
    note: Notification,
    /// True if the notification is new.
    is_first: bool,
}

/// Returns the entry of a change: a notification that is new, or has a later action.
fn log_entry(change: &Change) -> Option<LogEntry> {
    let note = read(change.new.as_ref())?;
    match read(change.old.as_ref()) {
        None => Some(LogEntry { note, is_first: true }),
        Some(before) => is_later(&before, &note).then_some(LogEntry { note, is_first: false }),
    }
}

fn read(item: Option<&Item>) -> Option<Notification> {
    let item = item.filter(|item| item.text(TYPE) == Some(Notification::ENTITY.name))?;
    Notification::from_item(item)
        .inspect_err(
            |error| tracing::warn!(%error, "cannot decode a changed notification; skipping it"),
        )
        .ok()
}

/// Returns whether a collapsed notification is to be delivered again: after another message, or
/// another action since it was read. One more like of an unread notification is visible to readers
/// who look, but not delivered.
fn is_later(before: &Notification, now: &Notification) -> bool {
    let id = |note: &Notification| note.object.as_ref().map(|object| object.id.clone());
    let is_message = now.kind == NotificationKind::Message && id(now) > id(before);
    now.read_at.is_none() && (before.read_at.is_some() || is_message)
}

impl ChangeSink for NotificationLog {
    fn stream_reader(&self) -> &StreamReader {
        &self.stream_reader
    }

    fn receive(&self, changes: &[Change]) {
        let mut state = self.state.lock();
        changes.iter().filter_map(log_entry).for_each(|entry| state.push(entry));
        let end = state.end();
        drop(state);
        self.changed.send_if_modified(|changed| std::mem::replace(changed, end) != end);
    }

    fn start(&self, is_gap: bool) {
        if is_gap {
            self.mark_gap();
        }
    }
}

#[boxed]
impl Notifications {
    /// Reads the stream until `stop` resolves. Where other processes write as well,
    /// [`Notifications::apply`] takes its place.
    pub async fn follow(&self, stop: impl Future<Output = ()>) {
        StreamReader::keep_up(&self.log, &self.context, stop, "notifications").await;
    }

    /// Reads everything that happened before this call, as [`Notifications::follow`] does continuously.
    pub async fn catch_up(&self) -> Result<(), NotificationError> {
        Ok(StreamReader::catch_up(&self.log, &self.context).await?)
    }

    /// Applies changes of the core table that another task has read; each item's changes must
    /// arrive in order.
    pub fn apply(&self, changes: &[Change]) {
        self.log.receive(changes);
    }

    /// Reports missed changes: subscriptions read from the table what they were not delivered.
    pub fn report_gap(&self) {
        self.log.mark_gap();
    }
}
