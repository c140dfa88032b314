//! Objects of several types: timelines, search by tag, objects of activities and notifications.

use futures::future::{BoxFuture, join_all};
use roundtable_domain::{Page, TaggedItem};
use roundtable_graphql_macros::{fields, union};
use roundtable_interface::ApiError;
use roundtable_model::table::Order;
use roundtable_model::{
    CommentId, Cursor, EntityKind, GoalId, GroupId, MessageId, ObjectType, PostId, QuestId, RoomId,
    Tag, TaskId, TimelineEntry, UserId, entities,
};

use crate::activities::Activity;
use crate::comments::Comment;
use crate::connection::{Connection, PageArguments};
use crate::enums::ModelSortDirection;
use crate::follows::Follow;
use crate::goals::{Goal, Milestone, Task};
use crate::groups::Group;
use crate::nodes::keys_by_kind;
use crate::posts::Post;
use crate::quests::Quest;
use crate::reactions::Like;
use crate::request::RequestContext;
use crate::rooms::Message;
use crate::trade::Offer;
use crate::users::User;

#[union]
#[derive(Clone, Debug)]
pub(crate) enum TimelineEntity {
    User(User),
    Follow(Follow),
    Group(Group),
    Goal(Goal),
    Task(Task),
    Milestone(Milestone),
    Quest(Quest),
    Post(Post),
    Comment(Comment),
    Like(Like),
    Message(Message),
    Activity(Activity),
}

keys_by_kind! {
    /// The object of an activity or a notification.
    pub(crate) ObjectKey of TimelineEntity {
        User(id: UserId);
        Group(id: GroupId);
        Goal(owner: UserId, id: GoalId);
        Quest(owner: UserId, id: QuestId);
        Post(id: PostId);
        Task(goal: GoalId, id: TaskId);
        Comment(post: PostId, id: CommentId);
        Message(room: RoomId, id: MessageId);
    }
}

impl ObjectKey {
    /// Returns the object of an activity. Goals and quests belong to the actor.
    pub(crate) fn of_activity(activity: &entities::Activity) -> Option<Self> {
        let (actor, id) = (&activity.actor_id, &activity.object_id);
        let home = activity.object_home.as_ref();
        Some(match activity.object_type {
            ObjectType::User => Self::User(id.recast()),
            ObjectType::Group => Self::Group(id.recast()),
            ObjectType::Goal => Self::Goal(actor.clone(), id.recast()),
            ObjectType::Quest => Self::Quest(actor.clone(), id.recast()),
            ObjectType::Post => Self::Post(id.recast()),
            ObjectType::Task => Self::Task(home?.recast(), id.recast()),
            ObjectType::Comment => Self::Comment(home?.recast(), id.recast()),
        })
    }
}

/// Converts the entries of a page. A membership becomes its group, if the viewer may see it.
async fn timeline_entities(
    context: &RequestContext,
    entries: Vec<(TimelineEntry, Cursor)>,
) -> Result<Vec<(TimelineEntity, Cursor)>, ApiError> {
    let group = |(entry, _): &(TimelineEntry, Cursor)| match entry {
        TimelineEntry::Group(member) => Some(member.group_id.clone()),
        _ => None,
    };
    let ids: Vec<GroupId> = entries.iter().filter_map(group).collect();
    let mut groups = Group::load(context, &ids).await?.into_iter();
    let entities = entries.into_iter().filter_map(|(entry, cursor)| {
        let entity = match entry {
            TimelineEntry::User(user) => TimelineEntity::User(user.into()),
            TimelineEntry::Follow(follow) => TimelineEntity::Follow(follow.into()),
            TimelineEntry::Group(_) => TimelineEntity::Group(groups.next()??),
            TimelineEntry::Goal(goal) => TimelineEntity::Goal(goal.into()),
            TimelineEntry::Task(task) => TimelineEntity::Task(task.into()),
            TimelineEntry::Milestone(milestone) => TimelineEntity::Milestone(milestone.into()),
            TimelineEntry::Quest(quest) => TimelineEntity::Quest(quest.into()),
            TimelineEntry::Post(post) => TimelineEntity::Post(post.into()),
            TimelineEntry::Comment(comment) => TimelineEntity::Comment(comment.into()),
            TimelineEntry::Like(like) => TimelineEntity::Like(like.into()),
            TimelineEntry::Message(message) => TimelineEntity::Message(message.into()),
        };
        Some((entity, cursor))
    });
    Ok(entities.collect())
}

pub(crate) async fn list_timeline(
    context: &RequestContext,
    user: &UserId,
    entity: Option<EntityKind>,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<TimelineEntity>, ApiError> {
    let (timelines, viewer) = (context.services().timelines(), context.viewer());
    let list = format!("timeline of {user}, {entity:?}, {order:?}");
    let read = async |page: &_| {
        let Page { items, next } = timelines.of(viewer, user, entity, order, page).await?;
        Ok::<_, ApiError>(Page { items: timeline_entities(context, items).await?, next })
    };
    paging.read(context, &list, read).await
}

#[union]
#[derive(Clone, Debug)]
pub(crate) enum TaggedEntity {
    User(User),
    Group(Group),
    Goal(Goal),
    Quest(Quest),
    Post(Post),
    Comment(Comment),
    Offer(Offer),
}

impl From<TaggedItem> for TaggedEntity {
    fn from(tagged: TaggedItem) -> Self {
        match tagged {
            TaggedItem::User(user) => Self::User((*user).into()),
            TaggedItem::Group(group) => Self::Group((*group).into()),
            TaggedItem::Goal(goal) => Self::Goal((*goal).into()),
            TaggedItem::Quest(quest) => Self::Quest((*quest).into()),
            TaggedItem::Post(post) => Self::Post((*post).into()),
            TaggedItem::Comment(comment) => Self::Comment((*comment).into()),
            TaggedItem::Offer(offer) => Self::Offer((*offer).into()),
        }
    }
}

pub(crate) struct TimelineQueries;

#[fields(Query)]
impl TimelineQueries {
    async fn list_user_entities(
        context: &RequestContext,
        user_id: UserId,
        entity: Option<EntityKind>,
        paging: PageArguments,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<TimelineEntity>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        list_timeline(context, &user_id, entity, order, paging).await
    }

    async fn search_by_tag(
        context: &RequestContext,
        tag: Tag,
        entity: Option<EntityKind>,
        order: Option<ModelSortDirection>,
        paging: PageArguments,
    ) -> Result<Connection<TaggedEntity>, ApiError> {
        let (tags, viewer) = (context.services().tags(), context.viewer());
        let order = ModelSortDirection::order_or(order, Order::Ascending);
        let list = format!("tagged {}, {entity:?}, {order:?}", tag.fold());
        let read = async |page: &_| tags.search(viewer, &tag, entity, order, page).await;
        paging.read(context, &list, read).await
    }
}
