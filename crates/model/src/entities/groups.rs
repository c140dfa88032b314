//! Groups and their members. Their messages and posts are in `chat` and `posts`.

use crate::{Fields, GroupId, GroupRole, JoinPolicy, MemberStatus, RoomId, Tag, Time, UserId};

#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Group {
    pub id: GroupId,
    pub name: String,
    pub description: Option<String>,
    pub owner_id: UserId,
    pub tags: Vec<Tag>,
    /// Stays after its project has ended. False in groups created before archival existed as well;
    /// [`Group::persists`] tells them apart.
    pub is_persistent: bool,
    /// Only active members see its content.
    pub is_private: bool,
    /// The way in; absent in groups that never chose one, see [`Group::join_policy`].
    pub join_policy: Option<JoinPolicy>,
    /// The time it last became public. What is older stays visible to members only.
    pub public_since: Option<Time>,
    /// The time from which it counts as idle if nothing happens: its creation, its revival, or its
    /// change to not persistent. Absent in persistent groups.
    pub idle_from: Option<Time>,
    /// The time it will be archived unless it is used; members have been told.
    pub archives_at: Option<Time>,
    /// The time it was archived for lack of activity: readable, not writable.
    pub archived_at: Option<Time>,
    /// The room of its members.
    pub room_id: RoomId,
    pub created_at: Time,
    pub updated_at: Time,
}

impl Group {
    /// Returns whether it is never archived. Groups that existed before archival did are persistent.
    pub const fn persists(&self) -> bool {
        self.is_persistent || self.idle_from.is_none()
    }

    /// The way in. A group that never chose one follows its privacy.
    pub const fn join_policy(&self) -> JoinPolicy {
        match self.join_policy {
            Some(policy) => policy,
            None if self.is_private => JoinPolicy::Request,
            None => JoinPolicy::Open,
        }
    }

    /// Returns whether what was written, or who joined, at this time is for members only.
    pub fn is_confidential(&self, at: Time) -> bool {
        self.is_private || self.public_since.is_some_and(|since| at < since)
    }
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
