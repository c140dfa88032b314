//! Objects of all types by their global ids.

use data_encoding::BASE64URL_NOPAD;
use futures::future::{BoxFuture, join_all};
use roundtable_graphql_macros::{fields, union};
use roundtable_interface::{ApiError, none_if_hidden};
use roundtable_model::{
    ActivityId, ActorId, CaseId, CommentId, CompanyId, GoalId, GroupId, MessageId, MilestoneId,
    NotificationId, OfferId, PostId, QuestId, RoomId, TaskId, ThreadId, Time, UserId,
};

use crate::activities::Activity;
use crate::assistance::{AssistMessage, AssistThread};
use crate::comments::Comment;
use crate::feeds::FeedEntry;
use crate::follows::Follow;
use crate::goals::{Goal, Milestone, Task};
use crate::groups::{Group, GroupMember};
use crate::moderation::ModerationCase;
use crate::notifications::Notification;
use crate::objects::only;
use crate::posts::Post;
use crate::promotions::Promotion;
use crate::quests::Quest;
use crate::reactions::Like;
use crate::request::RequestContext;
use crate::rooms::{Message, Room};
use crate::trade::{Company, Offer};
use crate::users::User;

/// The most global ids of one query.
const NODES_MAX: usize = 100;

/// Defines an enum of keys: each variant has the ids by which the type of the same name is loaded.
macro_rules! keys_by_kind {
    ($(#[$doc:meta])* $vis:vis $key:ident of $object:ident {
        $($kind:ident($($part:ident: $ty:ty),+);)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        $vis enum $key {
            $($kind($($ty),+),)*
        }

        impl $key {
            /// Returns objects in the order of their keys, with one read for each kind; `None` where the
            /// viewer may not see one.
            $vis async fn load(
                context: &RequestContext,
                keys: &[Option<Self>],
            ) -> Result<Vec<Option<$object>>, ApiError> {
                type KindRead<'a> = BoxFuture<'a, Result<Vec<(usize, $object)>, ApiError>>;
                let mut reads: Vec<KindRead<'_>> = Vec::new();
                $({
                    let of_kind = keys.iter().enumerate().filter_map(|(place, key)| match key {
                        Some(Self::$kind($($part),+)) => Some((place, ($($part.clone()),+))),
                        _ => None,
                    });
                    let (places, keys): (Vec<usize>, Vec<_>) = of_kind.unzip();
                    if !keys.is_empty() {
                        reads.push(Box::pin(async move {
                            let found = $kind::load(context, &keys).await?.into_iter();
                            let found = places.into_iter().zip(found);
                            Ok(found.filter_map(|(place, it)| Some((place, it?.into()))).collect())
                        }));
                    }
                })*
                $crate::nodes::in_order(keys.len(), join_all(reads).await)
            }
        }
    };
}

pub(crate) use keys_by_kind;

/// Returns the objects of all kinds at their places. A kind that is hidden from the viewer hides no other,
/// and looks as if it were missing.
pub(crate) fn in_order<T>(
    len: usize,
    kinds: Vec<Result<Vec<(usize, T)>, ApiError>>,
) -> Result<Vec<Option<T>>, ApiError> {
    let mut objects: Vec<Option<T>> = (0..len).map(|_| None).collect();
    for kind in kinds {
        for (place, object) in none_if_hidden(kind)?.unwrap_or_default() {
            if let Some(slot) = objects.get_mut(place) {
                *slot = Some(object);
            }
        }
    }
    Ok(objects)
}

/// Parses the next part of a global id. Times are milliseconds there.
macro_rules! parse_part {
    (Time, $parts:ident) => {
        Time::from_ms(parse_part!(u64, $parts))
    };
    ($ty:ident, $parts:ident) => {
        $parts.next()?.parse::<$ty>().ok()?
    };
}

/// Defines the types with a global id, and the parts of it.
macro_rules! nodes {
    ($($kind:ident($($part:ident: $ty:ident),+);)*) => {
        #[union]
        #[derive(Debug)]
        pub(crate) enum Node {
            $($kind($kind),)*
        }

        keys_by_kind! {
            /// A parsed global id.
            NodeKey of Node {
                $($kind($($part: $ty),+);)*
            }
        }

        impl NodeKey {
            fn parse(id: &str) -> Option<Self> {
                let text = String::from_utf8(BASE64URL_NOPAD.decode(id.as_bytes()).ok()?).ok()?;
                let mut parts = text.split(':');
                let kind = parts.next()?;
                $(if kind == stringify!($kind) {
                    return Some(Self::$kind($(parse_part!($ty, parts)),+));
                })*
                None
            }
        }
    };
}

nodes! {
    User(id: UserId);
    Follow(follower: UserId, followee: UserId);
    Group(id: GroupId);
    GroupMember(group: GroupId, user: UserId);
    Goal(owner: UserId, id: GoalId);
    Task(goal: GoalId, id: TaskId);
    Milestone(owner: UserId, goal: GoalId, id: MilestoneId);
    Quest(owner: UserId, id: QuestId);
    Activity(home: ActorId, at: Time, id: ActivityId);
    FeedEntry(home: ActorId, at: Time, id: ActivityId);
    Promotion(subject: ActorId);
    Post(id: PostId);
    Comment(post: PostId, id: CommentId);
    Like(post: PostId, user: UserId);
    Room(id: RoomId);
    Message(room: RoomId, id: MessageId);
    AssistThread(id: ThreadId);
    AssistMessage(thread: ThreadId, id: MessageId);
    Company(id: CompanyId);
    Offer(id: OfferId);
    Notification(id: NotificationId);
    ModerationCase(id: CaseId);
}

fn parse(id: &str) -> Result<NodeKey, ApiError> {
    NodeKey::parse(id).ok_or_else(|| ApiError::bad_request("nodeId: unknown id"))
}

pub(crate) struct NodeQueries;

#[fields(Query)]
impl NodeQueries {
    async fn node(context: &RequestContext, node_id: String) -> Result<Option<Node>, ApiError> {
        let key = parse(&node_id)?;
        Ok(only(NodeKey::load(context, &[Some(key)]).await?))
    }

    async fn nodes(
        context: &RequestContext,
        node_ids: Vec<String>,
    ) -> Result<Vec<Result<Option<Node>, ApiError>>, ApiError> {
        if node_ids.len() > NODES_MAX {
            return Err(ApiError::bad_request("nodeIds: expected at most 100"));
        }
        let keys: Vec<_> = node_ids.iter().map(|id| parse(id)).collect();
        let known: Vec<_> = keys.iter().map(|key| key.as_ref().ok().cloned()).collect();
        let found = NodeKey::load(context, &known).await?;
        Ok(keys.into_iter().zip(found).map(|(key, node)| key.map(|_| node)).collect())
    }
}
