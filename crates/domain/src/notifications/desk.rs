//! The latest notifications of everybody in the order they were written, heard of from the stream, for
//! those who are told as they come.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Notification;
use roundtable_model::table::{Change, Item};
use roundtable_model::{Answer, NotificationId, NotificationKind, TYPE};
use tokio::sync::watch;

use super::{NotificationError, Notifications};
use crate::follower::{Follower, Hears};

/// Notifications that can still be told to those who come back.
const LOG_MAX: usize = 10_000;

/// What was heard of, and how far the stream was read.
#[derive(Debug)]
pub(super) struct Desk {
    log: Mutex<Log>,
    follower: Follower,
    told: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Log {
    notes: VecDeque<Arc<Notification>>,
    /// The number of the first of them.
    first: u64,
    numbers: HashMap<NotificationId, u64>,
}

impl Desk {
    pub(super) fn new() -> Self {
        let (log, follower) = Default::default();
        Self { log, follower, told: watch::Sender::new(0) }
    }

    /// The number of the one behind this notification, and whether that is known; if it is not, or
    /// nothing is asked about, the number of the next one of all.
    pub(super) fn behind(&self, id: Option<&NotificationId>) -> (u64, bool) {
        let log = self.log.lock();
        match id.and_then(|id| log.numbers.get(id)) {
            Some(number) => (number + 1, true),
            None => (log.end(), false),
        }
    }

    /// At most so many from this number on; `None` if some of them are forgotten.
    pub(super) fn from(&self, number: u64, wanted: usize) -> Option<Vec<Arc<Notification>>> {
        let log = self.log.lock();
        let skipped = usize::try_from(number.checked_sub(log.first)?).ok()?;
        Some(log.notes.iter().skip(skipped).take(wanted).cloned().collect())
    }

    /// Changes whenever another one is heard of.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.told.subscribe()
    }

    /// Some were missed: whoever asks for what came from now on learns that it is not all.
    fn skip(&self) {
        let mut log = self.log.lock();
        log.first = log.end() + 1;
        log.notes.clear();
        log.numbers.clear();
        let end = log.end();
        drop(log);
        self.told.send_replace(end);
    }
}

impl Log {
    fn end(&self) -> u64 {
        self.first + self.notes.len() as u64
    }

    fn push(&mut self, News { note, is_first }: News) {
        let number = self.end();
        // Changes may come twice.
        if is_first && self.numbers.contains_key(&note.id) {
            return;
        }
        // Whoever comes back was told of the first of them, and perhaps of no other.
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

/// A notification that those who listen are to be told of.
#[derive(Debug)]
struct News {
    note: Notification,
    /// Whether it was not there before.
    is_first: bool,
}

/// What a change gives to tell: a notification that is new, or tells of something later than it did.
fn written(change: &Change) -> Option<News> {
    let note = read(change.new.as_ref())?;
    match read(change.old.as_ref()) {
        None => Some(News { note, is_first: true }),
        Some(before) => is_later(&before, &note).then_some(News { note, is_first: false }),
    }
}

fn read(item: Option<&Item>) -> Option<Notification> {
    let item = item.filter(|item| item.text(TYPE) == Some(Notification::ENTITY.name))?;
    Notification::from_item(item).inspect_err(|error| tracing::warn!(%error, "unreadable")).ok()
}

/// Whether a notification that adds up has something to tell again: another message, or somebody more
/// after it was read. One more of many who like a post is seen by whoever looks, and rings no bell.
fn is_later(before: &Notification, now: &Notification) -> bool {
    let id = |note: &Notification| note.object.as_ref().map(|object| object.id.clone());
    let is_message = now.kind == NotificationKind::Message && id(now) > id(before);
    now.read_at.is_none() && (before.read_at.is_some() || is_message)
}

impl Hears for Desk {
    fn follower(&self) -> &Follower {
        &self.follower
    }

    fn hear(&self, changes: &[Change]) {
        let mut log = self.log.lock();
        changes.iter().filter_map(written).for_each(|news| log.push(news));
        let end = log.end();
        drop(log);
        self.told.send_if_modified(|told| std::mem::replace(told, end) != end);
    }

    fn begin(&self, is_gap: bool) {
        if is_gap {
            self.skip();
        }
    }
}

#[boxed]
impl Notifications {
    /// Keeps up with what happens until it is told to stop, so that those who listen are told. Where
    /// other processes write as well, [`Notifications::apply`] takes its place.
    pub async fn follow(&self, stop: impl Future<Output = ()>) {
        Follower::keep_up(&self.desk, &self.ground, stop, "notifications").await;
    }

    /// Hears of everything that happened before this call. [`Notifications::follow`] does it all the
    /// time.
    pub async fn catch_up(&self) -> Result<(), NotificationError> {
        Ok(Follower::catch_up(&self.desk, &self.ground).await?)
    }

    /// Hears of changes of the core table, in the order of each item's: for those who read the stream
    /// elsewhere.
    pub fn apply(&self, changes: &[Change]) {
        self.desk.hear(changes);
    }

    /// Some changes were not heard of: whoever listens reads what they were not told of from the table.
    pub fn missed(&self) {
        self.desk.skip();
    }
}
