//! What people did with posts and comments, one by one. Their numbers are kept by stream
//! processors, which read the fields named here and never a key.

use crate::{ActivityId, CommentId, Fields, LikeType, ModerationStatus, PostId, Time, UserId};

/// An answer to a post, or to another comment.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Comment {
    /// The post.
    pub post_id: PostId,
    /// Which comment: a ULID, so comments lie in the order of time.
    pub id: CommentId,
    /// Who wrote it.
    pub user_id: UserId,
    /// Its text.
    pub content: String,
    /// The comment it answers.
    pub parent_comment_id: Option<CommentId>,
    /// Who wrote the post.
    pub post_user_id: UserId,
    /// The sort key of the post, for counters.
    #[attribute("postSK")]
    pub post_sk: String,
    /// What moderation says of it.
    pub moderation_status: ModerationStatus,
    /// Whether it is only a tombstone.
    pub is_deleted: bool,
    /// When it was written.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

/// Somebody likes a post.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Like {
    /// The post.
    pub post_id: PostId,
    /// Who likes it.
    pub user_id: UserId,
    /// In which way.
    pub like_type: LikeType,
    /// Who wrote the post.
    pub post_user_id: UserId,
    /// The sort key of the post, for counters.
    #[attribute("postSK")]
    pub post_sk: String,
    /// Its address in the fediverse.
    pub activity_pub_id: Option<String>,
    /// When.
    pub created_at: Time,
}

/// Somebody passed a post on. The activity that tells of it counts only while this names it.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Share {
    /// The post.
    pub post_id: PostId,
    /// Who passed it on.
    pub user_id: UserId,
    /// The activity that tells their followers.
    pub activity_id: ActivityId,
    /// Who wrote the post.
    pub post_user_id: UserId,
    /// When.
    pub created_at: Time,
}

/// Somebody likes a comment.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct CommentLike {
    /// The post.
    pub post_id: PostId,
    /// The comment.
    pub comment_id: CommentId,
    /// Who likes it.
    pub user_id: UserId,
    /// When.
    pub created_at: Time,
}

/// What people did with a comment, counted from the stream.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct CommentCounter {
    /// The post.
    pub post_id: PostId,
    /// The comment.
    pub comment_id: CommentId,
    /// How many like it.
    pub likes: u64,
    /// How many comments answer it.
    pub replies: u64,
    /// The last change that was counted, in 40 digits: an earlier one has been already.
    pub seq: String,
}
