//! What happened, and the feeds made of it. Copies of text here are previews: what readers see
//! comes from the object, as it is now.

use super::Media;
use crate::{
    ActivityId, ActivityVerb, ActorId, EntityKind, Expiry, Fields, GroupId, Json, ObjectType,
    PromotionReason, SubjectId, Tag, Time, UserId,
};

/// Something that happened, written once, for feeds.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Activity {
    /// Which activity: a ULID of the time in `created_at`.
    pub activity_id: ActivityId,
    /// Who did it.
    pub actor_id: UserId,
    /// The group it was done in.
    pub group_id: Option<GroupId>,
    /// What they did.
    pub verb: ActivityVerb,
    /// To what kind of thing.
    pub object_type: ObjectType,
    /// To which.
    pub object_id: SubjectId,
    /// What that lives in, without which only an index finds it: a comment's post, a task's goal.
    pub object_home: Option<SubjectId>,
    /// A few words about it.
    pub preview_text: Option<String>,
    /// A picture of it.
    pub media: Option<Media>,
    /// What it is about, in a word each.
    pub tags: Vec<Tag>,
    /// Whether it is copied into its readers' feeds, as the actor's head said when it was written.
    pub fanout: bool,
    /// When it happened; later than all before it of the same actor.
    pub created_at: Time,
}

impl Activity {
    /// Whose partition it lives in: the group's, or else the actor's.
    pub fn home(actor_id: &UserId, group_id: &Option<GroupId>) -> ActorId {
        group_id.as_ref().map_or_else(|| actor_id.into(), ActorId::from)
    }
}

/// The newest activity of an actor, and which of them are fanned out. Every activity's transaction
/// writes it, so an actor's time order is commit order.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct ActorHead {
    /// The person or group.
    pub actor_id: ActorId,
    /// Raised by every write; each demands the one it read.
    pub version: u64,
    /// When the newest activity happened; the next one is later.
    pub last_ts: Time,
    /// Whether its activities are to be fanned out, as promotions have it.
    pub promoted: bool,
    /// Since when activities are fanned out, if they are now.
    pub since: Option<Time>,
    /// For how many days their copies are held.
    pub held_days: u32,
    /// When they were before, the last few times.
    pub intervals: Vec<Interval>,
    /// When the day began in which activities are being counted.
    pub window_at: Time,
    /// How many there were in it.
    pub window_count: u64,
}

impl ActorHead {
    /// The head of an actor that has done nothing yet.
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

/// A stretch of time, both ends in it.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
#[fields(part)]
pub struct Interval {
    /// Its first instant.
    pub since: Time,
    /// Its last instant.
    pub until: Time,
    /// For how many days the copies made in it are held.
    pub held_days: u32,
}
crate::nested!(Interval);

/// Something that is pointed to.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
#[fields(part)]
pub struct ObjectRef {
    /// What kind of thing.
    pub entity: EntityKind,
    /// Which.
    pub id: SubjectId,
}
crate::nested!(ObjectRef);

/// An activity copied into a follower's feed.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct FeedItem {
    /// Whose feed.
    pub follower_id: UserId,
    /// Which activity.
    pub activity_id: ActivityId,
    /// Who did it.
    pub actor_id: UserId,
    /// The group it was done in.
    pub group_id: Option<GroupId>,
    /// What they did.
    pub verb: ActivityVerb,
    /// To what kind of thing.
    pub object_type: ObjectType,
    /// To which.
    pub object_id: SubjectId,
    /// A few words about it.
    pub preview_text: Option<String>,
    /// When it happened.
    pub created_at: Time,
    /// When it was copied.
    pub inserted_at: Time,
    /// When the copy goes, counted from `created_at`; the activity stays.
    pub ttl: Expiry,
}

/// How far back a materialized feed reaches. Raised before the feed is trimmed, and read after its
/// items.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct FeedHorizon {
    /// Whose feed.
    pub user_id: UserId,
    /// Nothing before this is held.
    pub oldest: Time,
}

/// Whose activities are fanned out.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Promotion {
    /// Who is promoted.
    pub subject_id: ActorId,
    /// The person, if it is one.
    pub user_id: Option<UserId>,
    /// The group, if it is one.
    pub group_id: Option<GroupId>,
    /// Whether new activities are fanned out.
    pub fanout_enabled: bool,
    /// Why.
    pub reason: PromotionReason,
    /// What had to be exceeded.
    pub thresholds: Option<Json>,
    /// The last activity that has reached every feed, as have all before it.
    pub watermark: Option<Time>,
    /// The beginning of the interval the watermark belongs to.
    pub watermark_since: Option<Time>,
    /// When it last changed.
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
