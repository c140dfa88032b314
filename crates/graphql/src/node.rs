//! Relay's global ids, which encode a type and the ids needed to load an object of it.

use std::str::FromStr;

use async_graphql::{Context, ID, Interface};
use data_encoding::BASE64URL_NOPAD;
use roundtable_model::{CaseId, NotificationId, ThreadId, Time};

use crate::ApiError;
use crate::errors::none_if_hidden;
use crate::loaders::{
    ActivityKey, AssistMessageKey, CommentKey, FeedEntryKey, FollowKey, LikeKey, MembershipKey,
    MilestoneKey, TaskKey,
};
use crate::request::RequestContext;
use crate::types::activities::Activity;
use crate::types::assistance::{AssistMessage, AssistThread};
use crate::types::comments::Comment;
use crate::types::feeds::FeedEntry;
use crate::types::follows::Follow;
use crate::types::goals::{Goal, Milestone, Task};
use crate::types::groups::{Group, GroupMember};
use crate::types::moderation::ModerationCase;
use crate::types::notifications::Notification;
use crate::types::posts::Post;
use crate::types::promotions::Promotion;
use crate::types::quests::Quest;
use crate::types::reactions::Like;
use crate::types::rooms::{Message, Room};
use crate::types::trade::{Company, Offer};
use crate::types::users::User;

/// Returns a global id of type `kind`; `parts` are the ids that [`load_node`] needs.
pub(crate) fn node_id(kind: &str, parts: &[&str]) -> ID {
    let text = std::iter::once(kind).chain(parts.iter().copied()).collect::<Vec<_>>().join(":");
    ID(BASE64URL_NOPAD.encode(text.as_bytes()))
}

/// An object with a global id.
#[derive(Debug, Interface)]
#[graphql(field(name = "node_id", ty = "ID", desc = "The global id."))]
pub(crate) enum Node {
    User(Box<User>),
    Follow(Box<Follow>),
    Group(Box<Group>),
    GroupMember(Box<GroupMember>),
    Goal(Box<Goal>),
    Task(Box<Task>),
    Milestone(Box<Milestone>),
    Quest(Box<Quest>),
    Activity(Box<Activity>),
    FeedEntry(Box<FeedEntry>),
    Promotion(Box<Promotion>),
    Post(Post),
    Comment(Box<Comment>),
    Like(Box<Like>),
    Room(Box<Room>),
    Message(Box<Message>),
    AssistThread(Box<AssistThread>),
    AssistMessage(Box<AssistMessage>),
    Company(Box<Company>),
    Offer(Box<Offer>),
    Notification(Box<Notification>),
    ModerationCase(Box<ModerationCase>),
}

/// A parsed global id.
struct GlobalId<'a> {
    kind: &'a str,
    parts: Vec<&'a str>,
}

impl GlobalId<'_> {
    fn at<T: FromStr>(&self, index: usize) -> Result<T, ApiError> {
        self.parts.get(index).and_then(|part| part.parse().ok()).ok_or_else(unknown_id)
    }

    fn time_at(&self, index: usize) -> Result<Time, ApiError> {
        Ok(Time::from_ms(self.at(index)?))
    }

    fn activity_key(&self) -> Result<ActivityKey, ApiError> {
        Ok(ActivityKey(self.at(0)?, self.time_at(1)?, self.at(2)?))
    }
}

fn unknown_id() -> ApiError {
    ApiError::bad_request("nodeId: unknown id")
}

/// Returns the object with a global id, if the viewer may see it.
pub(crate) async fn load_node(ctx: &Context<'_>, id: &ID) -> Result<Option<Node>, ApiError> {
    let text = BASE64URL_NOPAD.decode(id.as_bytes()).ok();
    let text = text.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(unknown_id)?;
    let mut parts = text.split(':');
    let kind = parts.next().ok_or_else(unknown_id)?;
    let id = GlobalId { kind, parts: parts.collect() };
    // Hidden and missing objects look the same.
    Ok(none_if_hidden(load_by_kind(ctx, &id).await)?.flatten())
}

fn boxed<T>(object: Option<T>) -> Option<Node>
where
    Node: From<Box<T>>,
{
    object.map(|object| Box::new(object).into())
}

async fn load_by_kind(ctx: &Context<'_>, id: &GlobalId<'_>) -> Result<Option<Node>, ApiError> {
    let loaders = &RequestContext::of(ctx)?.loaders;
    Ok(match id.kind {
        "User" => boxed(User::load(ctx, &id.at(0)?).await?),
        "Follow" => boxed(loaders.load(FollowKey(id.at(0)?, id.at(1)?)).await?.map(Follow::from)),
        "Group" => boxed(Group::load(ctx, &id.at(0)?).await?),
        "GroupMember" => {
            boxed(loaders.load(MembershipKey(id.at(0)?, id.at(1)?)).await?.map(GroupMember::from))
        }
        "Activity" => boxed(loaders.load(id.activity_key()?).await?.map(Activity::from)),
        "FeedEntry" => {
            boxed(loaders.load(FeedEntryKey(id.activity_key()?)).await?.map(FeedEntry::from))
        }
        "Post" => Post::load(ctx, &id.at(0)?).await?.map(Node::from),
        "Comment" => {
            boxed(loaders.load(CommentKey(id.at(0)?, id.at(1)?)).await?.map(Comment::from))
        }
        "Like" => boxed(loaders.load(LikeKey(id.at(0)?, id.at(1)?)).await?.map(Like::from)),
        "Goal" => boxed(Goal::load(ctx, &id.at(0)?, &id.at(1)?).await?),
        "Task" => boxed(loaders.load(TaskKey(id.at(0)?, id.at(1)?)).await?.map(Task::from)),
        "Quest" => boxed(Quest::load(ctx, &id.at(0)?, &id.at(1)?).await?),
        "Room" => boxed(Room::load(ctx, &id.at(0)?).await?),
        "Message" => boxed(Message::load(ctx, id.at(0)?, id.at(1)?).await?),
        "Company" => boxed(Company::load(ctx, &id.at(0)?).await?),
        "Offer" => boxed(Offer::load(ctx, &id.at(0)?).await?),
        "Promotion" => boxed(Promotion::load(ctx, &id.at(0)?).await?),
        "ModerationCase" => {
            boxed(loaders.load::<CaseId>(id.at(0)?).await?.map(ModerationCase::from))
        }
        "Milestone" => {
            let key = MilestoneKey(id.at(0)?, id.at(1)?, id.at(2)?);
            boxed(loaders.load(key).await?.map(Milestone::from))
        }
        "AssistThread" => boxed(loaders.load::<ThreadId>(id.at(0)?).await?.map(AssistThread::from)),
        "AssistMessage" => boxed(
            loaders.load(AssistMessageKey(id.at(0)?, id.at(1)?)).await?.map(AssistMessage::from),
        ),
        "Notification" => {
            boxed(loaders.load::<NotificationId>(id.at(0)?).await?.map(Notification::from))
        }
        _ => return Err(unknown_id()),
    })
}
