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
    /// again.
    pub latest_at: Option<Time>,
    pub read_at: Option<Time>,
    pub created_at: Time,
    /// The time it expires.
    pub ttl: Expiry,
}
