//! An activity as feeds remember it: small, because there are many of them.

use roundtable_model::entities::{Activity, FeedItem, Media};
use roundtable_model::{ActivityVerb, ActorId, GroupId, ObjectType, SubjectId, Tag, UserId};

use super::place::Place;

/// An activity, without what is shown from its post.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) place: Place,
    pub(crate) actor_id: UserId,
    pub(crate) group_id: Option<GroupId>,
    pub(crate) verb: ActivityVerb,
    pub(crate) object_type: ObjectType,
    pub(crate) object_id: SubjectId,
    pub(crate) fanout: bool,
    /// Most are about posts, which tell all of this better.
    rest: Option<Box<Rest>>,
}

/// What an activity itself says about its object.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rest {
    object_home: Option<SubjectId>,
    preview_text: Option<String>,
    media: Option<Media>,
    tags: Vec<Tag>,
}

impl Entry {
    /// An activity, to be remembered.
    pub(crate) fn of(activity: &Activity) -> Self {
        let rest = || Rest {
            object_home: activity.object_home.clone(),
            preview_text: activity.preview_text.clone(),
            media: activity.media.clone(),
            tags: activity.tags.clone(),
        };
        let rest = (activity.object_type != ObjectType::Post).then(rest);
        Self {
            place: Place::of(activity),
            actor_id: activity.actor_id.clone(),
            group_id: activity.group_id.clone(),
            verb: activity.verb,
            object_type: activity.object_type,
            object_id: activity.object_id.clone(),
            fanout: activity.fanout,
            rest: rest.filter(|rest| *rest != Rest::default()).map(Box::new),
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

    /// The activity again; one about a post has no words, pictures or tags of its own.
    pub(crate) fn activity(&self) -> Activity {
        let rest = self.rest.as_deref();
        Activity {
            activity_id: self.place.id.clone(),
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
            created_at: self.place.at,
        }
    }

    /// Whose partition it lives in: the group's, or else the actor's.
    pub(crate) fn home(&self) -> ActorId {
        Activity::home(&self.actor_id, &self.group_id)
    }

    /// Roughly the memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let rest = self.rest.as_deref().map_or(0, |rest| {
            let text = rest.preview_text.as_ref().map_or(0, String::len);
            let media = rest.media.as_ref().map_or(0, |media| media.content_type.len() + MEDIA_KEY);
            size_of::<Rest>() + text + media + rest.tags.len() * TAG
        });
        size_of::<Self>() + COUNTS + rest
    }
}

/// What an `Arc` adds.
const COUNTS: usize = 2 * size_of::<usize>();
/// A typical tag, and a typical key of a medium.
const TAG: usize = 40;
const MEDIA_KEY: usize = 80;

/// That somebody wrote a post, for tests.
#[cfg(test)]
pub(super) fn written(actor: &str, ms: u64, nth: usize) -> Entry {
    Entry::of(&Activity {
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
    fn an_activity_about_a_post_comes_back_without_what_the_post_says() {
        let activity = samples::activity();
        let bare = Activity { preview_text: None, media: None, tags: Vec::new(), ..activity };
        assert_eq!(Entry::of(&samples::activity()).activity(), bare);
    }

    #[test]
    fn any_other_activity_comes_back_as_it_was() {
        let activity = Activity {
            object_type: ObjectType::Task,
            object_home: Some("goal".parse().unwrap()),
            ..samples::activity()
        };
        assert_eq!(Entry::of(&activity).activity(), activity);
        let bare = Activity { preview_text: None, media: None, tags: Vec::new(), ..activity };
        assert_eq!(Entry::of(&bare).activity(), bare);
    }

    #[test]
    fn a_copy_and_its_original_are_remembered_alike() {
        let item = samples::feed_item();
        let entry = Entry::of_copy(&item);
        assert_eq!(entry.place, Place { at: item.created_at, id: item.activity_id });
        assert_eq!(entry, Entry::of(&samples::activity()));
    }

    #[test]
    fn an_entry_about_a_post_is_small() {
        let entry = Entry::of(&samples::activity());
        assert!(entry.bytes() <= 152, "{}", entry.bytes());
    }

    #[test]
    fn what_is_done_in_a_group_lives_there() {
        let group: GroupId = "runners".parse().unwrap();
        let activity = Activity { group_id: Some(group.clone()), ..samples::activity() };
        assert_eq!(Entry::of(&activity).home(), ActorId::from(group));
        assert_eq!(Entry::of(&samples::activity()).home(), samples::activity().actor_id.into());
    }
}
