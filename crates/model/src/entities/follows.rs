//! Who follows whom, and who wants nothing to do with whom.

use crate::{Fields, FollowStatus, Nickname, Shard, Time, UserId};

/// One person follows another, or has asked to.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Follow {
    /// Who follows.
    pub follower_id: UserId,
    /// Who is followed.
    pub followee_id: UserId,
    /// The follower's nickname at the time.
    pub follower_nickname: Nickname,
    /// The followee's nickname at the time.
    pub followee_nickname: Nickname,
    /// Whether it holds, or waits for the followee's consent.
    pub status: FollowStatus,
    /// Whether the followee's activities stay out of the follower's feed.
    pub muted: bool,
    /// Since when feeds may rely on it: not before the followee's newest activity at that time.
    pub active_since: Option<Time>,
    /// The part of the followee's followers it was written under.
    pub shard: Shard,
    /// The part of the day's follows it was written under.
    pub day_shard: Shard,
    /// Whether the follower wants to hear of new posts.
    pub notification_enabled: bool,
    /// Its address in the fediverse.
    pub activity_pub_id: Option<String>,
    /// Raised by every change of a key.
    pub version: u64,
    /// When it was asked for.
    pub created_at: Time,
}

impl Follow {
    /// Whether it waits to be accepted.
    pub fn pending(status: &FollowStatus) -> bool {
        matches!(status, FollowStatus::Pending)
    }

    /// Whether it holds.
    pub fn active(status: &FollowStatus) -> bool {
        matches!(status, FollowStatus::Active)
    }
}

/// One person wants nothing to do with another.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Block {
    /// Who blocks.
    pub blocker_id: UserId,
    /// Who is blocked.
    pub blocked_id: UserId,
    /// Since when.
    pub created_at: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_active_follow_is_more_than_a_request() {
        assert!(Follow::active(&FollowStatus::Active));
        assert!(!Follow::active(&FollowStatus::Pending));
    }
}
