//! Posts: created, updated, deleted and read (R18, R26, R27).
//!
//! A post, its tag references, its author's count and, when published, its activity are written in
//! one transaction. Reactions are `likes`, `comments` and `shares`; processors count them.

mod author;
mod case;
mod create;
mod delete;
mod feeds;
mod popular;
mod reads;
mod update;
mod visibility;

use roundtable_model::entities::{Post, User};
use roundtable_model::{ContentType, FeedName, GroupId, PostId, Visibility};
use serde::{Deserialize, Serialize};

pub use self::popular::POPULAR_RUN_MAX;
pub use self::reads::{PostSummaryStats, PostViewerState};
pub(crate) use self::visibility::{
    ActionablePost, filter_visible, load_actionable, posts, reread, unchanged, visible,
};

use self::visibility::visible_to_caller;
use crate::activities::NewMedia;
use crate::idempotency::RemovedEntity;
use crate::{Caller, Context, refusals};

refusals! {
    PostError {
        NoSuchPost: NotFound = "there is no such post",
        NoSuchUser: NotFound = "there is no such user",
        NoSuchGroup: NotFound = "there is no such group",
        NotAMember: Forbidden = "only members can post into this group",
        NotAuthor: Forbidden = "only the author can change a post",
        NoMedia: BadRequest = "an image or a video needs a file",
        NoSuchMedia: BadRequest = "this is not a file of yours, or it is already in use",
    }
}

#[derive(Clone, Debug)]
pub struct Posts {
    context: Context,
}

#[derive(Clone, Debug, Serialize)]
pub struct NewPost {
    pub group_id: Option<GroupId>,
    pub content: String,
    pub content_type: ContentType,
    pub media: Vec<NewMedia>,
    /// Public by default.
    pub visibility: Option<Visibility>,
    /// The global feed by default.
    pub feed_id: Option<FeedName>,
}

impl NewPost {
    /// A public text post.
    pub fn text(content: impl Into<String>) -> Self {
        Self {
            group_id: None,
            content: content.into(),
            content_type: ContentType::Text,
            media: Vec::new(),
            visibility: None,
            feed_id: None,
        }
    }
}

/// Changes to a post; `None` leaves a field as it is.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PostChange {
    pub content: Option<String>,
    pub visibility: Option<Visibility>,
}

#[derive(Debug, Serialize, Deserialize)]
enum PostOutcome {
    Post(PostId),
    Removed(Box<RemovedEntity<Post>>),
}

impl Posts {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Returns the post as it is now, if the caller may still see it; a deleted one as its
    /// tombstone.
    async fn replayed(&self, caller: &Caller, outcome: PostOutcome) -> Result<Post, PostError> {
        match outcome {
            PostOutcome::Removed(removed) => Ok(removed.0),
            PostOutcome::Post(id) => {
                let post = visible(&self.context, Some(caller), &id).await?;
                post.ok_or(PostError::NoSuchPost)
            }
        }
    }

    async fn found(&self, caller: &Caller, me: &User, id: &PostId) -> Result<Post, PostError> {
        visible_to_caller(&self.context, caller, me, id).await?.ok_or(PostError::NoSuchPost)
    }
}
