//! Notifications, made from the stream. Their recipient only marks them as read.

use super::ObjectRef;
use crate::{Expiry, Fields, NotificationId, NotificationKind, SubjectId, Time, UserId};

/// A notification of a user.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Notification {
    /// The recipient.
    pub user_id: UserId,
    /// The same for the same cause, so that no recipient is notified twice.
    pub id: NotificationId,
    pub kind: NotificationKind,
    /// The user who caused it; absent for reminders.
    pub actor_id: Option<UserId>,
    /// The affected object.
    pub object: Option<ObjectRef>,
    /// The parent of the object: the post of a comment, the goal of a task, the room of a message.
    pub within: Option<SubjectId>,
    /// The time of the latest action ever included in a collapsed group: a later one makes it unread
    /// again and moves it up.
    pub latest_at: Option<Time>,
    pub read_at: Option<Time>,
    /// The time of its fact; of a collapsed one, the start of its hour.
    pub created_at: Time,
    /// The time it expires.
    pub ttl: Expiry,
}

/// The kinds of notifications that a user has switched off.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct NotificationPreferences {
    pub user_id: UserId,
    pub off: Vec<NotificationKind>,
    pub updated_at: Time,
}

impl Notification {
    /// The time of its latest event, by which it is listed and marked as read.
    pub fn time(&self) -> Time {
        self.latest_at.map_or(self.created_at, |latest| latest.max(self.created_at))
    }
}
