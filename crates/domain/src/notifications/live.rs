//! Live notifications: delivered in the order they are written, from where a reader left off.
//!
//! A single notification is delivered once. A collapsed one is delivered again with each later
//! action, always in its current state. A returning reader gets everything they missed; of those that
//! arrived in another order where they were, or that collapsed in the hour they left, the unread ones
//! are delivered again, because it is unknown how much of them the reader saw.

use std::collections::{HashMap, VecDeque};

use futures::future::BoxFuture;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Notification;
use roundtable_model::table::Order;
use roundtable_model::{Cursor, InvalidValue, NotificationId, Span, Time};
use tokio::sync::watch;

use super::{
    COLLAPSE_MS, NotificationError, NotificationView, Notifications, collapse_hour, collapses,
};
use crate::bus::LogStart;
use crate::{Caller, LiveBus, LiveSource, ResumePoint, ServiceError};

const BATCH: usize = 200;
/// Delivered notifications that are remembered before the oldest are dropped.
const DELIVERED_MAX: usize = 1_000;

/// A position among a user's notifications: the time, then the id.
type NotificationPosition = (Time, Option<NotificationId>);

/// One subscription to a user's notifications.
#[derive(Debug)]
pub struct LiveNotifications {
    service: Notifications,
    bus: LiveBus,
    caller: Caller,
    /// The log number to read next.
    next: u64,
    /// The range to read from the table, because the log no longer has it.
    missed: Option<MissedRange>,
    ready: VecDeque<Notification>,
    /// The last one that a returning reader saw.
    seen: Option<NotificationId>,
    /// Recently delivered notifications, because the log may repeat them.
    delivered: HashMap<NotificationId, Notification>,
    /// The position after everything delivered.
    last: NotificationPosition,
    changed: watch::Receiver<u64>,
}

/// A range that is read from the table, one page at a time.
#[derive(Debug)]
struct MissedRange {
    after_position: NotificationPosition,
    after: Option<Cursor>,
}

#[boxed]
impl Notifications {
    /// Subscribes to the caller's notifications from now on, or from after the last one they saw.
    pub async fn live(
        &self,
        bus: &LiveBus,
        caller: &Caller,
        after: Option<&ResumePoint<NotificationId>>,
    ) -> Result<LiveNotifications, NotificationError> {
        self.context.authorize_read(caller).await?;
        let last = after.map(|after| last_seen(&after.id)).transpose()?;
        bus.catch_up().await?;
        let LogStart { next, misses_some } = bus.log_start(bus.notification_log(), after);
        let missed = last.clone().filter(|_| misses_some);
        let mut live = LiveNotifications {
            service: self.clone(),
            bus: bus.clone(),
            caller: caller.clone(),
            next,
            missed: missed.map(|after_position| MissedRange { after_position, after: None }),
            ready: VecDeque::new(),
            seen: after.map(|after| after.id.clone()),
            delivered: HashMap::new(),
            last: last.unwrap_or((self.context.now(), None)),
            changed: bus.notification_log().changes(),
        };
        live.remember_seen().await?;
        Ok(live)
    }
}

impl LiveSource for LiveNotifications {
    type Event = NotificationView;
    type Error = NotificationError;

    fn read(&mut self) -> BoxFuture<'_, Result<Option<NotificationView>, NotificationError>> {
        Box::pin(async move {
            loop {
                while let Some(note) = self.ready.front().cloned() {
                    // Removed only after this await, so that cancellation loses nothing.
                    let view = self.current_view(&note).await?;
                    self.ready.pop_front();
                    self.last = position(&note).max(self.last.clone());
                    if view.is_some() {
                        return Ok(view);
                    }
                }
                // Marked before the log is read: a later change ends the wait.
                self.changed.borrow_and_update();
                if !self.read_log().await? {
                    return Ok(None);
                }
            }
        })
    }

    fn changed(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // The sender lives in the bus held here.
            let _ = self.changed.changed().await;
        })
    }
}

impl LiveNotifications {
    /// Returns the notification as it is now, if it is visible and was not delivered yet.
    async fn current_view(
        &mut self,
        note: &Notification,
    ) -> Result<Option<NotificationView>, NotificationError> {
        let me = self.service.context.authorize_read(&self.caller).await?.id;
        let now = self.service.reread(std::slice::from_ref(note)).await?;
        let Some(now) = now.into_iter().next().filter(|now| !self.was_delivered(now)) else {
            return Ok(None);
        };
        let shown = self.service.views(&me, vec![now.clone()]).await?;
        let view = shown.into_iter().flatten().next();
        if view.is_some() {
            self.remember(now);
        }
        Ok(view)
    }

    /// Reads more notifications; returns whether there were any.
    async fn read_log(&mut self) -> Result<bool, NotificationError> {
        if self.missed.is_some() {
            self.read_missed().await?;
            return Ok(true);
        }
        let log = self.bus.notification_log();
        let Some(some) = log.read_from(self.next, BATCH) else {
            // The reader fell behind the log.
            self.next = log.end();
            self.missed = Some(MissedRange { after_position: self.last.clone(), after: None });
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

    /// Remembers what happened so long before the reader's starting position that they could see it, or
    /// that they have read: the log may still bring it.
    async fn remember_seen(&mut self) -> Result<(), NotificationError> {
        let Some(missed) = &self.missed else { return Ok(()) };
        let end = missed.after_position.0;
        let core = self.service.context.core();
        let listing = core.notifications(&self.caller.user_id, Span::until(end.plus_ms(1)));
        let page = listing.order(Order::Descending).limit(BATCH).page().await?;
        let since = self.bus.read_since(end);
        let is_seen = |note: &Notification| {
            !collapses(note.kind) && (note.created_at < since || note.read_at.is_some())
        };
        page.items.into_iter().filter(is_seen).for_each(|note| self.remember(note));
        Ok(())
    }

    /// Reads a page of missed notifications from the table. A collapsed one is stored under the
    /// start of its hour, whenever it was written, and others under the time of their fact, after which
    /// they may arrive late.
    async fn read_missed(&mut self) -> Result<(), NotificationError> {
        let Some(missed) = &self.missed else { return Ok(()) };
        let after_position = missed.after_position.clone();
        let me = self.service.context.authorize_read(&self.caller).await?.id;
        let unordered_since = self.bus.read_since(after_position.0);
        let since = Span::since(collapse_hour(after_position.0).min(unordered_since));
        let listing = self.service.context.core().notifications(&me, since);
        let listing = listing.order(Order::Ascending).limit(BATCH).after(missed.after.clone());
        let page = listing.page().await?;
        let is_missed = |note: &Notification| {
            let may_be_new = collapses(note.kind) || note.created_at >= unordered_since;
            position(note) > after_position || may_be_new && note.read_at.is_none()
        };
        let mut missed_notes: Vec<Notification> =
            page.items.into_iter().filter(is_missed).collect();
        missed_notes.sort_by_key(Notification::time);
        missed_notes.into_iter().for_each(|note| self.make_ready(note));
        self.missed = page.next.map(|after| MissedRange { after_position, after: Some(after) });
        Ok(())
    }

    /// A queued notification is delivered in its current state, so it is queued once.
    fn make_ready(&mut self, note: Notification) {
        let waits = self.ready.iter().any(|other| other.id == note.id);
        if !waits && !self.was_delivered(&note) {
            self.ready.push_back(note);
        }
    }

    /// Returns whether the reader has this notification; of a collapsed one, in this very state.
    fn was_delivered(&self, note: &Notification) -> bool {
        if !collapses(note.kind) && self.seen.as_ref() == Some(&note.id) {
            return true;
        }
        let before = self.delivered.get(&note.id);
        before.is_some_and(|before| !collapses(note.kind) || before == note)
    }

    fn remember(&mut self, note: Notification) {
        let since = collapse_hour(note.created_at).minus_ms(COLLAPSE_MS);
        self.delivered.insert(note.id.clone(), note);
        if self.delivered.len() > DELIVERED_MAX {
            self.delivered.retain(|_, note| note.created_at >= since);
        }
    }
}

/// The position of the last notification a reader saw. It may be gone; its id still contains the time.
fn last_seen(id: &NotificationId) -> Result<NotificationPosition, ServiceError> {
    let at = id.time().ok_or_else(|| {
        ServiceError::bad_input(
            "after",
            InvalidValue::new("the id of a notification", format!("\"{id}\"")),
        )
    })?;
    Ok((at, Some(id.clone())))
}

fn position(note: &Notification) -> NotificationPosition {
    (note.created_at, Some(note.id.clone()))
}
