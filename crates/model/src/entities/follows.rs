//! Follows, blocks and mutes.

use crate::{Expiry, Fields, FollowStatus, Nickname, Shard, Time, UserId};

/// A user follows another, or has asked to.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Follow {
    pub follower_id: UserId,
    pub followee_id: UserId,
    /// The follower's nickname at that time.
    pub follower_nickname: Nickname,
    /// The followee's nickname at that time.
    pub followee_nickname: Nickname,
    /// Active, or waiting for the followee's consent.
    pub status: FollowStatus,
    /// A mute without end that an earlier version stored here; now it is a [`Mute`], which replaces this.
    pub muted: bool,
    /// The time from which feeds may rely on it: not before the followee's newest activity at that
    /// time.
    pub active_since: Option<Time>,
    /// The shard of the followee's followers it was written to.
    pub shard: Shard,
    /// The shard of the day's follows it was written to.
    pub day_shard: Shard,
    /// False if the follower wants no notifications about the followee's actions.
    pub notification_enabled: bool,
    /// True if the follower wants notifications of new posts.
    pub notify_posts: Option<bool>,
    /// The fediverse URL.
    pub activity_pub_id: Option<String>,
    /// Incremented by every change of a key.
    pub version: u64,
    pub created_at: Time,
}

impl Follow {
    pub fn pending(status: &FollowStatus) -> bool {
        matches!(status, FollowStatus::Pending)
    }

    pub fn wants_posts(&self) -> bool {
        self.notify_posts == Some(true)
    }

    pub fn active(status: &FollowStatus) -> bool {
        matches!(status, FollowStatus::Active)
    }
}

/// A follower wants notifications of a user's new posts. Few do, so that these are found without
/// reading all followers.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct PostWatch {
    pub follower_id: UserId,
    pub followee_id: UserId,
    pub created_at: Time,
}

/// A user blocks another.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Block {
    pub blocker_id: UserId,
    pub blocked_id: UserId,
    pub created_at: Time,
}

/// A user hides another from their home feed and notifications.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Mute {
    pub muter_id: UserId,
    pub muted_id: UserId,
    /// The time at which it ends; `None` if it does not.
    pub until: Option<Time>,
    pub created_at: Time,
    /// The second after its end.
    pub ttl: Option<Expiry>,
}

impl Mute {
    pub fn new(muter: &UserId, muted: &UserId, until: Option<Time>, now: Time) -> Self {
        Self {
            muter_id: muter.clone(),
            muted_id: muted.clone(),
            until,
            created_at: now,
            ttl: until.map(Expiry::at),
        }
    }

    /// Returns the mute that an earlier version stored in a follow.
    pub fn of_follow(edge: &Follow) -> Self {
        Self::new(&edge.follower_id, &edge.followee_id, None, edge.created_at)
    }

    pub fn is_in_force(&self, now: Time) -> bool {
        self.until.is_none_or(|until| now < until)
    }
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
