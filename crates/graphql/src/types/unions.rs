//! GraphQL unions, and lists of objects of several types.

use async_graphql::{Context, Union};
use futures::future::try_join_all;
use roundtable_domain::{Page, TaggedItem};
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
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::loaders::{CommentKey, TaskKey};
use crate::request::RequestContext;

/// An object that a user did or created.
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
    /// Returns the object of an activity, if the viewer may see it. Goals and quests belong to the actor.
    pub(crate) async fn object(
        ctx: &Context<'_>,
        activity: &entities::Activity,
    ) -> Result<Option<Self>, ApiError> {
        let loaders = &RequestContext::of(ctx)?.loaders;
        let (actor, id) = (&activity.actor_id, &activity.object_id);
        Ok(match (activity.object_type, &activity.object_home) {
            (ObjectType::User, _) => boxed(User::load(ctx, &id.recast()).await?),
            (ObjectType::Group, _) => boxed(Group::load(ctx, &id.recast()).await?),
            (ObjectType::Goal, _) => boxed(Goal::load(ctx, actor, &id.recast()).await?),
            (ObjectType::Quest, _) => boxed(Quest::load(ctx, actor, &id.recast()).await?),
            (ObjectType::Post, _) => Post::load(ctx, &id.recast()).await?.map(Into::into),
            (ObjectType::Task, Some(goal)) => {
                boxed(loaders.load(TaskKey(goal.recast(), id.recast())).await?.map(Task))
            }
            (ObjectType::Comment, Some(post)) => {
                boxed(loaders.load(CommentKey(post.recast(), id.recast())).await?.map(Comment))
            }
            (ObjectType::Task | ObjectType::Comment, None) => None,
        })
    }

    /// Converts a timeline entry. A membership becomes its group.
    async fn from_entry(ctx: &Context<'_>, entry: TimelineEntry) -> Result<Option<Self>, ApiError> {
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

fn boxed<T>(object: Option<T>) -> Option<TimelineEntity>
where
    TimelineEntity: From<Box<T>>,
{
    object.map(|object| Box::new(object).into())
}

pub(crate) async fn list_timeline(
    ctx: &Context<'_>,
    user: &UserId,
    entity: Option<EntityKind>,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<TimelineEntity>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let timelines = context.services().timelines();
    let list = format!("timeline of {user}, {entity:?}, {order:?}");
    let read = async |page: &_| {
        let page = timelines.of(context.viewer(), user, entity, order, page).await?;
        let entries = page.items.into_iter().map(async |(entry, cursor)| {
            let entity = TimelineEntity::from_entry(ctx, entry).await?;
            Ok::<_, ApiError>(entity.map(|entity| (entity, cursor)))
        });
        let items = try_join_all(entries).await?.into_iter().flatten().collect();
        Ok::<_, ApiError>(Page { items, next: page.next })
    };
    paging.read(ctx, &list, read).await
}

/// An object with a tag.
#[derive(Clone, Debug, Union)]
pub(crate) enum TaggedEntity {
    User(Box<User>),
    Group(Box<Group>),
    Goal(Box<Goal>),
    Quest(Box<Quest>),
    Post(Post),
    Offer(Box<Offer>),
}

impl From<TaggedItem> for TaggedEntity {
    fn from(tagged: TaggedItem) -> Self {
        match tagged {
            TaggedItem::User(user) => Box::new(User::from(*user)).into(),
            TaggedItem::Group(group) => Box::new(Group::from(*group)).into(),
            TaggedItem::Goal(goal) => Box::new(Goal::from(*goal)).into(),
            TaggedItem::Quest(quest) => Box::new(Quest::from(*quest)).into(),
            TaggedItem::Post(post) => Post::from(*post).into(),
            TaggedItem::Offer(offer) => Box::new(Offer::from(*offer)).into(),
        }
    }
}

pub(crate) async fn list_tagged(
    ctx: &Context<'_>,
    tag: &Tag,
    entity: Option<EntityKind>,
    paging: PageArguments,
) -> Result<Connection<TaggedEntity>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let tags = context.services().tags();
    let list = format!("tagged {}, {entity:?}", tag.fold());
    paging
        .read(ctx, &list, async |page| tags.search(context.viewer(), tag, entity, page).await)
        .await
}
