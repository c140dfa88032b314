//! Moderation: reports, the cases they open, and decisions about them.
//!
//! A case has the id of the post or comment it is about, so there is one per item; it is reopened
//! rather than duplicated. Reports leave content where it is; decisions show or hide it. Hidden
//! content can be found through its case: while a post or comment is not APPROVED, its case has the
//! same status.
//!
//! This module sends nothing: automatic moderation is delegated to an [`AutoModerator`].

mod auto_moderation;
mod conduct;
mod decisions;
mod queue;
mod reports;

use roundtable_model::entities::{Comment, Group, Message, ModerationCase, Post, User};
use roundtable_model::table::{Check, Write};
use roundtable_model::{CaseId, CommentId, Json, ModerationStatus, PostId, Shard, Time, UserId};
use serde::{Deserialize, Serialize};

pub use self::auto_moderation::{
    AutoModerationOutcome, AutoModerator, AutoModeratorError, Verdict,
};

use crate::{Caller, Context, ServiceError, audit, comments, posts, refusals};

refusals! {
    ModerationError {
        NoSuchPost: NotFound = "there is no such post",
        NoSuchComment: NotFound = "there is no such comment",
        NoSuchUser: NotFound = "there is no such user",
        NoSuchGroup: NotFound = "there is no such group",
        NoSuchMessage: NotFound = "there is no such message",
        NoSuchCase: NotFound = "there is no moderation case for this",
        ContentCase: BadRequest = "decide about a post with `moderatePost`, and about a comment with `moderateComment`",
        OwnContent: BadRequest = "you cannot report yourself, your own content, or your own group",
        AlreadyHidden: Conflict = "this is already hidden",
        InvalidDecision: BadRequest = "the decision must be APPROVED, FLAGGED or REJECTED",
        ConcurrentDecision: Conflict = "another moderator has just decided this; look at it again",
        ContentChanged: Conflict = "the author has just changed this; look at it again",
    }
}

#[derive(Clone, Debug)]
pub struct Moderation {
    context: Context,
}

/// Content that can be reported and moderated: a post, or a comment with its post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeratedContent {
    /// The post, or the comment's post.
    pub post: Post,
    pub comment: Option<Comment>,
}

/// A case with its content as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModerationSubject {
    pub case: ModerationCase,
    pub content: ModeratedContent,
}

/// A case with what it is about, as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewedCase {
    pub case: ModerationCase,
    pub subject: CaseSubject,
}

/// The post, comment, user, group or message that a case is about.
#[derive(Clone, Debug, PartialEq)]
pub enum CaseSubject {
    Content(Box<ModeratedContent>),
    User(Box<User>),
    Group(Box<Group>),
    Message(Box<Message>),
}

impl ReviewedCase {
    /// Returns the post or comment, if the case is about either.
    pub fn content(&self) -> Option<&ModeratedContent> {
        match &self.subject {
            CaseSubject::Content(content) => Some(content),
            _ => None,
        }
    }
}

/// The target of a mutation, stored as its outcome.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum ModerationTarget {
    Post(PostId),
    Comment(CommentId),
}

impl Moderation {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Reads the target; fails if it has been deleted.
    async fn content(
        &self,
        target: &ModerationTarget,
    ) -> Result<ModeratedContent, ModerationError> {
        let core = self.context.core();
        let content = match target {
            ModerationTarget::Post(id) => core.post(id).get().await?.map(ModeratedContent::from),
            ModerationTarget::Comment(id) => match comments::find(&self.context, id).await? {
                Some(comment) => {
                    let post = core.post(&comment.post_id).get().await?;
                    post.map(|post| ModeratedContent { post, comment: Some(comment) })
                }
                None => None,
            },
        };
        content.filter(|content| !content.is_deleted()).ok_or_else(|| target.not_found())
    }

    fn audit_entry(
        &self,
        actor: Option<&Caller>,
        action: &'static str,
        content: &ModeratedContent,
        change: &StatusChange<'_>,
    ) -> Result<Write, ServiceError> {
        let detail = Some(change.json()?);
        Ok(audit::entry(&self.context, actor, action, content.case_id(), detail))
    }

    async fn find_case(&self, id: &CaseId) -> Result<Option<ModerationCase>, ServiceError> {
        Ok(self.context.core().moderation_case(id).get().await?)
    }

    fn new_case(&self, content: &ModeratedContent, now: Time) -> ModerationCase {
        let id = content.case_id();
        ModerationCase {
            shard: Shard::of(&id.to_string(), self.context.settings().shards.cases.0),
            id,
            post_id: Some(content.post.id.clone()),
            comment_id: content.comment.as_ref().map(|comment| comment.id.clone()),
            user_id: None,
            group_id: None,
            room_id: None,
            reason: None,
            reporter_ids: Vec::new(),
            status: ModerationStatus::Pending,
            decided_by: None,
            decided_at: None,
            version: 1,
            created_at: now,
            ttl: None,
        }
    }
}

impl ModeratedContent {
    /// The id of its case, which may not exist.
    pub fn case_id(&self) -> CaseId {
        self.target().case_id()
    }

    pub fn author_id(&self) -> &UserId {
        self.comment.as_ref().map_or(&self.post.author_id, |comment| &comment.user_id)
    }

    pub fn status(&self) -> ModerationStatus {
        let comment = self.comment.as_ref().map(|comment| comment.moderation_status);
        comment.unwrap_or(self.post.moderation_status)
    }

    /// Returns whether the comment or its post is a tombstone.
    pub fn is_deleted(&self) -> bool {
        self.post.is_deleted || self.comment.as_ref().is_some_and(|comment| comment.is_deleted)
    }

    /// Returns whether text and media are equal, so that a decision about one holds for both.
    fn has_same_text(&self, other: &Self) -> bool {
        let comment_text = |content: &Self| content.comment.as_ref().map(|it| it.content.clone());
        self.post.content == other.post.content
            && self.post.media == other.post.media
            && comment_text(self) == comment_text(other)
    }

    fn target(&self) -> ModerationTarget {
        match &self.comment {
            Some(comment) => ModerationTarget::Comment(comment.id.clone()),
            None => ModerationTarget::Post(self.post.id.clone()),
        }
    }

    /// Requires that it still exists with the same visibility.
    fn unchanged(&self) -> impl Iterator<Item = Check> {
        let comment = self.comment.as_ref().map(comments::unchanged_check);
        std::iter::once(posts::unchanged(&self.post)).chain(comment)
    }
}

impl From<Post> for ModeratedContent {
    fn from(post: Post) -> Self {
        Self { post, comment: None }
    }
}

impl ModerationTarget {
    fn case_id(&self) -> CaseId {
        match self {
            Self::Post(id) => id.into(),
            Self::Comment(id) => id.into(),
        }
    }

    /// The name of the mutation that reports it.
    const fn report_operation(&self) -> &'static str {
        match self {
            Self::Post(_) => "reportPost",
            Self::Comment(_) => "reportComment",
        }
    }

    /// The name of the mutation that moderates it.
    const fn moderate_operation(&self) -> &'static str {
        match self {
            Self::Post(_) => "moderatePost",
            Self::Comment(_) => "moderateComment",
        }
    }

    const fn not_found(&self) -> ModerationError {
        match self {
            Self::Post(_) => ModerationError::NoSuchPost,
            Self::Comment(_) => ModerationError::NoSuchComment,
        }
    }
}

fn is_decided(case: &ModerationCase) -> bool {
    case.status != ModerationStatus::Pending
}

impl StatusChange<'_> {
    fn json(&self) -> Result<Json, ServiceError> {
        Json::encode(self).map_err(|invalid| ServiceError::Internal(invalid.to_string()))
    }
}

/// The detail of an audit entry.
#[derive(Debug, Serialize)]
struct StatusChange<'a> {
    from: ModerationStatus,
    to: ModerationStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}
