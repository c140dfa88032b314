//! Requests for help and their messages, between one user and their helpers only.

use crate::{Fields, MessageId, ThreadId, Time, UserId};

/// A request for help.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct AssistThread {
    pub thread_id: ThreadId,
    /// The user who asks for help.
    pub user_id: UserId,
    /// The user who was asked.
    pub helper_ids: Vec<UserId>,
    /// The time of the newest message; raised by each message's transaction, so that messages are
    /// in commit order.
    pub last_ts: Time,
    pub created_at: Time,
}

/// A user who was asked for help, stored so that they find the thread.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct AssistHelper {
    pub thread_id: ThreadId,
    /// The user who was asked.
    pub user_id: UserId,
    /// The time the thread was created.
    pub created_at: Time,
}

/// A message in a request for help.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct AssistMsg {
    pub thread_id: ThreadId,
    pub id: MessageId,
    /// The author.
    pub user_id: UserId,
    pub text: String,
    pub created_at: Time,
}
