//! Comments, likes and shares, one item each. Stream processors count them; those read the fields
//! here and never a key.

use crate::{
    ActivityId, CommentId, Fields, LikeType, ModerationStatus, Nickname, PostId, Tag, Time, UserId,
};

/// A comment on a post, or a reply to another comment.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Comment {
    pub post_id: PostId,
    /// A ULID, so that comments are stored in time order.
    pub id: CommentId,
    pub user_id: UserId,
    pub content: String,
    /// The comment it replies to.
    pub parent_comment_id: Option<CommentId>,
    /// The author of the post.
    pub post_user_id: UserId,
    /// The sort key of the post, for counters.
    #[attribute("postSK")]
    pub post_sk: String,
    pub moderation_status: ModerationStatus,
    /// A tombstone: the content is gone.
    pub is_deleted: bool,
    /// The tags in the text; absent without any.
    pub hashtags: Option<Vec<Tag>>,
    /// The users named in the text; absent without any.
    pub mentions: Option<Vec<Nickname>>,
    pub created_at: Time,
    pub updated_at: Time,
}

impl Comment {
    pub fn tags(&self) -> &[Tag] {
        self.hashtags.as_deref().unwrap_or_default()
    }
}

/// A user likes a post.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Like {
    pub post_id: PostId,
    pub user_id: UserId,
    pub like_type: LikeType,
    /// The author of the post.
    pub post_user_id: UserId,
    /// The sort key of the post, for counters.
    #[attribute("postSK")]
    pub post_sk: String,
    /// The fediverse URL.
    pub activity_pub_id: Option<String>,
    pub created_at: Time,
}

/// A user shared a post. Its activity is shown only while this item names it.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Share {
    pub post_id: PostId,
    pub user_id: UserId,
    /// The activity that shows it to followers.
    pub activity_id: ActivityId,
    /// The author of the post.
    pub post_user_id: UserId,
    pub created_at: Time,
}

/// A user likes a comment.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct CommentLike {
    pub post_id: PostId,
    pub comment_id: CommentId,
    pub user_id: UserId,
    /// Absent in a plain like.
    pub like_type: Option<LikeType>,
    pub created_at: Time,
}

impl CommentLike {
    pub fn like_type(&self) -> LikeType {
        self.like_type.unwrap_or(LikeType::Like)
    }
}

/// The reactions to a comment, counted from the stream.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct CommentCounter {
    pub post_id: PostId,
    pub comment_id: CommentId,
    pub likes: u64,
    /// The likes of the type `love`; absent counts as none.
    pub loves: Option<u64>,
    /// The likes of the type `laugh`; absent counts as none.
    pub laughs: Option<u64>,
    pub replies: u64,
    /// The sequence number of the last counted change, in 40 digits; earlier changes are skipped.
    pub seq: String,
}

impl CommentCounter {
    /// Returns the counter of a comment without reactions.
    pub const fn zero(post_id: PostId, comment_id: CommentId) -> Self {
        Self {
            post_id,
            comment_id,
            likes: 0,
            loves: Some(0),
            laughs: Some(0),
            replies: 0,
            seq: String::new(),
        }
    }
}
