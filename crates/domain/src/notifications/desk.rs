//! The latest notifications of everybody in the order they were written, heard of from the stream, for
//! those who are told as they come.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use hashbrown::HashMap;
use parking_lot::Mutex;
use roundtable_model::entities::Notification;
use roundtable_model::table::limits::STREAM_CHANGES_MAX;
use roundtable_model::table::{
    self, Change, Item, Sequence, StreamPage, StreamRead, StreamStart, Table,
};
use roundtable_model::{Answer, NotificationId, NotificationKind};
use tokio::sync::watch;

use super::{NotificationError, Notifications};
use crate::Failure;
use crate::rounds::{Rounds, WAIT, until_stopped};

/// Notifications that can still be told to those who come back.
const LOG_MAX: usize = 10_000;

/// What was heard of, and how far the stream was read.
#[derive(Debug)]
pub(super) struct Desk {
    log: Mutex<Log>,
    rounds: Rounds,
    /// Written by rounds alone, of which there is one at a time; held for moments only.
    reached: Mutex<Option<Reached>>,
    told: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Log {
    notes: VecDeque<Arc<Notification>>,
    /// The number of the first of them.
    first: u64,
    numbers: HashMap<NotificationId, u64>,
}

/// The one shard, and up to where it was read.
#[derive(Clone, Debug)]
struct Reached {
    shard: String,
    after: Sequence,
}

impl Desk {
    pub(super) fn new() -> Self {
        let (log, reached, rounds) = Default::default();
        Self { log, rounds, reached, told: watch::Sender::new(0) }
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

    fn hear(&self, changes: &[Change]) {
        let mut log = self.log.lock();
        changes.iter().filter_map(written).for_each(|news| log.push(news));
        let end = log.end();
        drop(log);
        self.told.send_if_modified(|told| std::mem::replace(told, end) != end);
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
    let item = item.filter(|item| item.text("type") == Some(Notification::ENTITY.name))?;
    Notification::from_item(item).inspect_err(|error| tracing::warn!(%error, "unreadable")).ok()
}

/// Whether a notification that adds up has something to tell again: another message, or somebody more
/// after it was read. One more of many who like a post is seen by whoever looks, and rings no bell.
fn is_later(before: &Notification, now: &Notification) -> bool {
    let id = |note: &Notification| note.object.as_ref().map(|object| object.id.clone());
    let is_message = now.kind == NotificationKind::Message && id(now) > id(before);
    now.read_at.is_none() && (before.read_at.is_some() || is_message)
}

impl Notifications {
    /// Keeps up with what happens until it is told to stop, so that those who listen are told. Where
    /// other processes write as well, [`Notifications::apply`] takes its place.
    pub async fn follow(&self, stop: impl Future<Output = ()>) {
        if !self.ground.store().capabilities().one_process {
            return stop.await;
        }
        until_stopped(stop, "notifications", || async {
            self.catch_up().await?;
            self.wait().await
        })
        .await;
    }

    /// Hears of everything that happened before this call. [`Notifications::follow`] does it all the
    /// time.
    pub async fn catch_up(&self) -> Result<(), NotificationError> {
        if !self.ground.store().capabilities().one_process {
            return Ok(());
        }
        let round = || {
            let service = self.clone();
            async move { service.read_on().await }.boxed()
        };
        Ok(self.desk.rounds.wait_for_one(round).await?)
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

    /// Waits until something happens, or the time is over.
    async fn wait(&self) -> Result<(), NotificationError> {
        let reached = self.desk.reached.lock().clone();
        let Some(Reached { shard, after }) = reached else { return Ok(()) };
        let read = StreamRead { shard, start: StreamStart::After(after), limit: 1, wait: WAIT };
        match self.ground.core().table().stream_read(read).await {
            Ok(_) | Err(table::Error::StreamTrimmed { .. }) => Ok(()),
            Err(error) => Err(Failure::from(error).into()),
        }
    }

    async fn read_on(&self) -> Result<(), Failure> {
        let (table, desk) = (self.ground.core().table(), &self.desk);
        let mut end: Option<Sequence> = None;
        loop {
            let reached = desk.reached.lock().clone();
            let Some(mut here) = reached else {
                let latest = Reached::latest(table).await?;
                *desk.reached.lock() = Some(latest);
                return Ok(());
            };
            let page = match here.read(table, StreamStart::After(here.after.clone())).await {
                Err(table::Error::StreamTrimmed { .. }) => {
                    *desk.reached.lock() = None;
                    desk.skip();
                    continue;
                }
                page => page?,
            };
            // Together, with nothing awaited in between: what was heard is heard once.
            let new = page.changes.partition_point(|change| change.sequence <= here.after);
            desk.hear(page.changes.get(new..).unwrap_or_default());
            let Some(next) = page.next.filter(|next| *next > here.after) else { return Ok(()) };
            here.after = next;
            *desk.reached.lock() = Some(here.clone());
            // Others may write faster than this reads; what they do from now on can wait.
            if end.is_none() {
                end = here.read(table, StreamStart::Latest).await?.next;
            }
            if end.as_ref().is_none_or(|end| here.after >= *end) {
                return Ok(());
            }
        }
    }
}

impl Reached {
    /// Whatever comes from now on.
    async fn latest(table: &Table) -> Result<Self, Failure> {
        let shards = table.stream_shards().await?;
        let [shard] = shards.as_slice() else {
            let found = shards.len();
            return Err(Failure::Internal(format!("a stream of one process has {found} shards")));
        };
        let mut here = Self { shard: shard.id.clone(), after: Sequence::from(0) };
        if let Some(latest) = here.read(table, StreamStart::Latest).await?.next {
            here.after = latest;
        }
        Ok(here)
    }

    async fn read(&self, table: &Table, start: StreamStart) -> table::Result<StreamPage> {
        let (shard, limit, wait) = (self.shard.clone(), STREAM_CHANGES_MAX, Duration::ZERO);
        table.stream_read(StreamRead { shard, start, limit, wait }).await
    }
}
