//! Communities and who is in them. What their members say to each other is in `chat` and `posts`.

use crate::{Fields, GroupId, GroupRole, MemberStatus, RoomId, Tag, Time, UserId};

/// A community.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Group {
    /// Which group.
    pub id: GroupId,
    /// What it is called.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// Who answers for it.
    pub owner_id: UserId,
    /// What it is about, in a word each.
    pub tags: Vec<Tag>,
    /// Whether it stays when its project is over.
    pub is_persistent: bool,
    /// Whether only active members see what is in it.
    pub is_private: bool,
    /// Where its members talk.
    pub room_id: RoomId,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

/// A person in a group, invited to it, or asking to join.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct GroupMember {
    /// The group.
    pub group_id: GroupId,
    /// The person.
    pub user_id: UserId,
    /// What they may do in it.
    pub role: GroupRole,
    /// Whether they are in; only active members are counted and see.
    pub status: MemberStatus,
    /// When they joined, asked to, or were invited.
    pub joined_at: Time,
    /// Since when feeds may rely on it: not before the group's newest activity at that time.
    pub active_since: Option<Time>,
}

/// How many active members a group has.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct GroupCounter {
    /// The group.
    pub group_id: GroupId,
    /// How many.
    pub count: u64,
    /// When it last changed.
    pub updated_at: Time,
}
