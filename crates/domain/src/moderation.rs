//! What should perhaps not be there: reports, the cases they open, and what is decided about them.
//!
//! A case has the id of the post or comment it is about, so there is one for each, and it is opened
//! again rather than twice. Reports leave content where it is; decisions show or hide it. What is
//! hidden can be found through its case: as long as a post or comment is not APPROVED, its case has
//! the same status.
//!
//! It sends nothing anywhere: whoever decides automatically is asked through [`Judge`].

mod decisions;
mod judge;
mod queue;
mod reports;

use roundtable_model::entities::{Comment, ModerationCase, Post};
use roundtable_model::table::{Check, Write};
use roundtable_model::{
    CaseId, CommentId, Entity, Json, ModerationStatus, PostId, Shard, Time, UserId,
};
use serde::{Deserialize, Serialize};

pub use self::judge::{Judge, JudgeError, Judgement, Verdict};

use crate::access::{Act, Standing, allows};
use crate::once::{Request, Tried};
use crate::{Caller, Failure, Ground, audit, comments, posts, refusals};

refusals! {
    /// Why nothing was reported, decided or shown.
    ModerationError {
        NoSuchPost: NotFound = "there is no such post",
        NoSuchComment: NotFound = "there is no such comment",
        NoSuchCase: NotFound = "there is no case about this",
        YourOwn: BadRequest = "nobody can report what they wrote themselves",
        Hidden: Conflict = "this is hidden already",
        NotADecision: BadRequest = "a decision is APPROVED, FLAGGED or REJECTED",
        DecidedMeanwhile: Conflict = "somebody else has decided about this in the meantime",
        ChangedMeanwhile: Conflict = "its author has changed this in the meantime; look at it again",
    }
}

/// The reports, cases and decisions of everybody.
#[derive(Clone, Debug)]
pub struct Moderation {
    ground: Ground,
}

/// What can be reported and decided about: a post, or a comment with its post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The post, or the post of the comment.
    pub post: Post,
    /// The comment, if it is about one.
    pub comment: Option<Comment>,
}

/// A case, with what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The case.
    pub case: ModerationCase,
    /// What it is about, as it is now.
    pub content: Content,
}

/// What a mutation names, and what its outcome is found by.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Target {
    Post(PostId),
    Comment(CommentId),
}

impl Moderation {
    /// The moderation on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// What is named, as long as it is there.
    async fn content(&self, target: &Target) -> Result<Content, ModerationError> {
        let core = self.ground.core();
        let content = match target {
            Target::Post(id) => core.post(id).get().await?.map(Content::from),
            Target::Comment(id) => match comments::find(&self.ground, id).await? {
                Some(comment) => {
                    let post = core.post(&comment.post_id).get().await?;
                    post.map(|post| Content { post, comment: Some(comment) })
                }
                None => None,
            },
        };
        content.filter(|content| !content.is_deleted()).ok_or_else(|| target.absent())
    }

    /// It is so already. The request is remembered all the same: sent again when it is otherwise, it
    /// must not change that.
    async fn nothing_to_do<T>(
        &self,
        target: &Target,
        outcome: T,
        request: Option<&Request>,
    ) -> Result<Tried<T>, Failure> {
        self.ground.nothing_to_do(request, target, outcome).await
    }

    /// The entry that tells of a change.
    fn trail(
        &self,
        actor: Option<&Caller>,
        action: &'static str,
        content: &Content,
        change: &Change<'_>,
    ) -> Result<Write, Failure> {
        let detail = Json::of(change).map_err(|misfit| Failure::Internal(misfit.to_string()))?;
        Ok(audit::entry(&self.ground, actor, action, content.case_id(), Some(detail)))
    }

    /// The case about something, if there is one.
    async fn case_about(&self, id: &CaseId) -> Result<Option<ModerationCase>, Failure> {
        Ok(self.ground.core().moderation_case(id).get().await?)
    }

    /// A case that waits to be decided.
    fn new_case(&self, content: &Content, now: Time) -> ModerationCase {
        let id = content.case_id();
        ModerationCase {
            shard: Shard::of(&id.to_string(), self.ground.settings().shards.cases.0),
            id,
            post_id: content.post.id.clone(),
            comment_id: content.comment.as_ref().map(|comment| comment.id.clone()),
            reason: None,
            reporter_ids: Vec::new(),
            status: ModerationStatus::Pending,
            decided_by: None,
            decided_at: None,
            version: 1,
            created_at: now,
        }
    }
}

impl Content {
    /// The id of its case, whether there is one or not.
    pub fn case_id(&self) -> CaseId {
        self.target().case_id()
    }

    /// Who wrote it.
    pub fn author_id(&self) -> &UserId {
        self.comment.as_ref().map_or(&self.post.author_id, |comment| &comment.user_id)
    }

    /// What moderation says of it.
    pub fn status(&self) -> ModerationStatus {
        let comment = self.comment.as_ref().map(|comment| comment.moderation_status);
        comment.unwrap_or(self.post.moderation_status)
    }

    /// Whether it, or the post it is about, is only a tombstone.
    pub fn is_deleted(&self) -> bool {
        self.post.is_deleted || self.comment.as_ref().is_some_and(|comment| comment.is_deleted)
    }

    /// Whether its text and pictures are those of the other: what was decided about one holds for both.
    fn says_the_same(&self, other: &Self) -> bool {
        let said = |content: &Self| content.comment.as_ref().map(|it| it.content.clone());
        self.post.content == other.post.content
            && self.post.media == other.post.media
            && said(self) == said(other)
    }

    /// What a mutation would name it by.
    fn target(&self) -> Target {
        match &self.comment {
            Some(comment) => Target::Comment(comment.id.clone()),
            None => Target::Post(self.post.id.clone()),
        }
    }

    /// Demands that it is still there, and shown to the same people as when it was read.
    fn unchanged(&self) -> impl Iterator<Item = Check> {
        let comment = self.comment.as_ref().map(|comment| {
            let status = Comment::MODERATION_STATUS.is(&comment.moderation_status);
            comment.key().check(Comment::IS_DELETED.is(&false).and(status))
        });
        std::iter::once(posts::unchanged(&self.post)).chain(comment)
    }
}

impl From<Post> for Content {
    fn from(post: Post) -> Self {
        Self { post, comment: None }
    }
}

impl Target {
    /// The id of the case about it.
    fn case_id(&self) -> CaseId {
        match self {
            Self::Post(id) => id.into(),
            Self::Comment(id) => id.into(),
        }
    }

    /// The mutation that reports it.
    const fn reporting(&self) -> &'static str {
        match self {
            Self::Post(_) => "reportPost",
            Self::Comment(_) => "reportComment",
        }
    }

    /// The mutation that decides about it.
    const fn moderating(&self) -> &'static str {
        match self {
            Self::Post(_) => "moderatePost",
            Self::Comment(_) => "moderateComment",
        }
    }

    /// There is no such thing.
    const fn absent(&self) -> ModerationError {
        match self {
            Self::Post(_) => ModerationError::NoSuchPost,
            Self::Comment(_) => ModerationError::NoSuchComment,
        }
    }
}

/// Refuses whoever may not do this: moderators' work does not depend on what it is done to.
fn check_staff(caller: &Caller, act: Act) -> Result<(), Failure> {
    let standing = Standing::SIGNED_IN
        .and_if(caller.roles.moderator, Standing::MODERATOR)
        .and_if(caller.roles.admin, Standing::ADMIN);
    if allows(act, standing) { Ok(()) } else { Err(Failure::Forbidden) }
}

/// Whether a case waits for nobody.
fn is_decided(case: &ModerationCase) -> bool {
    case.status != ModerationStatus::Pending
}

/// What the audit says beside who, what and when.
#[derive(Debug, Serialize)]
struct Change<'a> {
    from: ModerationStatus,
    to: ModerationStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}
