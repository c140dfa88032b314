//! The log of recent notifications of all users, in stream order, for subscriptions.

use std::sync::Arc;

use roundtable_model::entities::Notification;
use roundtable_model::table::{Change, Item};
use roundtable_model::{FromItem, NotificationId, TYPE};

use crate::bus::{ReplayLog, Sink};

/// Recent notifications of all users.
pub(crate) type NotificationLog = ReplayLog<NotificationId, Arc<Notification>>;

impl NotificationLog {
    pub(crate) const ENTITY_TYPES: &[&str] = &[Notification::ENTITY.name];
}

fn read(item: Option<&Item>) -> Option<Notification> {
    let item = item.filter(|item| item.text(TYPE) == Some(Notification::ENTITY.name))?;
    Notification::from_item(item)
        .inspect_err(
            |error| tracing::warn!(%error, "cannot decode a changed notification; skipping it"),
        )
        .ok()
}

/// Returns whether a collapsed notification is to be delivered again: after a later action.
fn is_later(before: &Notification, now: &Notification) -> bool {
    now.read_at.is_none() && (before.read_at.is_some() || now.time() > before.time())
}

impl Sink for NotificationLog {
    fn apply(&self, changes: &[Change]) {
        for change in changes {
            let Some(note) = read(change.new.as_ref()).map(Arc::new) else { continue };
            match read(change.old.as_ref()) {
                None => self.push_new(note.id.clone(), note),
                Some(before) if is_later(&before, &note) => {
                    self.push_update(note.id.clone(), note);
                }
                Some(_) => {}
            }
        }
        self.wake();
    }

    /// Subscriptions read from the table what they were not delivered.
    fn reset(&self, _is_complete: bool) {
        self.mark_gap();
        self.wake();
    }
}
