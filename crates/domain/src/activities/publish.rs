//! Preparing activities. An activity is written in the transaction of the event it describes,
//! together with its actor's head, so that an actor's activities are in commit order (R12).

use roundtable_model::entities::{Activity, Media, Post};
use roundtable_model::table::Write;
use roundtable_model::{ActivityVerb, Entity, GroupId, ObjectType, SubjectId, Tag, UserId};

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
        }
    }

    pub(crate) fn of_publication(post: &Post) -> Self {
        let group = post.group_id.as_ref();
        Self::of_post(&post.author_id, group, ActivityVerb::Post, post)
    }
}

/// An activity that takes effect when the transaction with its writes commits. Keep it until then:
/// it may hold the lock on the actor's head.
#[derive(Debug)]
pub(crate) struct PreparedActivity {
    /// The activity. Its `created_at` is also the time of the event it describes.
    pub(crate) activity: Activity,
    head: Write,
    _lock: HeadLock,
}

impl PreparedActivity {
    /// Adds the activity and the head to a transaction.
    pub(crate) fn add_to<'a>(&self, commit: Commit<'a>) -> Commit<'a> {
        commit.with("activity", self.activity.create()).with("head", self.head.clone())
    }
}

/// Prepares an activity later than all others of its actor, or of its group, and decides whether it
/// is copied into feeds. The transaction fails if another of their activities commits first.
pub(crate) async fn prepare_activity(
    context: &Context,
    attempt: Attempt<'_>,
    draft: ActivityDraft,
) -> Result<PreparedActivity, ServiceError> {
    let home = Activity::home(&draft.actor, &draft.group);
    let lock = attempt.lock_on_retry(&home.to_string()).await;
    let head = StoredHead::of(context, &home).await?;
    let ts = head.next_ts(context.now());
    let next = head.raised(ts, context.feed_policy(), &context.settings().feed);
    let (object_type, object_id) = draft.object;
    let activity = Activity {
        activity_id: context.ids().next_at(ts),
        actor_id: draft.actor,
        group_id: draft.group,
        verb: draft.verb,
        object_type,
        object_id,
        object_home: draft.object_home,
        preview_text: draft.preview,
        media: draft.media,
        tags: draft.tags,
        fanout: next.since.is_some(),
        created_at: ts,
    };
    Ok(PreparedActivity { activity, head: head.write(next), _lock: lock })
}
