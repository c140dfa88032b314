//! Notifications as they come: each once, in the order they came, from where a reader left off.

use std::collections::{HashSet, VecDeque};

use roundtable_model::entities::Notification;
use roundtable_model::table::Order;
use roundtable_model::{NotificationId, Span, Time};
use tokio::sync::watch;

use super::{Notice, NotificationError, Notifications};
use crate::Caller;

/// Notifications looked at in one go.
const LOOK: usize = 200;
/// Notifications that a reader who was away is told of, at the most; pages have the rest.
const MISSED_MAX: usize = 900;

/// One reader's notifications as they come.
#[derive(Debug)]
pub struct LiveNotifications {
    service: Notifications,
    caller: Caller,
    /// The number of the next one to look at.
    next: u64,
    /// What the reader is about to be told.
    ready: VecDeque<Notice>,
    /// What was told from the table, and may come again from the log.
    told: HashSet<NotificationId>,
    /// The newest that was told.
    last: Option<(Time, NotificationId)>,
    changed: watch::Receiver<u64>,
}

impl Notifications {
    /// The caller's notifications from now on, or from behind the one they were told of last.
    pub async fn live(
        &self,
        caller: &Caller,
        after: Option<&NotificationId>,
    ) -> Result<LiveNotifications, NotificationError> {
        self.ground.reader(caller).await?;
        self.catch_up().await?;
        let (next, is_known) = self.desk.behind(after);
        let mut live = LiveNotifications {
            service: self.clone(),
            caller: caller.clone(),
            next,
            ready: VecDeque::new(),
            told: HashSet::new(),
            last: after.and_then(|id| Some((id.time()?, id.clone()))),
            changed: self.desk.changes(),
        };
        if after.is_some() && !is_known {
            live.read_up().await?;
        }
        Ok(live)
    }
}

impl LiveNotifications {
    /// The next one; waits for it.
    pub async fn next(&mut self) -> Result<Notice, NotificationError> {
        loop {
            if let Some(notice) = self.ready.pop_front() {
                self.last = Some(place(&notice.notification)).max(self.last.take());
                return Ok(notice);
            }
            // Marked as seen before the log is looked at: what comes later ends the wait below.
            self.changed.borrow_and_update();
            if !self.look().await? {
                // The sender lives in the service that this holds.
                let _ = self.changed.changed().await;
            }
        }
    }

    /// Looks at some more of what has come; whether there was any.
    async fn look(&mut self) -> Result<bool, NotificationError> {
        let Some(some) = self.service.desk.from(self.next, LOOK) else {
            // It came faster than the reader took it.
            self.next = self.service.desk.behind(None).0;
            self.read_up().await?;
            return Ok(true);
        };
        if some.is_empty() {
            return Ok(false);
        }
        self.next += some.len() as u64;
        let me = self.service.ground.reader(&self.caller).await?.id;
        let mine = some.iter().filter(|note| note.user_id == me);
        let mine: Vec<Notification> =
            mine.filter(|note| !self.told.remove(&note.id)).map(|note| (**note).clone()).collect();
        let now = self.service.as_now(&mine).await?;
        self.tell(now).await?;
        Ok(true)
    }

    /// What the log has forgotten, from the table: all that is newer than what was told last.
    async fn read_up(&mut self) -> Result<(), NotificationError> {
        let Some((at, id)) = self.last.clone() else { return Ok(()) };
        let me = self.service.ground.reader(&self.caller).await?.id;
        let listing = self.service.ground.core().notifications(&me, Span::since(at));
        let page = listing.order(Order::Ascending).limit(MISSED_MAX).page().await?;
        let newer = page.items.into_iter().filter(|note| place(note) > (at, id.clone()));
        let newer: Vec<Notification> = newer.collect();
        // Some of it may still be in the log that is read from here on.
        self.told = newer.iter().map(|note| note.id.clone()).collect();
        self.tell(newer).await
    }

    async fn tell(&mut self, notes: Vec<Notification>) -> Result<(), NotificationError> {
        let shown = self.service.shown(&self.caller.user_id, notes).await?;
        self.ready.extend(shown.into_iter().flatten());
        Ok(())
    }
}

fn place(note: &Notification) -> (Time, NotificationId) {
    (note.created_at, note.id.clone())
}
