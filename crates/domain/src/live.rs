//! What happens, told to those who listen while it does: posts, likes, comments, follows, memberships,
//! quests, decisions of moderators. There is one of these in a process.
//!
//! Whoever listens has a buffer of their own length: one who takes it out too slowly is told so, and
//! listens no longer; nobody else notices. An event says only that something happened to a thing. The
//! thing is read for each listener when it is told, so what they may not see by then they never get.

mod heard;
mod hub;
mod listener;

use std::sync::Arc;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, Comment, Follow, GroupMember, Post, Quest};
use roundtable_model::table::Change;
use roundtable_model::{ActorId, FeedName, GroupId, PostId, UserId};

use self::hub::Hub;
pub use self::listener::Listener;
use crate::follower::Follower;
use crate::{Ground, refusals};

refusals! {
    /// Why nobody listens, or no longer.
    LiveError {
        TooSlow: RateLimited = "more happened than you took out in time; look what you missed and subscribe again",
        Missed: Conflict = "some events were missed here; look what you missed and subscribe again",
        NoSuchUser: NotFound = "there is no such person",
        NoSuchPost: NotFound = "there is no such post",
        NoSuchGroup: NotFound = "there is no such group",
    }
}

/// What can be listened to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Matter {
    /// What a person or a group does; everybody, if nobody is named.
    Activities(Option<ActorId>),
    /// Posts that come out, in one feed or in any.
    NewPosts(Option<FeedName>),
    /// Changes of a post.
    Post(PostId),
    /// Who likes a post, or no longer does.
    Likes(PostId),
    /// Comments on a post that come out.
    Comments(PostId),
    /// Who follows somebody, or asks to.
    Followers(UserId),
    /// Who comes to a group, leaves it, or gets another role.
    Members(GroupId),
    /// The quests of somebody: everybody listens to their own.
    Quests(UserId),
    /// What moderators decide, about one post or, for moderators, about any.
    Decisions(Option<PostId>),
}

/// What a listener is told, as it is by then.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Somebody did something.
    Activity(Box<Activity>),
    /// A post came out, changed, or was decided about.
    Post(Box<Post>),
    /// Somebody likes a post, or no longer does.
    Like {
        /// The post.
        post_id: PostId,
        /// Whether they like it now.
        liked: bool,
    },
    /// A comment came out.
    Comment(Box<Comment>),
    /// Somebody follows, or asks to.
    Follow(Box<Follow>),
    /// Somebody came to a group or got another role; who left, as it was.
    Membership(Box<GroupMember>),
    /// A quest was set, came further, or is over.
    Quest(Box<Quest>),
}

/// Everybody who listens in this process.
#[derive(Clone, Debug)]
pub struct Live {
    ground: Ground,
    hub: Arc<Hub>,
}

#[boxed]
impl Live {
    /// Nobody listens yet.
    pub fn new(ground: Ground) -> Self {
        Self { ground, hub: Arc::default() }
    }

    /// The same listeners, who read through this ground: for one request's cost.
    #[must_use]
    pub fn on(&self, ground: Ground) -> Self {
        Self { ground, ..self.clone() }
    }

    /// Keeps up with what happens until it is told to stop, so that those who listen are told. Where
    /// other processes write as well, [`Live::apply`] takes its place.
    pub async fn follow(&self, stop: impl Future<Output = ()>) {
        Follower::keep_up(&self.hub, &self.ground, stop, "live updates").await;
    }

    /// Hears of everything that happened before this call. [`Live::follow`] does it all the time.
    pub async fn catch_up(&self) -> Result<(), LiveError> {
        Ok(Follower::catch_up(&self.hub, &self.ground).await?)
    }

    /// Hears of changes of the core table, in the order of each item's: for those who read the stream
    /// elsewhere.
    pub fn apply(&self, changes: &[Change]) {
        self.hub.tell(changes);
    }

    /// Some changes were not heard of: all who listen learn that they missed something.
    pub fn missed(&self) {
        self.hub.hang_up();
    }

    /// How many matters are listened to.
    pub fn matters(&self) -> usize {
        self.hub.matters()
    }
}
