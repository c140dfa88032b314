//! Activities and the feeds made of them. Copies of text here are previews: readers see the current
//! object.

use super::Media;
use crate::{
    ActivityId, ActivityVerb, ActorId, EntityKind, Expiry, Fields, GroupId, Json, ObjectType,
    PromotionReason, SubjectId, Tag, Time, UserId,
};

/// An event for feeds, written once.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Activity {
    /// A ULID of the time in `created_at`.
    pub activity_id: ActivityId,
    /// The user who did it.
    pub actor_id: UserId,
    /// The group it happened in.
    pub group_id: Option<GroupId>,
    pub verb: ActivityVerb,
    /// The kind of object.
    pub object_type: ObjectType,
    /// The id of the object.
    pub object_id: SubjectId,
    /// The parent of the object, without which only an index finds it: a comment's post, a task's
    /// goal.
    pub object_home: Option<SubjectId>,
    /// A short preview of the object.
    pub preview_text: Option<String>,
    pub media: Option<Media>,
    pub tags: Vec<Tag>,
    /// Copied into its readers' feeds, according to the actor's head when it was written.
    pub fanout: bool,
    /// The time it happened; later than all earlier activities of the same actor.
    pub created_at: Time,
}

impl Activity {
    /// Returns the owner of the partition it is stored in: the group, or else the actor.
    pub fn home(actor_id: &UserId, group_id: &Option<GroupId>) -> ActorId {
        group_id.as_ref().map_or_else(|| actor_id.into(), ActorId::from)
    }
}

/// An activity that enters no home feed: lists of its actor or group show it. It is stored apart, so
/// that pages of feeds do not pass it.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct ProfileActivity {
    /// A ULID of the time in `created_at`.
    pub activity_id: ActivityId,
    /// The user who did it.
    pub actor_id: UserId,
    /// The group it happened in.
    pub group_id: Option<GroupId>,
    pub verb: ActivityVerb,
    /// The kind of object.
    pub object_type: ObjectType,
    /// The id of the object.
    pub object_id: SubjectId,
    /// The parent of the object, as in an [`Activity`].
    pub object_home: Option<SubjectId>,
    /// A short preview of the object.
    pub preview_text: Option<String>,
    pub media: Option<Media>,
    pub tags: Vec<Tag>,
    /// The time it happened.
    pub created_at: Time,
}

impl ProfileActivity {
    /// Returns the owner of the partition it is stored in, as for an [`Activity`].
    pub fn home(actor_id: &UserId, group_id: &Option<GroupId>) -> ActorId {
        Activity::home(actor_id, group_id)
    }
}

impl From<ProfileActivity> for Activity {
    fn from(activity: ProfileActivity) -> Self {
        Self {
            activity_id: activity.activity_id,
            actor_id: activity.actor_id,
            group_id: activity.group_id,
            verb: activity.verb,
            object_type: activity.object_type,
            object_id: activity.object_id,
            object_home: activity.object_home,
            preview_text: activity.preview_text,
            media: activity.media,
            tags: activity.tags,
            fanout: false,
            created_at: activity.created_at,
        }
    }
}

impl From<Activity> for ProfileActivity {
    fn from(activity: Activity) -> Self {
        Self {
            activity_id: activity.activity_id,
            actor_id: activity.actor_id,
            group_id: activity.group_id,
            verb: activity.verb,
            object_type: activity.object_type,
            object_id: activity.object_id,
            object_home: activity.object_home,
            preview_text: activity.preview_text,
            media: activity.media,
            tags: activity.tags,
            created_at: activity.created_at,
        }
    }
}

/// The newest activity of an actor, and the intervals in which its activities are fanned out. Every
/// activity's transaction writes it, so an actor's time order is commit order.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct ActorHead {
    /// The user or group.
    pub actor_id: ActorId,
    /// Incremented by every write; each write requires the version it read.
    pub version: u64,
    /// The time of the newest activity; the next one is later.
    pub last_ts: Time,
    /// Its activities are to be fanned out, according to its promotion.
    pub promoted: bool,
    /// The time since which activities are fanned out; absent if they are not now.
    pub since: Option<Time>,
    /// The number of days their copies are kept.
    pub held_days: u32,
    /// The most recent earlier intervals of fan-out.
    pub intervals: Vec<Interval>,
    /// The start of the day in which activities are being counted.
    pub window_at: Time,
    /// The number of activities in that day.
    pub window_count: u64,
}

impl ActorHead {
    /// Returns the head of an actor without activities.
    pub const fn idle(actor_id: ActorId) -> Self {
        Self {
            actor_id,
            version: 1,
            last_ts: Time::EPOCH,
            promoted: false,
            since: None,
            held_days: 0,
            intervals: Vec::new(),
            window_at: Time::EPOCH,
            window_count: 0,
        }
    }
}

/// An interval of time, both ends included.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
#[fields(part)]
pub struct Interval {
    pub since: Time,
    pub until: Time,
    /// The number of days the copies made in it are kept.
    pub held_days: u32,
}
crate::nested!(Interval);

/// A reference to an object.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
#[fields(part)]
pub struct ObjectRef {
    pub entity: EntityKind,
    pub id: SubjectId,
}
crate::nested!(ObjectRef);

/// An activity copied into a follower's feed.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct FeedItem {
    pub follower_id: UserId,
    pub activity_id: ActivityId,
    /// The user who did it.
    pub actor_id: UserId,
    /// The group it happened in.
    pub group_id: Option<GroupId>,
    pub verb: ActivityVerb,
    /// The kind of object.
    pub object_type: ObjectType,
    /// The id of the object.
    pub object_id: SubjectId,
    /// A short preview of the object.
    pub preview_text: Option<String>,
    pub created_at: Time,
    pub inserted_at: Time,
    /// The time the copy expires, counted from `created_at`; the activity stays.
    pub ttl: Expiry,
}

/// The oldest time a materialized feed reaches back to. Raised before the feed is trimmed, and read
/// after its items.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct FeedHorizon {
    pub user_id: UserId,
    /// The feed holds nothing before this time.
    pub oldest: Time,
}

/// A user or group whose activities are fanned out.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Promotion {
    /// The promoted user or group.
    pub subject_id: ActorId,
    /// The user, if it is one.
    pub user_id: Option<UserId>,
    /// The group, if it is one.
    pub group_id: Option<GroupId>,
    /// New activities are fanned out.
    pub fanout_enabled: bool,
    pub reason: PromotionReason,
    /// The thresholds that the decision followed, or that an admin set with it.
    pub thresholds: Option<Json>,
    /// The thresholds that an admin set for this subject, which the rule follows from then on.
    pub overrides: Option<Json>,
    /// The last activity that has reached every feed, as have all earlier ones.
    pub watermark: Option<Time>,
    /// The start of the interval the watermark belongs to.
    pub watermark_since: Option<Time>,
    pub updated_at: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_groups_activity_lives_with_the_group_and_any_other_with_its_actor() {
        let (ana, runners): (UserId, GroupId) =
            ("ana".parse().unwrap(), "runners".parse().unwrap());
        assert_eq!(Activity::home(&ana, &None), ActorId::from(&ana));
        assert_eq!(Activity::home(&ana, &Some(runners.clone())), ActorId::from(&runners));
    }
}
