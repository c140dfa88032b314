//! Reads for moderators: the case queue, reports and the audit log.

use std::collections::HashMap;

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Audit, CaseReport, Comment, Message, ModerationCase, Report};
use roundtable_model::{
    CaseId, Day, Days, GroupId, MessageId, ModerationStatus, PostId, SubjectId, UserId, UserStatus,
};

use super::{
    CaseSubject, ModeratedContent, Moderation, ModerationError, ModerationSubject, ReviewedCase,
};
use crate::access::Permission;
use crate::accounts::public_profile;
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
    ) -> Result<Page<ReviewedCase>, ModerationError> {
        self.check_reader(caller, Permission::SeeModerationQueue).await?;
        let status = status.unwrap_or(ModerationStatus::Pending);
        let (days, shards) = (self.days(None), self.context.settings().shards.cases.0);
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().moderation_queue(&status, days, shards);
                listing.limit(limit).after(after).page().await
            },
            async |cases| Ok(self.reviewed(cases).await?),
        )
        .await
    }

    pub async fn case(
        &self,
        caller: &Caller,
        id: &CaseId,
    ) -> Result<ReviewedCase, ModerationError> {
        self.check_reader(caller, Permission::SeeModerationQueue).await?;
        let case = self.find_case(id).await?.ok_or(ModerationError::NoSuchCase)?;
        let reviewed = self.reviewed(vec![case]).await?.into_iter().flatten().next();
        reviewed.ok_or(ModerationError::NoSuchCase)
    }

    /// Returns cases in the order of `ids`; `None` where one does not exist.
    pub async fn cases(
        &self,
        caller: &Caller,
        ids: &[CaseId],
    ) -> Result<Vec<Option<ReviewedCase>>, ModerationError> {
        self.check_reader(caller, Permission::SeeModerationQueue).await?;
        let item_keys = ids.iter().map(ModerationCase::at);
        let found = self.context.items_at("moderation_case", item_keys).await?;
        let existing = found.iter().flatten().cloned().collect();
        let mut reviewed = self.reviewed(existing).await?.into_iter();
        Ok(found.into_iter().map(|case| case.and_then(|_| reviewed.next()?)).collect())
    }

    /// Returns the reports of a case.
    pub async fn reports(
        &self,
        caller: &Caller,
        id: &CaseId,
        page: &PageInput,
    ) -> Result<Page<CaseReport>, ModerationError> {
        let core = self.context.core();
        let Some(post) = self.case(caller, id).await?.case.post_id else {
            return fill_page(
                page,
                async |limit, after| core.case_reports(id).limit(limit).after(after).page().await,
                async |reports| Ok(reports.into_iter().map(Some).collect()),
            )
            .await;
        };
        fill_page(
            page,
            async |limit, after| core.reports(&post, id).limit(limit).after(after).page().await,
            async |reports: Vec<Report>| {
                let report = |Report { subject_id, user_id, reason, created_at, .. }| {
                    Some(CaseReport { case_id: subject_id, user_id, reason, created_at, ttl: None })
                };
                Ok(reports.into_iter().map(report).collect())
            },
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

    /// Reads what cases are about, in batches; `None` where it has been deleted.
    async fn reviewed(
        &self,
        cases: Vec<ModerationCase>,
    ) -> Result<Vec<Option<ReviewedCase>>, ServiceError> {
        let core = self.context.core();
        let users: Vec<UserId> = cases.iter().filter_map(|case| case.user_id.clone()).collect();
        let groups: Vec<GroupId> = cases.iter().filter_map(|case| case.group_id.clone()).collect();
        let messages = cases.iter().filter_map(|case| {
            let id: MessageId = case.id.recast();
            Some(Message::at(case.room_id.as_ref()?, &id.time()?, &id))
        });
        let of_content = |case: &&ModerationCase| case.post_id.is_some();
        let content = cases.iter().filter(of_content).cloned().collect();
        let (users, groups, messages, content) = futures::future::try_join4(
            async { Ok(core.profiles(&users).strong().get().await?) },
            async { Ok(core.groups(&groups).strong().get().await?) },
            async { Ok(self.context.items_at("messages", messages).await?) },
            self.subjects(content),
        )
        .await?;
        let mut subjects: HashMap<CaseId, CaseSubject> = HashMap::new();
        let users = users.into_iter().flatten().filter(|user| user.status != UserStatus::Deleted);
        subjects
            .extend(users.map(|user| {
                ((&user.id).into(), CaseSubject::User(Box::new(public_profile(user))))
            }));
        let groups = groups.into_iter().flatten();
        subjects
            .extend(groups.map(|group| ((&group.id).into(), CaseSubject::Group(Box::new(group)))));
        let messages = messages.into_iter().flatten();
        subjects.extend(
            messages.map(|message| ((&message.id).into(), CaseSubject::Message(Box::new(message)))),
        );
        subjects.extend(content.into_iter().flatten().map(
            |ModerationSubject { case, content }| {
                (case.id, CaseSubject::Content(Box::new(content)))
            },
        ));
        let reviewed = cases.into_iter().map(|case| {
            let subject = subjects.get(&case.id)?.clone();
            Some(ReviewedCase { case, subject })
        });
        Ok(reviewed.collect())
    }

    /// Reads the content of cases in batches; `None` where it has been deleted. Omits cases about users, groups
    /// and messages.
    pub(super) async fn subjects(
        &self,
        cases: Vec<ModerationCase>,
    ) -> Result<Vec<Option<ModerationSubject>>, ServiceError> {
        let cases: Vec<ModerationCase> =
            cases.into_iter().filter(|case| case.post_id.is_some()).collect();
        let ids: Vec<PostId> = cases.iter().filter_map(|case| case.post_id.clone()).collect();
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
        let item_keys = cases
            .iter()
            .filter_map(|case| Some((case.post_id.as_ref()?, case.comment_id.as_ref()?)));
        let found = comments(&self.context, item_keys).await?;
        Ok(found.into_iter().flatten().map(|comment| ((&comment.id).into(), comment)).collect())
    }
}
