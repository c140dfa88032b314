//! Reads for moderators: the case queue, reports and the audit log.

use std::collections::HashMap;

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Audit, Comment, ModerationCase, Report};
use roundtable_model::{CaseId, Day, Days, ModerationStatus, PostId, SubjectId, UserId};

use super::{ModeratedContent, Moderation, ModerationError, ModerationSubject};
use crate::access::Permission;
use crate::comments::comments;
use crate::limits::REVIEW_DAYS_MAX;
use crate::pages::fill_page;
use crate::{Caller, Page, PageInput, ServiceError};

#[boxed]
impl Moderation {
    /// Returns the cases of a status (PENDING by default), newest first, up to [`REVIEW_DAYS_MAX`]
    /// back. A reopened case counts as new; cases of deleted content are omitted.
    pub async fn queue(
        &self,
        caller: &Caller,
        status: Option<ModerationStatus>,
        page: &PageInput,
    ) -> Result<Page<ModerationSubject>, ModerationError> {
        self.check_reader(caller, Permission::SeeModerationQueue).await?;
        let status = status.unwrap_or(ModerationStatus::Pending);
        let (days, shards) = (self.days(None), self.context.settings().shards.cases.0);
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().moderation_queue(&status, days, shards);
                listing.limit(limit).after(after).page().await
            },
            async |cases| Ok(self.subjects(cases).await?),
        )
        .await
    }

    pub async fn case(
        &self,
        caller: &Caller,
        id: &CaseId,
    ) -> Result<ModerationSubject, ModerationError> {
        self.check_reader(caller, Permission::SeeModerationQueue).await?;
        let case = self.find_case(id).await?.ok_or(ModerationError::NoSuchCase)?;
        let subject = self.subjects(vec![case]).await?.into_iter().flatten().next();
        subject.ok_or(ModerationError::NoSuchCase)
    }

    /// Returns cases in the order of `ids`; `None` where one does not exist.
    pub async fn cases(
        &self,
        caller: &Caller,
        ids: &[CaseId],
    ) -> Result<Vec<Option<ModerationSubject>>, ModerationError> {
        self.check_reader(caller, Permission::SeeModerationQueue).await?;
        let item_keys = ids.iter().map(ModerationCase::at);
        let found = self.context.items_at("moderation_case", item_keys).await?;
        let existing = found.iter().flatten().cloned().collect();
        let mut subjects = self.subjects(existing).await?.into_iter();
        Ok(found.into_iter().map(|case| case.and_then(|_| subjects.next()?)).collect())
    }

    /// Returns the reports of a case.
    pub async fn reports(
        &self,
        caller: &Caller,
        id: &CaseId,
        page: &PageInput,
    ) -> Result<Page<Report>, ModerationError> {
        let post = self.case(caller, id).await?.case.post_id;
        fill_page(
            page,
            async |limit, after| {
                self.context.core().reports(&post, id).limit(limit).after(after).page().await
            },
            async |reports| Ok(reports.into_iter().map(Some).collect()),
        )
        .await
    }

    /// Returns the audit log, newest first: from `newest` (today by default) back to `oldest`, at
    /// most [`REVIEW_DAYS_MAX`] days.
    pub async fn audit(
        &self,
        caller: &Caller,
        newest: Option<Day>,
        oldest: Option<Day>,
        page: &PageInput,
    ) -> Result<Page<Audit>, ModerationError> {
        self.check_reader(caller, Permission::SeeAudit).await?;
        let reach = self.days(newest);
        let oldest = oldest.map_or(reach.oldest, |oldest| oldest.max(reach.oldest));
        let days = Days { oldest, ..reach };
        let shards = self.context.settings().shards.audit.0;
        fill_page(
            page,
            async |limit, after| {
                self.context.core().audit(days, shards).limit(limit).after(after).page().await
            },
            async |entries| Ok(entries.into_iter().map(Some).collect()),
        )
        .await
    }

    /// Returns what a user did that is in the audit log, newest first.
    pub async fn audit_by(
        &self,
        caller: &Caller,
        actor: &UserId,
        page: &PageInput,
    ) -> Result<Page<Audit>, ModerationError> {
        self.check_reader(caller, Permission::SeeAudit).await?;
        fill_page(
            page,
            async |limit, after| {
                self.context.core().audit_by(actor).limit(limit).after(after).page().await
            },
            async |entries| Ok(entries.into_iter().map(Some).collect()),
        )
        .await
    }

    /// Returns the audit log about one user or object, newest first.
    pub async fn audit_of(
        &self,
        caller: &Caller,
        subject: &SubjectId,
        page: &PageInput,
    ) -> Result<Page<Audit>, ModerationError> {
        self.check_reader(caller, Permission::SeeAudit).await?;
        fill_page(
            page,
            async |limit, after| {
                self.context.core().audit_of(subject).limit(limit).after(after).page().await
            },
            async |entries| Ok(entries.into_iter().map(Some).collect()),
        )
        .await
    }

    fn days(&self, newest: Option<Day>) -> Days {
        let today = self.context.now().day();
        // The writer's clock may already be in the next day.
        let newest = newest.or(today.next()).unwrap_or(today);
        Days::up_to(newest, REVIEW_DAYS_MAX)
    }

    async fn check_reader(
        &self,
        caller: &Caller,
        permission: Permission,
    ) -> Result<(), ServiceError> {
        self.context.authorize_staff(caller, permission).await?;
        Ok(())
    }

    /// Reads the content of cases in batches; `None` where it has been deleted.
    pub(super) async fn subjects(
        &self,
        cases: Vec<ModerationCase>,
    ) -> Result<Vec<Option<ModerationSubject>>, ServiceError> {
        let ids: Vec<PostId> = cases.iter().map(|case| case.post_id.clone()).collect();
        let posts = async { Ok(self.context.core().posts(&ids).strong().get().await?) };
        let (posts, comments) = try_join(posts, self.comments(&cases)).await?;
        let subjects = cases.into_iter().zip(posts).map(|(case, post)| {
            let comment = match &case.comment_id {
                Some(_) => Some(comments.get(&case.id)?.clone()),
                None => None,
            };
            let content = ModeratedContent { post: post?, comment };
            (!content.is_deleted()).then_some(ModerationSubject { case, content })
        });
        Ok(subjects.collect())
    }

    async fn comments(
        &self,
        cases: &[ModerationCase],
    ) -> Result<HashMap<CaseId, Comment>, ServiceError> {
        let item_keys =
            cases.iter().filter_map(|case| Some((&case.post_id, case.comment_id.as_ref()?)));
        let found = comments(&self.context, item_keys).await?;
        Ok(found.into_iter().flatten().map(|comment| ((&comment.id).into(), comment)).collect())
    }
}
