//! Rooms, their members and messages. A room's history is in commit order, because every message's
//! transaction writes its head.

use crate::{Expiry, Fields, GroupId, MessageId, RoomId, RoomScope, Time, UserId};

#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Room {
    /// The id of a room of two users is derived from theirs.
    pub id: RoomId,
    /// A room of two users, or a group's room.
    pub scope: RoomScope,
    pub group_id: Option<GroupId>,
    /// New messages are listed in the timelines of their authors. Absent means that they are.
    pub message_timeline: Option<bool>,
    pub created_at: Time,
}

impl Room {
    pub fn lists_messages(&self) -> bool {
        self.message_timeline.unwrap_or(true)
    }
}

/// The newest message of a room.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct RoomHead {
    pub room_id: RoomId,
    /// The time of the newest message; the next one is later.
    pub last_ts: Time,
    /// The number of the newest message.
    pub seq: u64,
}

/// A user in a room.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct RoomMember {
    pub room_id: RoomId,
    pub user_id: UserId,
    /// The number of the last message the user has read.
    pub read_seq: u64,
    pub joined_at: Time,
}

/// A message in a room.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Message {
    pub room_id: RoomId,
    /// A ULID of the time in `created_at`.
    pub id: MessageId,
    /// The author.
    pub user_id: UserId,
    /// The number of the message in its room.
    pub seq: u64,
    pub text: String,
    /// Listed in its author's timeline: the setting of the room when it was sent.
    pub listed: bool,
    /// The time it was sent; later than all earlier messages of the room.
    pub created_at: Time,
    /// The time it expires; absent if it does not.
    pub ttl: Option<Expiry>,
}

impl Message {
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
