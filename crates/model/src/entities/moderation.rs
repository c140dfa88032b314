//! What was reported, what moderators decided, and who did what. Nothing is hidden by it: the post
//! or comment carries its own status.

use crate::{
    AuditId, CaseId, CommentId, Fields, Json, ModerationStatus, PostId, Shard, SubjectId, Time,
    UserId,
};

/// Something moderators must look at, or have.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct ModerationCase {
    /// Which case: the id of the post or comment, so there is one for each.
    pub id: CaseId,
    /// The post, or the post of the comment.
    pub post_id: PostId,
    /// The comment, if it is about one.
    pub comment_id: Option<CommentId>,
    /// Why it was opened or how it was decided.
    pub reason: Option<String>,
    /// Who reported it.
    pub reporter_ids: Vec<UserId>,
    /// What was decided, if anything.
    pub status: ModerationStatus,
    /// Who decided.
    pub decided_by: Option<UserId>,
    /// When.
    pub decided_at: Option<Time>,
    /// The part of its day it is listed under.
    pub shard: Shard,
    /// Raised by every change of a key.
    pub version: u64,
    /// When it was opened.
    pub created_at: Time,
}

/// Somebody finds that a post or comment should not be there.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Report {
    /// The post, or the post of the comment.
    pub post_id: PostId,
    /// The case, which has the id of what is reported.
    #[attribute("caseId")]
    pub subject_id: CaseId,
    /// Who reports it.
    pub user_id: UserId,
    /// Why.
    pub reason: String,
    /// When.
    pub created_at: Time,
}

/// Who did what with whose content.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Audit {
    /// When.
    pub created_at: Time,
    /// The part of its day it is listed under.
    pub shard: Shard,
    /// Which entry.
    pub id: AuditId,
    /// Who did it; absent when the system did.
    pub actor: Option<UserId>,
    /// What was done, as the API names it.
    pub action: String,
    /// To whom or what.
    pub subject: SubjectId,
    /// What else matters: the status before and after, the reason given.
    pub detail: Option<Json>,
}
