//! Preparing activities. An activity is written in the transaction of the event it describes; if it
//! enters home feeds, together with its actor's head, so that an actor's activities are in commit
//! order (R12, R51).

use roundtable_model::entities::{Activity, Comment, Media, Post, ProfileActivity};
use roundtable_model::table::Write;
use roundtable_model::{ActivityVerb, Entity, GroupId, ObjectType, SubjectId, Tag, Time, UserId};

use super::head::StoredHead;
use super::preview;
use crate::commit::Commit;
use crate::head_locks::HeadLock;
use crate::mutation::Attempt;
use crate::{Context, ServiceError};

/// An activity to be prepared.
#[derive(Clone, Debug)]
pub(crate) struct ActivityDraft {
    pub(crate) actor: UserId,
    pub(crate) group: Option<GroupId>,
    pub(crate) verb: ActivityVerb,
    pub(crate) object: (ObjectType, SubjectId),
    /// The container that the object is stored in, if its key needs one.
    pub(crate) object_home: Option<SubjectId>,
    pub(crate) preview: Option<String>,
    pub(crate) media: Option<Media>,
    pub(crate) tags: Vec<Tag>,
    /// Posted by the user, rather than written by the server.
    pub(crate) is_posted: bool,
}

impl ActivityDraft {
    /// An activity about a post: publishing or sharing it.
    pub(crate) fn of_post(
        actor: &UserId,
        group: Option<&GroupId>,
        verb: ActivityVerb,
        post: &Post,
    ) -> Self {
        Self {
            actor: actor.clone(),
            group: group.cloned(),
            verb,
            object: (ObjectType::Post, (&post.id).into()),
            object_home: None,
            preview: preview(&post.content),
            media: post.media.first().cloned(),
            tags: post.hashtags.clone(),
            is_posted: false,
        }
    }

    pub(crate) fn of_publication(post: &Post) -> Self {
        let group = post.group_id.as_ref();
        Self::of_post(&post.author_id, group, ActivityVerb::Post, post)
    }

    /// Writing a comment, which happens where its post is. Its text is read with it, so that nothing is
    /// left of a text that is changed or deleted.
    pub(crate) fn of_comment(comment: &Comment, post: &Post) -> Self {
        Self {
            actor: comment.user_id.clone(),
            group: post.group_id.clone(),
            verb: ActivityVerb::Comment,
            object: (ObjectType::Comment, (&comment.id).into()),
            object_home: Some((&post.id).into()),
            preview: None,
            media: None,
            tags: Vec::new(),
            is_posted: false,
        }
    }

    fn activity(self, context: &Context, at: Time, fanout: bool) -> Activity {
        let (object_type, object_id) = self.object;
        Activity {
            activity_id: context.ids().next_at(at),
            actor_id: self.actor,
            group_id: self.group,
            verb: self.verb,
            object_type,
            object_id,
            object_home: self.object_home,
            preview_text: self.preview,
            media: self.media,
            tags: self.tags,
            fanout,
            created_at: at,
        }
    }
}

/// An activity that takes effect when the transaction with its writes commits. Keep it until then:
/// it may hold the lock on the actor's head.
#[derive(Debug)]
pub(crate) struct PreparedActivity {
    /// The activity. Its `created_at` is also the time of the event it describes.
    pub(crate) activity: Activity,
    writes: Vec<(&'static str, Write)>,
    _lock: Option<HeadLock>,
}

impl PreparedActivity {
    /// Adds the activity to a transaction, with the head of its home if it enters feeds.
    pub(crate) fn add_to<'a>(&self, commit: Commit<'a>) -> Commit<'a> {
        commit.with_named(self.writes.iter().cloned())
    }
}

/// Prepares an activity. One that enters home feeds is later than all others of its actor, or of its
/// group, and it is decided here whether it is copied into feeds; the transaction fails if another of
/// their activities commits first. Any other only needs its own item.
pub(crate) async fn prepare_activity(
    context: &Context,
    attempt: Attempt<'_>,
    draft: ActivityDraft,
) -> Result<PreparedActivity, ServiceError> {
    let verbs = context.settings().feed.verbs;
    let enters_feeds = if draft.is_posted { verbs.posted } else { verbs.enters(draft.verb) };
    if !enters_feeds {
        let activity = draft.activity(context, context.now(), false);
        let writes = vec![("activity", ProfileActivity::from(activity.clone()).create().into())];
        return Ok(PreparedActivity { activity, writes, _lock: None });
    }
    let home = Activity::home(&draft.actor, &draft.group);
    let lock = attempt.lock_on_retry(&home.to_string()).await;
    let head = StoredHead::of(context, &home).await?;
    let ts = head.next_ts(context.now());
    let next = head.raised(ts, context.feed_policy(), &context.settings().feed);
    let activity = draft.activity(context, ts, next.since.is_some());
    let writes = vec![("activity", activity.create().into()), ("head", head.write(next))];
    Ok(PreparedActivity { activity, writes, _lock: Some(lock) })
}
