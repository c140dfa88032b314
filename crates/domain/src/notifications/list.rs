//! The list of a user's notifications in the order of their latest events.
//!
//! A notification is stored under the time of its fact, and a collapsed one under the start of its hour,
//! so that its key stays the same while it grows. In the list it stands at its latest event. So a page
//! reads notifications by key, newest first, and besides them the collapsed ones of the hour in which it
//! stopped: no other notification further down can have an event that late.

use std::collections::BTreeMap;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Notification;
use roundtable_model::{Cursor, InvalidValue, NotificationId, Span, Time, UserId};

use super::{NotificationError, NotificationView, Notifications, collapse_hour};
use crate::{Caller, Page, PageInput, ServiceError};

/// Collapsed notifications of one hour that are read at once.
const HOUR_BATCH: usize = 200;
const READ_ITEMS_MAX: usize = 200;
/// Notifications read for one page, most of them hidden: then it ends, full or not.
const SCANNED_ITEMS_MAX: usize = 2_000;

/// A position in the list.
type ListPosition = (Time, NotificationId);

/// Some notifications in the order of the list, and the position that they reach down to.
struct ListWindow {
    notes: Vec<Notification>,
    scanned: usize,
    /// `None` at the end of the list.
    end: Option<ListPosition>,
}

#[boxed]
impl Notifications {
    /// Lists the caller's visible notifications, the latest event first.
    pub async fn list(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<NotificationView>, NotificationError> {
        let me = self.context.authorize_read(caller).await?.id;
        let wanted = page.size()?;
        let mut after = page.after.as_ref().map(|cursor| position_of(&me, cursor)).transpose()?;
        let (mut items, mut read_limit, mut scanned) = (Vec::with_capacity(wanted), wanted + 1, 0);
        loop {
            let window = self.window(&me, after.as_ref(), read_limit).await?;
            scanned += window.scanned;
            let cursors: Vec<Cursor> =
                window.notes.iter().map(|note| cursor(&me, &position(note))).collect();
            let views = self.views(&me, window.notes).await?;
            for (view, cursor) in views.into_iter().zip(cursors) {
                items.extend(view.map(|view| (view, cursor)));
            }
            if items.len() > wanted {
                items.truncate(wanted);
                let next = items.last().map(|(_, cursor): &(_, Cursor)| cursor.clone());
                return Ok(Page { items, next });
            }
            if window.end.is_none() || scanned >= SCANNED_ITEMS_MAX {
                let next = window.end.map(|end| cursor(&me, &end));
                return Ok(Page { items, next });
            }
            (after, read_limit) = (window.end, (read_limit * 2).min(READ_ITEMS_MAX));
        }
    }

    /// Reads the notifications that follow a position.
    async fn window(
        &self,
        me: &UserId,
        after: Option<&ListPosition>,
        limit: usize,
    ) -> Result<ListWindow, ServiceError> {
        let core = self.context.core();
        let span = after.map_or(Span::ALL, |(time, _)| Span::until(time.plus_ms(1)));
        let page = core.notifications(me, span).limit(limit).page().await?;
        let mut scanned = page.items.len();
        let last = page.items.last().map(|note| (note.created_at, note.id.clone()));
        let end = last.filter(|_| page.next.is_some());
        let mut notes: BTreeMap<ListPosition, Notification> =
            page.items.into_iter().map(|note| (position(&note), note)).collect();
        if let Some((time, _)) = &end {
            let hour = collapse_hour(*time);
            let mut next = None;
            loop {
                let of_hour = core.notifications(me, Span::between(hour, hour.plus_ms(1)));
                let page = of_hour.limit(HOUR_BATCH).after(next.take()).page().await?;
                scanned += page.items.len();
                notes.extend(page.items.into_iter().map(|note| (position(&note), note)));
                match page.next {
                    Some(more) => next = Some(more),
                    None => break,
                }
            }
        }
        let is_inside = |position: &ListPosition| {
            after.is_none_or(|after| position < after)
                && end.as_ref().is_none_or(|end| position >= end)
        };
        let notes = notes.into_iter().rev().filter(|(position, _)| is_inside(position));
        Ok(ListWindow { notes: notes.map(|(_, note)| note).collect(), scanned, end })
    }
}

pub(super) fn position(note: &Notification) -> ListPosition {
    (note.time(), note.id.clone())
}

/// The scope of the cursors of one reader's list.
fn cursor_scope(me: &UserId) -> String {
    format!("notifications of {me}")
}

fn cursor(me: &UserId, (time, id): &ListPosition) -> Cursor {
    Cursor::at(&cursor_scope(me), Notification::at(me, time, id))
}

fn position_of(me: &UserId, cursor: &Cursor) -> Result<ListPosition, ServiceError> {
    let read = || {
        let key = cursor.key_for(&cursor_scope(me))?;
        Some((Notification::CREATED_AT.part_of(key)?, Notification::ID.part_of(key)?))
    };
    read().ok_or_else(|| {
        ServiceError::bad_input("cursor", InvalidValue::new("a cursor of this list", cursor))
    })
}
