//! Reports: one per user and item, and one case for all reports of an item.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{CaseReport, ModerationCase, Report, User};
use roundtable_model::table::Write;
use roundtable_model::{
    CommentId, Entity, ModerationStatus, PostId, RequestId, Time, UserId, rekey,
};

use super::{
    ModeratedContent, Moderation, ModerationError, ModerationTarget, StatusChange, is_decided,
};
use crate::access::{Permission, Relations, allows};
use crate::limits::{CASE_REPORTERS_MAX, REASON_CHARS_MAX, check_filled};
use crate::{Caller, ServiceError};

#[boxed]
impl Moderation {
    /// Reports a post. Repeating it has no effect. Returns the case as far as a reporter may see
    /// it.
    pub async fn report_post(
        &self,
        caller: &Caller,
        post: &PostId,
        reason: &str,
        request: Option<&RequestId>,
    ) -> Result<ModerationCase, ModerationError> {
        self.report(caller, &ModerationTarget::Post(post.clone()), reason, request).await
    }

    pub async fn report_comment(
        &self,
        caller: &Caller,
        comment: &CommentId,
        reason: &str,
        request: Option<&RequestId>,
    ) -> Result<ModerationCase, ModerationError> {
        self.report(caller, &ModerationTarget::Comment(comment.clone()), reason, request).await
    }

    async fn report(
        &self,
        caller: &Caller,
        target: &ModerationTarget,
        reason: &str,
        request: Option<&RequestId>,
    ) -> Result<ModerationCase, ModerationError> {
        let mutation = self.context.mutation(caller).await?;
        check_filled("reason", reason, REASON_CHARS_MAX)?;
        let operation = target.report_operation();
        mutation
            .once(operation, &(target, reason), request)?
            .replay(async |target: ModerationTarget| {
                let content = self.content(&target).await?;
                match self.existing_report(&caller.user_id, &content).await? {
                    (Some(report), Some(case)) => Ok(redacted_case(case, &report.text())),
                    _ => Err(ModerationError::NoSuchCase),
                }
            })
            .run(async |me, attempt| {
                let content = self.reportable(caller, &me, target).await?;
                let earlier = match self.existing_report(&me.id, &content).await? {
                    (Some(report), Some(case)) => {
                        let case = redacted_case(case, &report.text());
                        return attempt.unchanged(target, case).await;
                    }
                    (_, case) => case,
                };
                let report = Report {
                    post_id: content.post.id.clone(),
                    subject_id: content.case_id(),
                    user_id: me.id.clone(),
                    reason: reason.to_owned(),
                    created_at: self.context.now(),
                };
                let case = match &earlier {
                    Some(case) => with_report(case, &report.text()),
                    None => {
                        with_report(&self.new_case(&content, report.created_at), &report.text())
                    }
                };
                let mut commit = attempt
                    .commit()
                    .with("report", report.create())
                    .with_all("content", content.unchanged())
                    .with("case", case_write(earlier.as_ref(), &case)?);
                if let Some(earlier) = earlier.filter(is_decided) {
                    let change = StatusChange {
                        from: earlier.status,
                        to: case.status,
                        reason: Some(reason),
                    };
                    let entry = self.audit_entry(Some(caller), operation, &content, &change)?;
                    commit = commit.with("audit", entry);
                }
                commit.finish(target, redacted_case(case, &report.text())).await
            })
            .await
    }

    /// Returns the content, if the caller sees it and is not its author.
    async fn reportable(
        &self,
        caller: &Caller,
        me: &User,
        target: &ModerationTarget,
    ) -> Result<ModeratedContent, ModerationError> {
        let content = self.content(target).await?;
        let people = [&content.post.author_id, content.author_id()];
        let access =
            self.context.viewer_access_of(caller, me, people, &content.post.group_id).await?;
        let sees = access.can_see_post(&content.post)
            && content.comment.as_ref().is_none_or(|c| access.can_see_comment(c));
        if !allows(Permission::Report, Relations::SIGNED_IN.with_if(sees, Relations::CAN_SEE)) {
            return Err(target.not_found());
        }
        if *content.author_id() == me.id {
            return Err(ModerationError::OwnContent);
        }
        // Only moderators see hidden content; its case stays as decided.
        if content.status() != ModerationStatus::Approved {
            return Err(ModerationError::AlreadyHidden);
        }
        Ok(content)
    }

    /// The user's existing report, and the case.
    async fn existing_report(
        &self,
        user: &UserId,
        content: &ModeratedContent,
    ) -> Result<(Option<Report>, Option<ModerationCase>), ServiceError> {
        let (core, id) = (self.context.core(), content.case_id());
        let report = core.report(&content.post.id, &id, user).get();
        Ok(futures::future::try_join(report, core.moderation_case(&id).get()).await?)
    }
}

/// The part of a report that a case repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportText<'a> {
    user_id: &'a UserId,
    reason: &'a str,
    created_at: Time,
}

/// A report of content, or of a user, a group or a message.
pub(super) trait ReportSource {
    fn text(&self) -> ReportText<'_>;
}

impl ReportSource for Report {
    fn text(&self) -> ReportText<'_> {
        let Self { user_id, reason, created_at, .. } = self;
        ReportText { user_id, reason, created_at: *created_at }
    }
}

impl ReportSource for CaseReport {
    fn text(&self) -> ReportText<'_> {
        let Self { user_id, reason, created_at, .. } = self;
        ReportText { user_id, reason, created_at: *created_at }
    }
}

/// Adds a report: names the reporter while there is room, and reopens a decided case as a new one.
pub(super) fn with_report(case: &ModerationCase, report: &ReportText<'_>) -> ModerationCase {
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
    joined.reason.get_or_insert_with(|| report.reason.to_owned());
    joined
}

pub(super) fn case_write(
    earlier: Option<&ModerationCase>,
    case: &ModerationCase,
) -> Result<Write, ModerationError> {
    let Some(earlier) = earlier else { return Ok(case.create().into()) };
    if is_decided(earlier) {
        // Its day changes, which a rekey would refuse, so it is written as a whole.
        let unchanged = ModerationCase::VERSION.is(&earlier.version);
        return Ok(case.put().when(unchanged).into());
    }
    if earlier == case {
        // The list of reporters is full; the case only has to be still open.
        let open = ModerationCase::STATUS.is(&ModerationStatus::Pending);
        return Ok(earlier.key().check(open).into());
    }
    Ok(rekey(earlier, case)?.into())
}

/// Hides the other reporters and the decider from a reporter.
pub(super) fn redacted_case(case: ModerationCase, report: &ReportText<'_>) -> ModerationCase {
    ModerationCase {
        reason: Some(report.reason.to_owned()),
        reporter_ids: vec![report.user_id.clone()],
        decided_by: None,
        ..case
    }
}
