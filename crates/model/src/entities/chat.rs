//! Conversations and who is in them. A room's history is in the order of commits, because every
//! message's transaction writes its head.

use crate::{Expiry, Fields, GroupId, MessageId, RoomId, RoomScope, Time, UserId};

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Room {
    /// Which room; that of two people is derived from them.
    pub id: RoomId,
    /// Whether it is between two people or a group's.
    pub scope: RoomScope,
    /// The group.
    pub group_id: Option<GroupId>,
    /// When it was opened.
    pub created_at: Time,
}

/// The newest message of a room.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct RoomHead {
    /// The room.
    pub room_id: RoomId,
    /// When the newest message was sent; the next one is later.
    pub last_ts: Time,
    /// The number of the newest message.
    pub seq: u64,
}

/// A person in a room.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct RoomMember {
    /// The room.
    pub room_id: RoomId,
    /// The person.
    pub user_id: UserId,
    /// The number of the last message they have read.
    pub read_seq: u64,
    /// When they came in.
    pub joined_at: Time,
}

/// What somebody said in a room.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Message {
    /// The room.
    pub room_id: RoomId,
    /// Which message: a ULID of the time in `created_at`.
    pub id: MessageId,
    /// Who said it.
    pub user_id: UserId,
    /// Its number in the room.
    pub seq: u64,
    /// What was said.
    pub text: String,
    /// Whether it is listed among what its author made.
    pub listed: bool,
    /// When it was sent; later than all before it in the room.
    pub created_at: Time,
    /// When it goes, if it does.
    pub ttl: Option<Expiry>,
}

impl Message {
    /// Whether it is in its author's timeline: a setting at the time it was sent.
    pub fn in_timeline(listed: &bool) -> bool {
        *listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_in_its_authors_timeline_only_if_listed() {
        assert!(Message::in_timeline(&true));
        assert!(!Message::in_timeline(&false));
    }
}
