//! Posts: written, changed, taken back, and read by those they are for (R18, R26, R27).
//!
//! A post is one item, with its tags, its author's count and, once it is out, its activity, all in one
//! transaction. What people did with it is `likes`, `comments` and `shares`; counting that is the
//! processors'.

mod author;
mod case;
mod create;
mod delete;
mod feeds;
mod popular;
mod reads;
mod seen;
mod tags;
mod text;
mod update;

use roundtable_model::entities::{Post, User};
use roundtable_model::{ContentType, FeedName, GroupId, PostId, Visibility};
use serde::{Deserialize, Serialize};

pub use self::popular::POPULAR_RUN_MAX;
pub use self::reads::{PostMarks, Stats};
pub(crate) use self::seen::{Open, current, open_to, posts, seen, unchanged, visible};

use self::seen::visible_to;
use crate::activities::NewMedia;
use crate::once::Kept;
use crate::{Caller, Failure, Ground, refusals};

refusals! {
    /// Why a post was not written, changed or shown.
    PostError {
        NoSuchPost: NotFound = "there is no such post",
        NoSuchUser: NotFound = "there is no such person",
        NoSuchGroup: NotFound = "there is no such group",
        NotAMember: Forbidden = "only members can post into this group",
        NotYours: Forbidden = "only its author can do this to a post",
        NoMedia: BadRequest = "an image or a video needs a file",
        NoSuchMedia: BadRequest = "this is no file of yours, or one that is elsewhere already",
    }
}

/// The posts of everybody.
#[derive(Clone, Debug)]
pub struct Posts {
    ground: Ground,
}

/// A post to be written.
#[derive(Clone, Debug, Serialize)]
pub struct NewPost {
    /// The group it is for.
    pub group_id: Option<GroupId>,
    /// Its text.
    pub content: String,
    /// What it mainly is.
    pub content_type: ContentType,
    /// Its images or videos.
    pub media: Vec<NewMedia>,
    /// Whom it is for; everybody unless said otherwise.
    pub visibility: Option<Visibility>,
    /// The feed it goes to; everybody's unless said otherwise.
    pub feed_id: Option<FeedName>,
}

impl NewPost {
    /// A text for everybody.
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

/// What is to be changed of a post; what is `None` stays.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PostChange {
    /// Its text.
    pub content: Option<String>,
    /// Whom it is for.
    pub visibility: Option<Visibility>,
}

/// What a request led to: a post, or what is left of one that was deleted.
#[derive(Debug, Serialize, Deserialize)]
enum Outcome {
    Post(PostId),
    Removed(Box<Kept<Post>>),
}

impl Posts {
    /// The posts on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// A post as it is now, if the caller may still see it; of one that was deleted, its tombstone.
    async fn replayed(&self, caller: &Caller, outcome: Outcome) -> Result<Post, PostError> {
        match outcome {
            Outcome::Removed(removed) => Ok(removed.0),
            Outcome::Post(id) => {
                let post = visible(&self.ground, Some(caller), &id).await?;
                post.ok_or(PostError::NoSuchPost)
            }
        }
    }

    /// A post that the caller may see, for them to change.
    async fn found(&self, caller: &Caller, me: &User, id: &PostId) -> Result<Post, PostError> {
        visible_to(&self.ground, caller, me, id).await?.ok_or(PostError::NoSuchPost)
    }
}

/// What a text names: its tags, and the nicknames that are somebody's.
async fn names(ground: &Ground, content: &str) -> Result<text::Named, Failure> {
    let mut named = text::named(content);
    let locks = ground.core().nick_locks(&named.nicknames).get().await?;
    named.nicknames = locks.into_iter().flatten().map(|lock| lock.nickname).collect();
    Ok(named)
}
