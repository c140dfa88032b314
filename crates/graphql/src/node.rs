//! Relay's global ids: what kind of thing it is, and what finds it, in one text.

use std::str::FromStr;

use async_graphql::{Context, ID, Interface};
use data_encoding::BASE64URL_NOPAD;
use roundtable_model::{CaseId, NotificationId, ThreadId, Time};

use crate::Refused;
use crate::loaders::{
    ActivityAt, CommentOn, FeedEntryAt, FollowOf, LikeOf, MembershipOf, MilestoneOf, SaidIn, TaskOf,
};
use crate::refusal::if_seen;
use crate::request::Asked;
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

/// The global id of something of this kind; `parts` are what finds it.
pub(crate) fn node_id(kind: &str, parts: &[&str]) -> ID {
    let text = std::iter::once(kind).chain(parts.iter().copied()).collect::<Vec<_>>().join(":");
    ID(BASE64URL_NOPAD.encode(text.as_bytes()))
}

/// Anything that has a global id.
#[derive(Debug, Interface)]
#[graphql(field(name = "node_id", ty = "ID", desc = "Its global id."))]
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

/// A global id, taken apart.
struct Parts<'a> {
    kind: &'a str,
    parts: Vec<&'a str>,
}

impl Parts<'_> {
    /// One of the parts.
    fn at<T: FromStr>(&self, place: usize) -> Result<T, Refused> {
        self.parts.get(place).and_then(|part| part.parse().ok()).ok_or_else(unknown)
    }

    /// The time that one of the parts is.
    fn time_at(&self, place: usize) -> Result<Time, Refused> {
        Ok(Time::from_ms(self.at(place)?))
    }

    fn activity(&self) -> Result<ActivityAt, Refused> {
        Ok(ActivityAt(self.at(0)?, self.time_at(1)?, self.at(2)?))
    }
}

fn unknown() -> Refused {
    Refused::bad("nodeId: this is no id of ours")
}

/// Whatever has this global id, if the viewer may see it.
pub(crate) async fn find(ctx: &Context<'_>, id: &ID) -> Result<Option<Node>, Refused> {
    let text = BASE64URL_NOPAD.decode(id.as_bytes()).ok();
    let text = text.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(unknown)?;
    let mut parts = text.split(':');
    let kind = parts.next().ok_or_else(unknown)?;
    let parts = Parts { kind, parts: parts.collect() };
    // What is not for the viewer is as what is not there.
    Ok(if_seen(read(ctx, &parts).await)?.flatten())
}

/// As a node.
fn boxed<T>(found: Option<T>) -> Option<Node>
where
    Node: From<Box<T>>,
{
    found.map(|found| Box::new(found).into())
}

async fn read(ctx: &Context<'_>, id: &Parts<'_>) -> Result<Option<Node>, Refused> {
    let load = &Asked::of(ctx)?.load;
    Ok(match id.kind {
        "User" => boxed(User::load(ctx, &id.at(0)?).await?),
        "Follow" => boxed(load.one(FollowOf(id.at(0)?, id.at(1)?)).await?.map(Follow::from)),
        "Group" => boxed(Group::load(ctx, &id.at(0)?).await?),
        "GroupMember" => {
            boxed(load.one(MembershipOf(id.at(0)?, id.at(1)?)).await?.map(GroupMember::from))
        }
        "Activity" => boxed(load.one(id.activity()?).await?.map(Activity::from)),
        "FeedEntry" => boxed(load.one(FeedEntryAt(id.activity()?)).await?.map(FeedEntry::from)),
        "Post" => Post::load(ctx, &id.at(0)?).await?.map(Node::from),
        "Comment" => boxed(load.one(CommentOn(id.at(0)?, id.at(1)?)).await?.map(Comment::from)),
        "Like" => boxed(load.one(LikeOf(id.at(0)?, id.at(1)?)).await?.map(Like::from)),
        "Goal" => boxed(Goal::load(ctx, &id.at(0)?, &id.at(1)?).await?),
        "Task" => boxed(load.one(TaskOf(id.at(0)?, id.at(1)?)).await?.map(Task::from)),
        "Quest" => boxed(Quest::load(ctx, &id.at(0)?, &id.at(1)?).await?),
        "Room" => boxed(Room::load(ctx, &id.at(0)?).await?),
        "Message" => boxed(Message::load(ctx, id.at(0)?, id.at(1)?).await?),
        "Company" => boxed(Company::load(ctx, &id.at(0)?).await?),
        "Offer" => boxed(Offer::load(ctx, &id.at(0)?).await?),
        "Promotion" => boxed(Promotion::load(ctx, &id.at(0)?).await?),
        "ModerationCase" => boxed(load.one::<CaseId>(id.at(0)?).await?.map(ModerationCase::from)),
        "Milestone" => {
            let of = MilestoneOf(id.at(0)?, id.at(1)?, id.at(2)?);
            boxed(load.one(of).await?.map(Milestone::from))
        }
        "AssistThread" => boxed(load.one::<ThreadId>(id.at(0)?).await?.map(AssistThread::from)),
        "AssistMessage" => {
            boxed(load.one(SaidIn(id.at(0)?, id.at(1)?)).await?.map(AssistMessage::from))
        }
        "Notification" => {
            boxed(load.one::<NotificationId>(id.at(0)?).await?.map(Notification::from))
        }
        _ => return Err(unknown()),
    })
}
