//! Activities as feeds cache them: small, because there are many.

use roundtable_model::entities::{Activity, FeedItem, Media};
use roundtable_model::{ActivityVerb, ActorId, GroupId, ObjectType, SubjectId, Tag, UserId};

use super::position::FeedPosition;

/// An activity, without what is shown from its post.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CachedActivity {
    pub(crate) position: FeedPosition,
    pub(crate) actor_id: UserId,
    pub(crate) group_id: Option<GroupId>,
    pub(crate) verb: ActivityVerb,
    pub(crate) object_type: ObjectType,
    pub(crate) object_id: SubjectId,
    pub(crate) fanout: bool,
    /// `None` for most activities: those about posts, which have all of this.
    rest: Option<Box<ObjectDetails>>,
}

/// The activity's own details of its object.
#[derive(Clone, Debug, Default, PartialEq)]
struct ObjectDetails {
    object_home: Option<SubjectId>,
    preview_text: Option<String>,
    media: Option<Media>,
    tags: Vec<Tag>,
}

impl CachedActivity {
    pub(crate) fn of(activity: &Activity) -> Self {
        let rest = || ObjectDetails {
            object_home: activity.object_home.clone(),
            preview_text: activity.preview_text.clone(),
            media: activity.media.clone(),
            tags: activity.tags.clone(),
        };
        let rest = (activity.object_type != ObjectType::Post).then(rest);
        Self {
            position: FeedPosition::of(activity),
            actor_id: activity.actor_id.clone(),
            group_id: activity.group_id.clone(),
            verb: activity.verb,
            object_type: activity.object_type,
            object_id: activity.object_id.clone(),
            fanout: activity.fanout,
            rest: rest.filter(|rest| *rest != ObjectDetails::default()).map(Box::new),
        }
    }

    /// The activity that a copy in a feed was made of; complete if it is about a post.
    pub(crate) fn of_copy(item: &FeedItem) -> Self {
        Self::of(&Activity {
            activity_id: item.activity_id.clone(),
            actor_id: item.actor_id.clone(),
            group_id: item.group_id.clone(),
            verb: item.verb,
            object_type: item.object_type,
            object_id: item.object_id.clone(),
            object_home: None,
            preview_text: item.preview_text.clone(),
            media: None,
            tags: Vec::new(),
            fanout: true,
            created_at: item.created_at,
        })
    }

    /// The full activity. One about a post has no text, media or tags of its own.
    pub(crate) fn activity(&self) -> Activity {
        let rest = self.rest.as_deref();
        Activity {
            activity_id: self.position.id.clone(),
            actor_id: self.actor_id.clone(),
            group_id: self.group_id.clone(),
            verb: self.verb,
            object_type: self.object_type,
            object_id: self.object_id.clone(),
            object_home: rest.and_then(|rest| rest.object_home.clone()),
            preview_text: rest.and_then(|rest| rest.preview_text.clone()),
            media: rest.and_then(|rest| rest.media.clone()),
            tags: rest.map_or_else(Vec::new, |rest| rest.tags.clone()),
            fanout: self.fanout,
            created_at: self.position.at,
        }
    }

    /// Returns whether it is about a post and in no group, as most are.
    pub(super) const fn is_plain(&self) -> bool {
        self.group_id.is_none() && self.rest.is_none()
    }

    /// A [plain](CachedActivity::is_plain) activity of a user.
    pub(super) fn plain(
        position: FeedPosition,
        home: &ActorId,
        verb: ActivityVerb,
        (object_type, object_id): (ObjectType, SubjectId),
        fanout: bool,
    ) -> Self {
        Self {
            position,
            actor_id: home.recast(),
            group_id: None,
            verb,
            object_type,
            object_id,
            fanout,
            rest: None,
        }
    }

    /// The actor whose partition the activity is stored in: the group, or else the user.
    pub(crate) fn home(&self) -> ActorId {
        Activity::home(&self.actor_id, &self.group_id)
    }

    /// Roughly the memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let rest = self.rest.as_deref().map_or(0, |rest| {
            let text = rest.preview_text.as_ref().map_or(0, String::len);
            let media = rest.media.as_ref().map_or(0, |media| media.content_type.len() + MEDIA_KEY);
            size_of::<ObjectDetails>() + text + media + rest.tags.len() * TAG
        });
        size_of::<Self>() + COUNTS + rest
    }
}

/// The overhead of an `Arc`.
const COUNTS: usize = 2 * size_of::<usize>();
/// Typical sizes of a tag and of a media key.
const TAG: usize = 40;
const MEDIA_KEY: usize = 80;

/// An activity about a post, for tests.
#[cfg(test)]
pub(super) fn written(actor: &str, ms: u64, nth: usize) -> CachedActivity {
    CachedActivity::of(&Activity {
        activity_id: format!("a{nth:04}").parse().unwrap(),
        actor_id: actor.parse().unwrap(),
        created_at: roundtable_model::Time::from_ms(ms),
        ..roundtable_model::samples::activity()
    })
}

#[cfg(test)]
mod tests {
    use roundtable_model::samples;

    use super::*;

    #[test]
    fn an_activity_about_a_post_is_restored_without_the_details_of_the_post() {
        let activity = samples::activity();
        let bare = Activity { preview_text: None, media: None, tags: Vec::new(), ..activity };
        assert_eq!(CachedActivity::of(&samples::activity()).activity(), bare);
    }

    #[test]
    fn any_other_activity_is_restored_unchanged() {
        let activity = Activity {
            object_type: ObjectType::Task,
            object_home: Some("goal".parse().unwrap()),
            ..samples::activity()
        };
        assert_eq!(CachedActivity::of(&activity).activity(), activity);
        let bare = Activity { preview_text: None, media: None, tags: Vec::new(), ..activity };
        assert_eq!(CachedActivity::of(&bare).activity(), bare);
    }

    #[test]
    fn a_copy_and_its_original_are_cached_alike() {
        let item = samples::feed_item();
        let entry = CachedActivity::of_copy(&item);
        assert_eq!(entry.position, FeedPosition { at: item.created_at, id: item.activity_id });
        assert_eq!(entry, CachedActivity::of(&samples::activity()));
    }

    #[test]
    fn an_entry_about_a_post_is_small() {
        let entry = CachedActivity::of(&samples::activity());
        assert!(entry.bytes() <= 152, "{}", entry.bytes());
    }

    #[test]
    fn an_activity_in_a_group_is_stored_with_the_group() {
        let group: GroupId = "runners".parse().unwrap();
        let activity = Activity { group_id: Some(group.clone()), ..samples::activity() };
        assert_eq!(CachedActivity::of(&activity).home(), ActorId::from(group));
        assert_eq!(
            CachedActivity::of(&samples::activity()).home(),
            samples::activity().actor_id.into()
        );
    }
}
