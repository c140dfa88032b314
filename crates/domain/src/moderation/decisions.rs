//! Decisions: a case and its content change together, on the condition that both are unchanged.

use std::sync::OnceLock;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Comment, Group, ModerationCase, Post, User};
use roundtable_model::table::{Condition, Write};
use roundtable_model::{
    CommentId, Entity, ModerationStatus, PostId, RequestId, Time, UserId, rekey,
};

use super::{
    ModeratedContent, Moderation, ModerationError, ModerationTarget, StatusChange, is_decided,
};
use crate::access::Permission;
use crate::account::is_not_deleted;
use crate::activities::{ActivityDraft, prepare_activity};
use crate::commit::Commit;
use crate::limits::{REASON_CHARS_MAX, check_text};
use crate::mutation::{Attempt, AttemptOutcome};
use crate::{Caller, ServiceError};

/// The reason for automatically rejecting a post of a deleted group.
const GROUP_DELETED: &str = "the group was deleted";

#[derive(Clone, Copy, Debug)]
pub(super) struct ModerationDecision<'a> {
    pub(super) status: ModerationStatus,
    pub(super) reason: Option<&'a str>,
    /// `None` when the system decides.
    pub(super) by: Option<&'a Caller>,
}

#[boxed]
impl Moderation {
    /// Shows or hides a post. PENDING is refused: it is the initial status only. The first approval
    /// publishes the post and puts it into feeds; after that it keeps its position, however often
    /// it is hidden and shown again.
    pub async fn moderate_post(
        &self,
        caller: &Caller,
        post: &PostId,
        status: ModerationStatus,
        reason: Option<&str>,
        request: Option<&RequestId>,
    ) -> Result<Post, ModerationError> {
        let target = ModerationTarget::Post(post.clone());
        let decision = ModerationDecision { status, reason, by: Some(caller) };
        Ok(self.moderate(caller, &target, decision, request).await?.post)
    }

    pub async fn moderate_comment(
        &self,
        caller: &Caller,
        comment: &CommentId,
        status: ModerationStatus,
        reason: Option<&str>,
        request: Option<&RequestId>,
    ) -> Result<Comment, ModerationError> {
        let target = ModerationTarget::Comment(comment.clone());
        let decision = ModerationDecision { status, reason, by: Some(caller) };
        let content = self.moderate(caller, &target, decision, request).await?;
        content.comment.ok_or(ModerationError::NoSuchComment)
    }

    async fn moderate(
        &self,
        caller: &Caller,
        target: &ModerationTarget,
        decision: ModerationDecision<'_>,
        request: Option<&RequestId>,
    ) -> Result<ModeratedContent, ModerationError> {
        let mutation = self.context.mutation(caller).await?;
        mutation.staff(Permission::Moderate)?;
        let ModerationDecision { status, reason, .. } = decision;
        if status == ModerationStatus::Pending {
            return Err(ModerationError::InvalidDecision);
        }
        check_text("reason", reason.unwrap_or_default(), REASON_CHARS_MAX)?;
        let (operation, input) = (target.moderate_operation(), (target, status, reason));
        // The content and the decision at the first attempt.
        let first: OnceLock<(Option<CaseDecision>, ModeratedContent)> = OnceLock::new();
        mutation
            .once(operation, &input, request)?
            .replay(async |target: ModerationTarget| self.content(&target).await)
            .run(async |_, attempt| {
                // The case is read first, so that a later decision fails this one's condition.
                let case = self.find_case(&target.case_id()).await?;
                let content = self.content(target).await?;
                let decided = case.as_ref().and_then(CaseDecision::of);
                let (first_decision, first_content) =
                    first.get_or_init(|| (decided.clone(), content.clone()));
                let is_new = *first_decision != decided;
                match decided {
                    Some(decided) if decided.is_satisfied_by(decision, &content, is_new) => {
                        return attempt.unchanged(target, content).await;
                    }
                    // Decided concurrently: the caller should see that decision first.
                    Some(_) if is_new => return Err(ModerationError::ConcurrentDecision),
                    _ => {}
                }
                if !content.has_same_text(first_content) {
                    return Err(ModerationError::ContentChanged);
                }
                self.decide(target, content, case, decision, attempt).await
            })
            .await
    }

    /// Writes a decision and returns the updated content. An unpublished post of a deleted group
    /// can no longer be approved: it is rejected instead, so that it leaves the queue, and the
    /// caller is told that it does not exist.
    pub(super) async fn decide(
        &self,
        target: &ModerationTarget,
        content: ModeratedContent,
        case: Option<ModerationCase>,
        decision: ModerationDecision<'_>,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<ModeratedContent>, ModerationError> {
        if decision.status != ModerationStatus::Approved
            || !self.is_for_deleted_group(&content).await?
        {
            return self.write(target, content, case, decision, attempt).await;
        }
        if content.status() == ModerationStatus::Pending {
            let (status, reason) = (ModerationStatus::Rejected, Some(GROUP_DELETED));
            let decision = ModerationDecision { status, reason, by: None };
            // The caller's request has failed, so it is not recorded.
            let attempt = attempt.unrecorded();
            let written = self.write(target, content, case, decision, attempt).await?;
            if matches!(written, AttemptOutcome::Retry) {
                return Ok(AttemptOutcome::Retry);
            }
        }
        Err(target.not_found())
    }

    /// Returns whether it is an unpublished post of a deleted group.
    async fn is_for_deleted_group(&self, content: &ModeratedContent) -> Result<bool, ServiceError> {
        let ModeratedContent { post, comment } = content;
        let (Some(group), None, None) = (&post.group_id, post.published_at, comment) else {
            return Ok(false);
        };
        Ok(self.context.core().group(group).get().await?.is_none())
    }

    async fn write(
        &self,
        target: &ModerationTarget,
        content: ModeratedContent,
        case: Option<ModerationCase>,
        decision: ModerationDecision<'_>,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<ModeratedContent>, ModerationError> {
        let (now, to) = (self.context.now(), decision.status);
        let from = case.as_ref().map_or(content.status(), |case| case.status);
        let change = StatusChange { from, to, reason: decision.reason };
        let entry =
            self.audit_entry(decision.by, target.moderate_operation(), &content, &change)?;
        let case: Write = match case {
            Some(case) => rekey(&case, &decision.closing(case.clone(), now))?.into(),
            None => decision.closing(self.new_case(&content, now), now).create().into(),
        };
        let commit = attempt.commit().with("audit", entry).with("case", case);
        let ModeratedContent { post, comment } = content;
        match comment {
            None => self.decide_post(target, post, to, commit, attempt).await,
            Some(comment) => {
                let not_deleted = post.key().check(Post::IS_DELETED.is(&false));
                let patch = comment.key().patch().set(Comment::MODERATION_STATUS, &to);
                let commit =
                    commit.with("post", not_deleted).with("comment", patch.when(as_read(&comment)));
                let comment = Some(Comment { moderation_status: to, ..comment });
                commit.finish(target, ModeratedContent { post, comment }).await
            }
        }
    }

    async fn decide_post(
        &self,
        target: &ModerationTarget,
        post: Post,
        status: ModerationStatus,
        commit: Commit<'_>,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<ModeratedContent>, ModerationError> {
        if post.moderation_status == status {
            let unchanged = post.key().check(Post::VERSION.is(&post.version));
            return commit.with("post", unchanged).finish(target, post.into()).await;
        }
        let version = post.version + 1;
        let mut decided = Post { moderation_status: status, version, ..post.clone() };
        if status != ModerationStatus::Approved || post.published_at.is_some() {
            let commit = commit.with("post", rekey(&post, &decided)?);
            return commit.finish(target, decided.into()).await;
        }
        // First publication: the author's account must still exist.
        let author = self.context.existing_account(&post.author_id).await?;
        let author = author.ok_or(ModerationError::NoSuchPost)?;
        let same = is_not_deleted().and(User::IS_PRIVATE.is(&author.is_private));
        let draft = ActivityDraft::of_publication(&post);
        let published = prepare_activity(&self.context, attempt, draft).await?;
        decided.author_is_private = author.is_private;
        decided.published_at = Some(published.activity.created_at);
        let commit = published
            .add_to(commit)
            .with("post", rekey(&post, &decided)?)
            .with("author", author.key().check(same))
            .with_all("group", post.group_id.iter().map(|group| Group::at(group).exists()));
        commit.finish(target, decided.into()).await
    }
}

/// Requires that the comment exists with the text that was decided about.
fn as_read(comment: &Comment) -> Condition {
    Comment::IS_DELETED
        .is(&false)
        .and(Comment::MODERATION_STATUS.is(&comment.moderation_status))
        .and(Comment::CONTENT.is(&comment.content))
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct CaseDecision {
    status: ModerationStatus,
    reason: Option<String>,
    by: Option<UserId>,
    at: Option<Time>,
}

impl CaseDecision {
    fn of(case: &ModerationCase) -> Option<Self> {
        is_decided(case).then(|| Self {
            status: case.status,
            reason: case.reason.clone(),
            by: case.decided_by.clone(),
            at: case.decided_at,
        })
    }

    /// Returns whether a decision would change nothing. If the case was decided concurrently, only
    /// the status has to match.
    fn is_satisfied_by(
        &self,
        decision: ModerationDecision<'_>,
        content: &ModeratedContent,
        is_new: bool,
    ) -> bool {
        let ModerationDecision { status, reason, .. } = decision;
        self.status == status
            && content.status() == status
            && (is_new || reason.is_none() || reason == self.reason.as_deref())
    }
}

impl ModerationDecision<'_> {
    /// Closes the case. The original reason stays if the decision gives none.
    pub(super) fn closing(self, case: ModerationCase, now: Time) -> ModerationCase {
        ModerationCase {
            status: self.status,
            reason: self.reason.map(str::to_owned).or(case.reason),
            decided_by: self.by.map(|by| by.user_id.clone()),
            decided_at: Some(now),
            ..case
        }
    }
}
