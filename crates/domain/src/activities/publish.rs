//! How an activity comes to be: in the transaction of what it tells of, together with its actor's
//! head, so that an actor's time order is commit order (R12).

use roundtable_model::entities::{Activity, Media, Post};
use roundtable_model::table::Write;
use roundtable_model::{ActivityVerb, Entity, GroupId, ObjectType, SubjectId, Tag, UserId};

use super::head::Head;
use super::preview;
use crate::commit::Commit;
use crate::turns::{Turn, turn_of};
use crate::{Failure, Ground};

/// What there is to tell.
#[derive(Clone, Debug)]
pub(crate) struct News {
    /// Who did it.
    pub(crate) actor: UserId,
    /// The group it was done in.
    pub(crate) group: Option<GroupId>,
    /// What they did.
    pub(crate) verb: ActivityVerb,
    /// To what.
    pub(crate) object: (ObjectType, SubjectId),
    /// What that lives in, if that finds it.
    pub(crate) object_home: Option<SubjectId>,
    /// A few words about it.
    pub(crate) preview: Option<String>,
    /// A picture of it.
    pub(crate) media: Option<Media>,
    /// What it is about.
    pub(crate) tags: Vec<Tag>,
    /// Whether another activity came before this one already.
    pub(crate) is_late: bool,
}

impl News {
    /// That somebody did something with a post: wrote it, or passed it on.
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
            is_late: false,
        }
    }

    /// That a post is out.
    pub(crate) fn of_publication(post: &Post) -> Self {
        let group = post.group_id.as_ref();
        Self::of_post(&post.author_id, group, ActivityVerb::Post, post)
    }

    /// The same, which is told for the second time if it `is_late`: then it waits for its turn.
    pub(crate) fn again(self, is_late: bool) -> Self {
        Self { is_late, ..self }
    }
}

/// An activity that is about to be: it is, once the transaction with its writes is done. Keep it until
/// then: it may hold the actor's turn.
#[derive(Debug)]
pub(crate) struct Published {
    /// The activity. What it tells of happened at its `created_at`.
    pub(crate) activity: Activity,
    head: Write,
    _turn: Turn,
}

impl Published {
    /// Adds the activity and the head to the transaction of what they tell of.
    pub(crate) fn in_commit<'a>(&self, commit: Commit<'a>) -> Commit<'a> {
        commit.with("activity", self.activity.create()).with("head", self.head.clone())
    }
}

/// Prepares an activity: later than all others of its actor, or of its group, and fanned out if the
/// policy has it so. A transaction that another activity of theirs came before is refused.
pub(crate) async fn publish(ground: &Ground, news: News) -> Result<Published, Failure> {
    let home = Activity::home(&news.actor, &news.group);
    let turn = if news.is_late { turn_of(&home.to_string()).await } else { None };
    let head = Head::of(ground, &home).await?;
    let ts = head.next_ts(ground.now());
    let next = head.raised(ts, ground.feed_policy(), &ground.settings().feed);
    let (object_type, object_id) = news.object;
    let activity = Activity {
        activity_id: ground.ids().next_at(ts),
        actor_id: news.actor,
        group_id: news.group,
        verb: news.verb,
        object_type,
        object_id,
        object_home: news.object_home,
        preview_text: news.preview,
        media: news.media,
        tags: news.tags,
        fanout: next.since.is_some(),
        created_at: ts,
    };
    Ok(Published { activity, head: head.write(next), _turn: turn })
}
