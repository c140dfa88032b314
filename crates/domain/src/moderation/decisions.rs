//! Deciding: the case and what it is about change together, on the status they were read with.

use std::sync::OnceLock;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Comment, Group, ModerationCase, Post, User};
use roundtable_model::table::{Condition, Write};
use roundtable_model::{
    CommentId, Entity, ModerationStatus, PostId, RequestId, Time, UserId, UserStatus, rekey,
};

use super::{Change, Content, Moderation, ModerationError, Target, check_staff, is_decided};
use crate::access::Act;
use crate::activities::{News, publish};
use crate::commit::Commit;
use crate::limits::{REASON_CHARS_MAX, check_text};
use crate::once::{Request, Tried};
use crate::{Caller, Failure};

/// Why the system rejects what was written for a group that is gone.
const GROUP_GONE: &str = "the group is gone";

/// What somebody wants to be true of a post or comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decision<'a> {
    pub(super) status: ModerationStatus,
    pub(super) reason: Option<&'a str>,
    /// Who decides; `None` when the system does.
    pub(super) by: Option<&'a Caller>,
}

#[boxed]
impl Moderation {
    /// Shows or hides a post. PENDING cannot be decided: it is how cases begin. A post that was never
    /// published is when it is approved for the first time, and enters feeds then; one that was
    /// published keeps its place, however often it is hidden and shown again.
    pub async fn moderate_post(
        &self,
        caller: &Caller,
        post: &PostId,
        status: ModerationStatus,
        reason: Option<&str>,
        request: Option<&RequestId>,
    ) -> Result<Post, ModerationError> {
        let target = Target::Post(post.clone());
        let decision = Decision { status, reason, by: Some(caller) };
        Ok(self.moderate(caller, &target, decision, request).await?.post)
    }

    /// Shows or hides a comment.
    pub async fn moderate_comment(
        &self,
        caller: &Caller,
        comment: &CommentId,
        status: ModerationStatus,
        reason: Option<&str>,
        request: Option<&RequestId>,
    ) -> Result<Comment, ModerationError> {
        let target = Target::Comment(comment.clone());
        let decision = Decision { status, reason, by: Some(caller) };
        let content = self.moderate(caller, &target, decision, request).await?;
        content.comment.ok_or(ModerationError::NoSuchComment)
    }

    async fn moderate(
        &self,
        caller: &Caller,
        target: &Target,
        decision: Decision<'_>,
        request: Option<&RequestId>,
    ) -> Result<Content, ModerationError> {
        self.ground.account(caller).await?;
        check_staff(caller, Act::Moderate)?;
        let Decision { status, reason, .. } = decision;
        if status == ModerationStatus::Pending {
            return Err(ModerationError::NotADecision);
        }
        check_text("reason", reason.unwrap_or_default(), REASON_CHARS_MAX)?;
        let (operation, input) = (target.moderating(), (target, status, reason));
        let request = self.ground.request(&caller.user_id, request, operation, &input)?;
        // What it said, and what had been decided, when this was first looked at.
        let first: OnceLock<(Option<Decided>, Content)> = OnceLock::new();
        self.ground
            .once(
                request.as_ref(),
                async |target: Target| self.content(&target).await,
                async || {
                    // The case is read first: a decision after it refuses this one.
                    let case = self.case_about(&target.case_id()).await?;
                    let content = self.content(target).await?;
                    let decided = case.as_ref().and_then(Decided::of);
                    let (known, read) = first.get_or_init(|| (decided.clone(), content.clone()));
                    let is_new = *known != decided;
                    match decided {
                        Some(decided) if decided.agrees(decision, &content, is_new) => {
                            let done = self.nothing_to_do(target, content, request.as_ref());
                            return Ok(done.await?);
                        }
                        // Somebody else was faster: what they decided should be seen first.
                        Some(_) if is_new => return Err(ModerationError::DecidedMeanwhile),
                        _ => {}
                    }
                    if !content.says_the_same(read) {
                        return Err(ModerationError::ChangedMeanwhile);
                    }
                    self.decide(target, content, case, decision, request.as_ref()).await
                },
            )
            .await
    }

    /// Writes a decision; answers with what it is about, as it is then. What was written for a group
    /// that has gone meanwhile can no longer come out: it is rejected instead, so that nobody has to
    /// look at it again, and whoever wanted to show it is told that it is not there.
    pub(super) async fn decide(
        &self,
        target: &Target,
        content: Content,
        case: Option<ModerationCase>,
        decision: Decision<'_>,
        request: Option<&Request>,
    ) -> Result<Tried<Content>, ModerationError> {
        if decision.status != ModerationStatus::Approved || !self.is_stranded(&content).await? {
            return self.write(target, content, case, decision, request).await;
        }
        if content.status() == ModerationStatus::Pending {
            let (status, reason) = (ModerationStatus::Rejected, Some(GROUP_GONE));
            let decision = Decision { status, reason, by: None };
            if let Tried::Again = self.write(target, content, case, decision, None).await? {
                return Ok(Tried::Again);
            }
        }
        Err(target.absent())
    }

    /// Whether it is a post that was never out, for a group that is gone.
    async fn is_stranded(&self, content: &Content) -> Result<bool, Failure> {
        let Content { post, comment } = content;
        let (Some(group), None, None) = (&post.group_id, post.published_at, comment) else {
            return Ok(false);
        };
        Ok(self.ground.core().group(group).get().await?.is_none())
    }

    /// Writes a decision that can be carried out.
    async fn write(
        &self,
        target: &Target,
        content: Content,
        case: Option<ModerationCase>,
        decision: Decision<'_>,
        request: Option<&Request>,
    ) -> Result<Tried<Content>, ModerationError> {
        let (now, to) = (self.ground.now(), decision.status);
        let from = case.as_ref().map_or(content.status(), |case| case.status);
        let change = Change { from, to, reason: decision.reason };
        let entry = self.trail(decision.by, target.moderating(), &content, &change)?;
        let case: Write = match case {
            Some(case) => rekey(&case, &decision.closing(case.clone(), now))?.into(),
            None => decision.closing(self.new_case(&content, now), now).create().into(),
        };
        let mut commit = self.ground.commit().with("audit", entry).with("case", case);
        commit = commit.remembering(request, target)?;
        let Content { post, comment } = content;
        match comment {
            None => self.decide_post(post, to, commit).await,
            Some(comment) => {
                let live = post.key().check(Post::IS_DELETED.is(&false));
                let patch = comment.key().patch().set(Comment::MODERATION_STATUS, &to);
                let commit =
                    commit.with("post", live).with("comment", patch.when(as_read(&comment)));
                let comment = Some(Comment { moderation_status: to, ..comment });
                Ok(commit.done(Content { post, comment }).await?)
            }
        }
    }

    /// Writes the part of a decision that is the post's.
    async fn decide_post(
        &self,
        post: Post,
        status: ModerationStatus,
        commit: Commit<'_>,
    ) -> Result<Tried<Content>, ModerationError> {
        if post.moderation_status == status {
            let unchanged = post.key().check(Post::VERSION.is(&post.version));
            return Ok(commit.with("post", unchanged).done(post.into()).await?);
        }
        let version = post.version + 1;
        let mut decided = Post { moderation_status: status, version, ..post.clone() };
        if status != ModerationStatus::Approved || post.published_at.is_some() {
            return Ok(commit.with("post", rekey(&post, &decided)?).done(decided.into()).await?);
        }
        // It was never out. Whoever goes away meanwhile takes what they wrote with them.
        let author = self.ground.core().profile(&post.author_id).strong().get().await?;
        let author = author.filter(|author| author.status != UserStatus::Deleted);
        let author = author.ok_or(ModerationError::NoSuchPost)?;
        let same =
            User::STATUS.is_not(&UserStatus::Deleted).and(User::IS_PRIVATE.is(&author.is_private));
        let published = publish(&self.ground, News::of_publication(&post)).await?;
        decided.author_is_private = author.is_private;
        decided.published_at = Some(published.activity.created_at);
        let commit = published
            .in_commit(commit)
            .with("post", rekey(&post, &decided)?)
            .with("author", author.key().check(same))
            .with_any("group", post.group_id.iter().map(|group| Group::at(group).exists()));
        Ok(commit.done(decided.into()).await?)
    }
}

/// The comment is still there, and says what was decided about.
fn as_read(comment: &Comment) -> Condition {
    Comment::IS_DELETED
        .is(&false)
        .and(Comment::MODERATION_STATUS.is(&comment.moderation_status))
        .and(Comment::CONTENT.is(&comment.content))
}

/// How a case was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Decided {
    status: ModerationStatus,
    reason: Option<String>,
    by: Option<UserId>,
    at: Option<Time>,
}

impl Decided {
    fn of(case: &ModerationCase) -> Option<Self> {
        is_decided(case).then(|| Self {
            status: case.status,
            reason: case.reason.clone(),
            by: case.decided_by.clone(),
            at: case.decided_at,
        })
    }

    /// Whether a decision would change nothing. Of one made at the same moment, only the status
    /// matters.
    fn agrees(&self, decision: Decision<'_>, content: &Content, is_new: bool) -> bool {
        let Decision { status, reason, .. } = decision;
        self.status == status
            && content.status() == status
            && (is_new || reason.is_none() || reason == self.reason.as_deref())
    }
}

impl Decision<'_> {
    /// The case, with this decision. Why it was opened stays where no other reason is given.
    fn closing(self, case: ModerationCase, now: Time) -> ModerationCase {
        ModerationCase {
            status: self.status,
            reason: self.reason.map(str::to_owned).or(case.reason),
            decided_by: self.by.map(|by| by.user_id.clone()),
            decided_at: Some(now),
            ..case
        }
    }
}
