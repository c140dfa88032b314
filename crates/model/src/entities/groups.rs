//! Groups and their members. Their messages and posts are in `chat` and `posts`.

use crate::{Fields, GroupId, GroupRole, MemberStatus, RoomId, Tag, Time, UserId};

#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Group {
    pub id: GroupId,
    pub name: String,
    pub description: Option<String>,
    pub owner_id: UserId,
    pub tags: Vec<Tag>,
    /// Stays after its project has ended.
    pub is_persistent: bool,
    /// Only active members see its content.
    pub is_private: bool,
    /// The room of its members.
    pub room_id: RoomId,
    pub created_at: Time,
    pub updated_at: Time,
}

/// A user in a group, invited to it, or asking to join.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct GroupMember {
    pub group_id: GroupId,
    pub user_id: UserId,
    pub role: GroupRole,
    /// Only active members are counted and see private content.
    pub status: MemberStatus,
    /// The time the user joined, asked to, or was invited.
    pub joined_at: Time,
    /// The time from which feeds may rely on it: not before the group's newest activity at that
    /// time.
    pub active_since: Option<Time>,
}

/// The number of active members of a group.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct GroupCounter {
    pub group_id: GroupId,
    pub count: u64,
    pub updated_at: Time,
}
