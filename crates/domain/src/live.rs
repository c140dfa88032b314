//! Live updates about posts, likes, comments, follows, memberships, quests and moderation
//! decisions.
//!
//! Each subscription has a bounded buffer. A subscriber that falls behind gets an error and is
//! disconnected; others are not affected. An event says only that an object changed. The object is
//! read for each subscription on delivery, so a subscriber never receives what they may no longer see.

mod source;
mod subscription;
mod topic_events;
mod topics;

use roundtable_model::entities::{Activity, Comment, Follow, GroupMember, Post, Quest};
use roundtable_model::{ActorId, FeedName, GroupId, PostId, UserId};

pub use self::source::LiveSource;
pub use self::subscription::TopicSubscription;
pub(crate) use self::topics::Topics;
use crate::{Context, LiveBus, refusals};

refusals! {
    LiveError {
        TooSlow: RateLimited = "you fell too far behind: refetch, then resubscribe",
        Missed: Conflict = "the server missed some events: refetch, then resubscribe",
        NoSuchUser: NotFound = "there is no such user",
        NoSuchPost: NotFound = "there is no such post",
        NoSuchGroup: NotFound = "there is no such group",
    }
}

/// A topic that callers can subscribe to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// Activities of a user or a group; of all actors if `None`.
    Activities(Option<ActorId>),
    /// Published posts, in one feed or in all.
    NewPosts(Option<FeedName>),
    /// Changes of a post.
    Post(PostId),
    /// Likes and unlikes of a post.
    Likes(PostId),
    /// New comments on a post.
    Comments(PostId),
    /// New followers of a user, and requests to follow.
    Followers(UserId),
    /// Members who join or leave a group, or change their role.
    Members(GroupId),
    /// Quests of a user, who alone may subscribe.
    Quests(UserId),
    /// Moderation decisions about one post or, for moderators, about all.
    Decisions(Option<PostId>),
}

/// A live update, with its object as it is on delivery.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveEvent {
    Activity(Box<Activity>),
    /// A post was published, changed or moderated.
    Post(Box<Post>),
    Like {
        post_id: PostId,
        /// False if the like was undone.
        liked: bool,
    },
    Comment(Box<Comment>),
    Follow(Box<Follow>),
    /// A changed membership, or the last state of one that ended.
    Membership(Box<GroupMember>),
    Quest(Box<Quest>),
}

#[derive(Clone, Debug)]
pub struct LiveUpdates {
    context: Context,
    bus: LiveBus,
}

impl LiveUpdates {
    pub fn new(context: Context, bus: &LiveBus) -> Self {
        Self { context, bus: bus.clone() }
    }
}
