//! Telling moderators: one report for each person and thing, and one case for all of them.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{ModerationCase, Report, User};
use roundtable_model::table::Write;
use roundtable_model::{CommentId, Entity, ModerationStatus, PostId, RequestId, UserId, rekey};

use super::{Change, Content, Moderation, ModerationError, Target, is_decided};
use crate::access::{Act, Standing, allows};
use crate::limits::{CASE_REPORTERS_MAX, REASON_CHARS_MAX, check_filled};
use crate::{Caller, Failure};

#[boxed]
impl Moderation {
    /// Reports a post. Reporting twice is reporting once; answers with the case, as far as somebody
    /// who reported may know it.
    pub async fn report_post(
        &self,
        caller: &Caller,
        post: &PostId,
        reason: &str,
        request: Option<&RequestId>,
    ) -> Result<ModerationCase, ModerationError> {
        self.report(caller, &Target::Post(post.clone()), reason, request).await
    }

    /// Reports a comment, in the same way.
    pub async fn report_comment(
        &self,
        caller: &Caller,
        comment: &CommentId,
        reason: &str,
        request: Option<&RequestId>,
    ) -> Result<ModerationCase, ModerationError> {
        self.report(caller, &Target::Comment(comment.clone()), reason, request).await
    }

    async fn report(
        &self,
        caller: &Caller,
        target: &Target,
        reason: &str,
        request: Option<&RequestId>,
    ) -> Result<ModerationCase, ModerationError> {
        let me = self.ground.account(caller).await?;
        check_filled("reason", reason, REASON_CHARS_MAX)?;
        let operation = target.reporting();
        let request = self.ground.request(&me.id, request, operation, &(target, reason))?;
        self.ground
            .once(
                request.as_ref(),
                async |target: Target| {
                    let content = self.content(&target).await?;
                    match self.filed(&me.id, &content).await? {
                        (Some(report), Some(case)) => Ok(told(case, &report)),
                        _ => Err(ModerationError::NoSuchCase),
                    }
                },
                async || {
                    let content = self.reportable(caller, &me, target).await?;
                    let earlier = match self.filed(&me.id, &content).await? {
                        (Some(report), Some(case)) => {
                            let case = told(case, &report);
                            return Ok(self.nothing_to_do(target, case, request.as_ref()).await?);
                        }
                        (_, case) => case,
                    };
                    let report = Report {
                        post_id: content.post.id.clone(),
                        subject_id: content.case_id(),
                        user_id: me.id.clone(),
                        reason: reason.to_owned(),
                        created_at: self.ground.now(),
                    };
                    let case = match &earlier {
                        Some(case) => joined(case, &report),
                        None => joined(&self.new_case(&content, report.created_at), &report),
                    };
                    let mut commit = self
                        .ground
                        .commit()
                        .with("report", report.create())
                        .with_any("content", content.unchanged())
                        .with("case", case_write(earlier.as_ref(), &case)?);
                    if let Some(earlier) = earlier.filter(is_decided) {
                        let change =
                            Change { from: earlier.status, to: case.status, reason: Some(reason) };
                        let entry = self.trail(Some(caller), operation, &content, &change)?;
                        commit = commit.with("audit", entry);
                    }
                    let commit = commit.remembering(request.as_ref(), target)?;
                    Ok(commit.done(told(case, &report)).await?)
                },
            )
            .await
    }

    /// What the caller may report: what they see, except for their own.
    async fn reportable(
        &self,
        caller: &Caller,
        me: &User,
        target: &Target,
    ) -> Result<Content, ModerationError> {
        let content = self.content(target).await?;
        let people = [&content.post.author_id, content.author_id()];
        let sight = self.ground.sight_of(caller, me, people, &content.post.group_id).await?;
        let sees =
            sight.post(&content.post) && content.comment.as_ref().is_none_or(|c| sight.comment(c));
        if !allows(Act::Report, Standing::SIGNED_IN.and_if(sees, Standing::SEES)) {
            return Err(target.absent());
        }
        if *content.author_id() == me.id {
            return Err(ModerationError::YourOwn);
        }
        // Only moderators come here; a case about what is hidden stays as it was decided.
        if content.status() != ModerationStatus::Approved {
            return Err(ModerationError::Hidden);
        }
        Ok(content)
    }

    /// What somebody has said about it already, and the case about it.
    async fn filed(
        &self,
        user: &UserId,
        content: &Content,
    ) -> Result<(Option<Report>, Option<ModerationCase>), Failure> {
        let (core, id) = (self.ground.core(), content.case_id());
        let report = core.report(&content.post.id, &id, user).get();
        Ok(futures::future::try_join(report, core.moderation_case(&id).get()).await?)
    }
}

/// The case with one more report: the reporter is named, as long as there is room, and what had been
/// decided is open again, among the newest.
fn joined(case: &ModerationCase, report: &Report) -> ModerationCase {
    let mut joined = case.clone();
    if joined.reporter_ids.len() < CASE_REPORTERS_MAX {
        joined.reporter_ids.push(report.user_id.clone());
    }
    if is_decided(case) {
        joined = ModerationCase {
            reason: None,
            status: ModerationStatus::Pending,
            decided_by: None,
            decided_at: None,
            version: case.version + 1,
            created_at: report.created_at,
            ..joined
        };
    }
    joined.reason.get_or_insert_with(|| report.reason.clone());
    joined
}

/// The write that brings a case from what it was to what it is.
fn case_write(
    earlier: Option<&ModerationCase>,
    case: &ModerationCase,
) -> Result<Write, ModerationError> {
    let Some(earlier) = earlier else { return Ok(case.create().into()) };
    if is_decided(earlier) {
        // It moves to another day, which a rekey would refuse: it is written as a whole instead.
        let unchanged = ModerationCase::VERSION.is(&earlier.version);
        return Ok(case.put().when(unchanged).into());
    }
    if earlier == case {
        // Enough are named. Only a decision would make a difference, and it would be opened again.
        let open = ModerationCase::STATUS.is(&ModerationStatus::Pending);
        return Ok(earlier.key().check(open).into());
    }
    Ok(rekey(earlier, case)?.into())
}

/// What somebody who reported may know of a case: that it is there, how it stands, and what they
/// themselves said; nothing of others.
fn told(case: ModerationCase, report: &Report) -> ModerationCase {
    ModerationCase {
        reason: Some(report.reason.clone()),
        reporter_ids: vec![report.user_id.clone()],
        decided_by: None,
        ..case
    }
}
