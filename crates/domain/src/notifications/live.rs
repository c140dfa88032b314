//! Notifications as they come, in the order they came, from where a reader left off.
//!
//! One that stands for itself is told once. One that adds up is told again when it has something later
//! to tell, always as it is by then. Whoever comes back is told of everything they missed; of what added
//! up in the hour they left in, whatever is unread is told again, because nobody knows how much of it
//! they had seen.

use std::collections::{HashMap, VecDeque};

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Notification;
use roundtable_model::table::Order;
use roundtable_model::{Cursor, Misfit, NotificationId, Span, Time};
use tokio::sync::watch;

use super::{CROWD_MS, Notice, NotificationError, Notifications, adds_up, hour_of};
use crate::{Caller, Failure};

/// Notifications looked at in one go.
const LOOK: usize = 200;
/// Told ones that are remembered before the oldest are forgotten.
const TOLD_MAX: usize = 1_000;

/// A place among somebody's notifications: when, and behind which one of then.
type Place = (Time, Option<NotificationId>);

/// One reader's notifications as they come.
#[derive(Debug)]
pub struct LiveNotifications {
    service: Notifications,
    caller: Caller,
    /// The number of the next one of the log to look at.
    next: u64,
    /// What the log has forgotten, and the reader has not been told of.
    missed: Option<Missed>,
    /// What the reader is about to be told.
    ready: VecDeque<Notification>,
    /// What was told lately, as it was: the log may bring it again.
    told: HashMap<NotificationId, Notification>,
    /// Behind everything that was told.
    last: Place,
    changed: watch::Receiver<u64>,
}

/// What is read from the table, a page at a time.
#[derive(Debug)]
struct Missed {
    behind: Place,
    after: Option<Cursor>,
}

#[boxed]
impl Notifications {
    /// The caller's notifications from now on, or from behind the one they were told of last.
    pub async fn live(
        &self,
        caller: &Caller,
        after: Option<&NotificationId>,
    ) -> Result<LiveNotifications, NotificationError> {
        self.ground.reader(caller).await?;
        let last = after.map(last_seen).transpose()?;
        self.catch_up().await?;
        let (next, is_known) = self.desk.behind(after);
        let missed = last.clone().filter(|_| !is_known);
        let mut live = LiveNotifications {
            service: self.clone(),
            caller: caller.clone(),
            next,
            missed: missed.map(|behind| Missed { behind, after: None }),
            ready: VecDeque::new(),
            told: HashMap::new(),
            last: last.unwrap_or((self.ground.now(), None)),
            changed: self.desk.changes(),
        };
        live.remember_seen().await?;
        Ok(live)
    }
}

#[boxed]
impl LiveNotifications {
    /// The next one; waits for it.
    pub async fn next(&mut self) -> Result<Notice, NotificationError> {
        loop {
            if let Some(note) = self.ready.front().cloned() {
                // Taken off when it is known what becomes of it: whoever stops waiting loses nothing.
                let notice = self.as_it_is(&note).await?;
                self.ready.pop_front();
                self.last = place(&note).max(self.last.clone());
                if let Some(notice) = notice {
                    return Ok(notice);
                }
                continue;
            }
            // Marked as seen before the log is looked at: what comes later ends the wait below.
            self.changed.borrow_and_update();
            if !self.look().await? {
                // The sender lives in the service that this holds.
                let _ = self.changed.changed().await;
            }
        }
    }

    /// A notification as it is now, if the reader may be told of it at this moment, and was not yet.
    async fn as_it_is(&mut self, note: &Notification) -> Result<Option<Notice>, NotificationError> {
        let me = self.service.ground.reader(&self.caller).await?.id;
        let now = self.service.as_now(std::slice::from_ref(note)).await?;
        let Some(now) = now.into_iter().next().filter(|now| !self.was_told(now)) else {
            return Ok(None);
        };
        let shown = self.service.shown(&me, vec![now.clone()]).await?;
        let notice = shown.into_iter().flatten().next();
        if notice.is_some() {
            self.remember(now);
        }
        Ok(notice)
    }

    /// Looks at some more of what has come; whether there was any.
    async fn look(&mut self) -> Result<bool, NotificationError> {
        if self.missed.is_some() {
            self.read_up().await?;
            return Ok(true);
        }
        let Some(some) = self.service.desk.from(self.next, LOOK) else {
            // It came faster than the reader took it.
            self.next = self.service.desk.behind(None).0;
            self.missed = Some(Missed { behind: self.last.clone(), after: None });
            return Ok(true);
        };
        for note in &some {
            if note.user_id == self.caller.user_id {
                self.make_ready((**note).clone());
            }
        }
        self.next += some.len() as u64;
        Ok(!some.is_empty())
    }

    /// What lies before the place that the reader comes from was there for them to see. Where the log has
    /// not come to it yet, it will, and must not be told again.
    async fn remember_seen(&mut self) -> Result<(), NotificationError> {
        let Some(behind) = self.missed.as_ref().map(|missed| missed.behind.clone()) else {
            return Ok(());
        };
        let core = self.service.ground.core();
        let listing = core.notifications(&self.caller.user_id, Span::until(behind.0.plus_ms(1)));
        let page = listing.order(Order::Descending).limit(LOOK).page().await?;
        let is_seen = |note: &Notification| place(note) <= behind && !adds_up(note.kind);
        page.items.into_iter().filter(is_seen).for_each(|note| self.remember(note));
        Ok(())
    }

    /// A page of what the log has forgotten, from the table. What adds up lies at the beginning of its
    /// hour, whenever it was written.
    async fn read_up(&mut self) -> Result<(), NotificationError> {
        let Some(missed) = &self.missed else { return Ok(()) };
        let behind = missed.behind.clone();
        let me = self.service.ground.reader(&self.caller).await?.id;
        let since = Span::since(hour_of(behind.0));
        let listing = self.service.ground.core().notifications(&me, since);
        let listing = listing.order(Order::Ascending).limit(LOOK).after(missed.after.clone());
        let page = listing.page().await?;
        let is_missed = |note: &Notification| {
            place(note) > behind || adds_up(note.kind) && note.read_at.is_none()
        };
        page.items.into_iter().filter(is_missed).for_each(|note| self.make_ready(note));
        self.missed = page.next.map(|after| Missed { behind, after: Some(after) });
        Ok(())
    }

    /// It is told as it is when its turn comes, so one that is waiting need not wait twice.
    fn make_ready(&mut self, note: Notification) {
        let waits = self.ready.iter().any(|other| other.id == note.id);
        if !waits && !self.was_told(&note) {
            self.ready.push_back(note);
        }
    }

    /// Whether the reader knows: of one that adds up, this very state of it.
    fn was_told(&self, note: &Notification) -> bool {
        let before = self.told.get(&note.id);
        before.is_some_and(|before| !adds_up(note.kind) || before == note)
    }

    fn remember(&mut self, note: Notification) {
        let since = hour_of(note.created_at).minus_ms(CROWD_MS);
        self.told.insert(note.id.clone(), note);
        if self.told.len() > TOLD_MAX {
            self.told.retain(|_, note| note.created_at >= since);
        }
    }
}

/// The place of the one that a reader was told of last: it may be gone, and its id still tells when it was.
fn last_seen(id: &NotificationId) -> Result<Place, Failure> {
    let at = id.time().ok_or_else(|| {
        Failure::bad("after", Misfit::new("the id of a notification", format!("\"{id}\"")))
    })?;
    Ok((at, Some(id.clone())))
}

fn place(note: &Notification) -> Place {
    (note.created_at, Some(note.id.clone()))
}
