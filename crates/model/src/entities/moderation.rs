//! Reports, moderation cases and the audit log. They hide nothing: the post or comment carries its
//! own status.

use roundtable_table::Attributes;

use crate::{
    AuditId, CaseId, CommentId, Expiry, Fields, GroupId, Json, ModerationStatus, PostId, RoomId,
    Shard, SubjectId, Time, UserId,
};

/// A post, comment, user, group or message under moderation.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct ModerationCase {
    /// The id of what it is about, so that there is one case for each.
    pub id: CaseId,
    /// The post, or the comment's post, if the case is about either.
    pub post_id: Option<PostId>,
    /// The comment, if the case is about one.
    pub comment_id: Option<CommentId>,
    /// The user, if the case is about one.
    pub user_id: Option<UserId>,
    /// The group, if the case is about one.
    pub group_id: Option<GroupId>,
    /// The room of the message, if the case is about one.
    pub room_id: Option<RoomId>,
    /// The reason it was opened or decided.
    pub reason: Option<String>,
    /// The users who reported it.
    pub reporter_ids: Vec<UserId>,
    /// The decision; `PENDING` until there is one.
    pub status: ModerationStatus,
    pub decided_by: Option<UserId>,
    pub decided_at: Option<Time>,
    /// The shard of its day it is listed in.
    pub shard: Shard,
    /// Incremented by every change of a key.
    pub version: u64,
    pub created_at: Time,
    /// The time a case about a user, a group or a message expires: it is too old for the queue by then.
    pub ttl: Option<Expiry>,
}

/// A user's report of a user, a group or a message.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct CaseReport {
    /// The case, which has the id of what was reported.
    pub case_id: CaseId,
    pub user_id: UserId,
    pub reason: String,
    pub created_at: Time,
    /// The time the report expires.
    pub ttl: Option<Expiry>,
}

/// A user's report of a post or comment.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Report {
    /// The post, or the comment's post.
    pub post_id: PostId,
    /// The case, which has the id of the reported post or comment.
    #[attribute("caseId")]
    pub subject_id: CaseId,
    pub user_id: UserId,
    pub reason: String,
    pub created_at: Time,
}

/// An entry of the audit log: an action of a user or of the system.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Audit {
    pub created_at: Time,
    /// The shard of its day it is listed in.
    pub shard: Shard,
    pub id: AuditId,
    /// The user who did it; absent when the system did.
    pub actor: Option<UserId>,
    /// The action, as the API names it.
    pub action: String,
    /// The affected user or object.
    pub subject: SubjectId,
    /// Further details: the status before and after, the reason given.
    pub detail: Option<Json>,
}

impl Audit {
    /// The second shape is also listed by actor and subject; its fields are the same.
    #[expect(clippy::unnecessary_wraps, reason = "other upgrades can fail")]
    pub(crate) fn listed_by_actor_and_subject(_: &mut Attributes) -> Result<(), InvalidField> {
        Ok(())
    }
}
