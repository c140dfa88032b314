//! What people are told. Made from the stream; only whether it was read is the person's own mark.

use super::ObjectRef;
use crate::{Expiry, Fields, NotificationId, NotificationKind, SubjectId, Time, UserId};

/// Something a person should know.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Notification {
    /// Who should know.
    pub user_id: UserId,
    /// Which notification: the same for the same cause, so that nobody is told twice.
    pub id: NotificationId,
    /// What happened.
    pub kind: NotificationKind,
    /// Who did it; absent for reminders.
    pub actor_id: Option<UserId>,
    /// To what.
    pub object: Option<ObjectRef>,
    /// Where that is found: the post of a comment, the goal of a task, the room of a message.
    pub within: Option<SubjectId>,
    /// Of many who did it, when the last one did who was ever named: it is news when somebody later is.
    pub latest_at: Option<Time>,
    /// When it was read.
    pub read_at: Option<Time>,
    /// When it happened.
    pub created_at: Time,
    /// When it goes.
    pub ttl: Expiry,
}
