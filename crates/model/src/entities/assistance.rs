//! Calls for help and what was said in them, between one person and their helpers only.

use crate::{Fields, MessageId, ThreadId, Time, UserId};

/// A call for help.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct AssistThread {
    /// Which thread.
    pub thread_id: ThreadId,
    /// Who asks for help.
    pub user_id: UserId,
    /// Who was asked.
    pub helper_ids: Vec<UserId>,
    /// When the newest message was sent; raised by each message's transaction, so that the order of
    /// messages is that of their commits.
    pub last_ts: Time,
    /// When.
    pub created_at: Time,
}

/// Somebody who was asked for help, so that they find the thread.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct AssistHelper {
    /// The thread.
    pub thread_id: ThreadId,
    /// Who was asked.
    pub user_id: UserId,
    /// When: as old as the thread.
    pub created_at: Time,
}

/// What was said in a call for help.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct AssistMsg {
    /// The thread.
    pub thread_id: ThreadId,
    /// Which message.
    pub id: MessageId,
    /// Who said it.
    pub user_id: UserId,
    /// What was said.
    pub text: String,
    /// When.
    pub created_at: Time,
}
