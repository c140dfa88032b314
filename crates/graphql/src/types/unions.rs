//! Lists of things of several kinds, as the API shows them.

use async_graphql::{Context, Union};
use futures::future::try_join_all;
use roundtable_domain::{Page, Tagged};
use roundtable_model::table::Order;
use roundtable_model::{EntityKind, ObjectType, Tag, TimelineEntry, UserId, entities};

use super::activities::Activity;
use super::comments::Comment;
use super::follows::Follow;
use super::goals::{Goal, Milestone, Task};
use super::groups::Group;
use super::posts::Post;
use super::quests::Quest;
use super::reactions::Like;
use super::rooms::Message;
use super::trade::Offer;
use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::loaders::{CommentOn, TaskOf};
use crate::request::Asked;

/// Something somebody did or made.
#[derive(Clone, Debug, Union)]
pub(crate) enum TimelineEntity {
    User(Box<User>),
    Follow(Box<Follow>),
    Group(Box<Group>),
    Goal(Box<Goal>),
    Task(Box<Task>),
    Milestone(Box<Milestone>),
    Quest(Box<Quest>),
    Post(Post),
    Comment(Box<Comment>),
    Like(Box<Like>),
    Message(Box<Message>),
    Activity(Box<Activity>),
}

impl TimelineEntity {
    /// What an activity is about, if the viewer may see it; goals and quests are the actor's.
    pub(crate) async fn object(
        ctx: &Context<'_>,
        activity: &entities::Activity,
    ) -> Result<Option<Self>, Refused> {
        let load = &Asked::of(ctx)?.load;
        let (actor, id) = (&activity.actor_id, &activity.object_id);
        Ok(match (activity.object_type, &activity.object_home) {
            (ObjectType::User, _) => boxed(User::load(ctx, &id.recast()).await?),
            (ObjectType::Group, _) => boxed(Group::load(ctx, &id.recast()).await?),
            (ObjectType::Goal, _) => boxed(Goal::load(ctx, actor, &id.recast()).await?),
            (ObjectType::Quest, _) => boxed(Quest::load(ctx, actor, &id.recast()).await?),
            (ObjectType::Post, _) => Post::load(ctx, &id.recast()).await?.map(Into::into),
            (ObjectType::Task, Some(goal)) => {
                boxed(load.one(TaskOf(goal.recast(), id.recast())).await?.map(Task))
            }
            (ObjectType::Comment, Some(post)) => {
                boxed(load.one(CommentOn(post.recast(), id.recast())).await?.map(Comment))
            }
            (ObjectType::Task | ObjectType::Comment, None) => None,
        })
    }

    /// An entry of a timeline. Of a membership, the group is shown.
    async fn entry(ctx: &Context<'_>, entry: TimelineEntry) -> Result<Option<Self>, Refused> {
        Ok(Some(match entry {
            TimelineEntry::User(user) => Box::new(User::from(user)).into(),
            TimelineEntry::Follow(follow) => Box::new(Follow::from(follow)).into(),
            TimelineEntry::Group(member) => match Group::load(ctx, &member.group_id).await? {
                Some(group) => Box::new(group).into(),
                None => return Ok(None),
            },
            TimelineEntry::Post(post) => Post::from(post).into(),
            TimelineEntry::Comment(comment) => Box::new(Comment::from(comment)).into(),
            TimelineEntry::Like(like) => Box::new(Like::from(like)).into(),
            TimelineEntry::Goal(goal) => Box::new(Goal::from(goal)).into(),
            TimelineEntry::Task(task) => Box::new(Task::from(task)).into(),
            TimelineEntry::Milestone(milestone) => Box::new(Milestone::from(milestone)).into(),
            TimelineEntry::Quest(quest) => Box::new(Quest::from(quest)).into(),
            TimelineEntry::Message(message) => Box::new(Message::from(message)).into(),
        }))
    }
}

fn boxed<T>(found: Option<T>) -> Option<TimelineEntity>
where
    TimelineEntity: From<Box<T>>,
{
    found.map(|found| Box::new(found).into())
}

/// What somebody did and made, of all kinds or of one.
pub(crate) async fn timeline(
    ctx: &Context<'_>,
    user: &UserId,
    entity: Option<EntityKind>,
    order: Order,
    paging: Paging,
) -> Result<Connection<TimelineEntity>, Refused> {
    let asked = Asked::of(ctx)?;
    let timelines = asked.services().timelines();
    let list = format!("timeline of {user}, {entity:?}, {order:?}");
    let read = async |page: &_| {
        let page = timelines.of(asked.viewer(), user, entity, order, page).await?;
        let entries = page.items.into_iter().map(async |(entry, cursor)| {
            let entity = TimelineEntity::entry(ctx, entry).await?;
            Ok::<_, Refused>(entity.map(|entity| (entity, cursor)))
        });
        let items = try_join_all(entries).await?.into_iter().flatten().collect();
        Ok::<_, Refused>(Page { items, next: page.next })
    };
    paging.read(ctx, &list, read).await
}

/// Something that carries a tag.
#[derive(Clone, Debug, Union)]
pub(crate) enum TaggedEntity {
    User(Box<User>),
    Group(Box<Group>),
    Goal(Box<Goal>),
    Quest(Box<Quest>),
    Post(Post),
    Offer(Box<Offer>),
}

impl From<Tagged> for TaggedEntity {
    fn from(tagged: Tagged) -> Self {
        match tagged {
            Tagged::User(user) => Box::new(User::from(*user)).into(),
            Tagged::Group(group) => Box::new(Group::from(*group)).into(),
            Tagged::Goal(goal) => Box::new(Goal::from(*goal)).into(),
            Tagged::Quest(quest) => Box::new(Quest::from(*quest)).into(),
            Tagged::Post(post) => Post::from(*post).into(),
            Tagged::Offer(offer) => Box::new(Offer::from(*offer)).into(),
        }
    }
}

/// What carries a tag, of all kinds or of one.
pub(crate) async fn tagged(
    ctx: &Context<'_>,
    tag: &Tag,
    entity: Option<EntityKind>,
    paging: Paging,
) -> Result<Connection<TaggedEntity>, Refused> {
    let asked = Asked::of(ctx)?;
    let tags = asked.services().tags();
    let list = format!("tagged {}, {entity:?}", tag.fold());
    paging.read(ctx, &list, async |page| tags.search(asked.viewer(), tag, entity, page).await).await
}
