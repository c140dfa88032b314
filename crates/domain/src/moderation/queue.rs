//! What moderators read: the cases that wait or have been decided, and who decided what.

use std::collections::HashMap;

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Audit, Comment, ModerationCase, Report};
use roundtable_model::{CaseId, Day, Days, ModerationStatus, PostId};

use super::{Content, Moderation, ModerationError, Subject, check_staff};
use crate::access::Act;
use crate::comments::comments;
use crate::limits::REVIEW_DAYS_MAX;
use crate::pages::fill;
use crate::{Caller, Failure, Page, PageInput};

#[boxed]
impl Moderation {
    /// The cases of a status, those that wait unless asked otherwise, newest first, as far back as
    /// [`REVIEW_DAYS_MAX`]. A case that is opened again is new again; one about what has been deleted
    /// is no longer there.
    pub async fn queue(
        &self,
        caller: &Caller,
        status: Option<ModerationStatus>,
        page: &PageInput,
    ) -> Result<Page<Subject>, ModerationError> {
        self.reading(caller, Act::SeeModerationQueue).await?;
        let status = status.unwrap_or(ModerationStatus::Pending);
        let (days, shards) = (self.days(None), self.ground.settings().shards.cases.0);
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().moderation_queue(&status, days, shards);
                listing.limit(limit).after(after).page().await
            },
            async |cases| Ok(self.subjects(cases).await?),
        )
        .await
    }

    /// The case about a post or comment.
    pub async fn case(&self, caller: &Caller, id: &CaseId) -> Result<Subject, ModerationError> {
        self.reading(caller, Act::SeeModerationQueue).await?;
        let case = self.case_about(id).await?.ok_or(ModerationError::NoSuchCase)?;
        let subject = self.subjects(vec![case]).await?.into_iter().flatten().next();
        subject.ok_or(ModerationError::NoSuchCase)
    }

    /// Cases by their ids, each in its place; `None` where there is none.
    pub async fn cases(
        &self,
        caller: &Caller,
        ids: &[CaseId],
    ) -> Result<Vec<Option<Subject>>, ModerationError> {
        self.reading(caller, Act::SeeModerationQueue).await?;
        let places = ids.iter().map(ModerationCase::at);
        let found = self.ground.at("moderation_case", places).await?;
        let there = found.iter().flatten().cloned().collect();
        let mut subjects = self.subjects(there).await?.into_iter();
        Ok(found.into_iter().map(|case| case.and_then(|_| subjects.next()?)).collect())
    }

    /// What people said who reported it.
    pub async fn reports(
        &self,
        caller: &Caller,
        id: &CaseId,
        page: &PageInput,
    ) -> Result<Page<Report>, ModerationError> {
        let post = self.case(caller, id).await?.case.post_id;
        fill(
            page,
            async |limit, after| {
                self.ground.core().reports(&post, id).limit(limit).after(after).page().await
            },
            async |reports| Ok(reports.into_iter().map(Some).collect()),
        )
        .await
    }

    /// Who did what, newest first: from `newest`, or today, back to `oldest`, or as far as
    /// [`REVIEW_DAYS_MAX`] reaches.
    pub async fn audit(
        &self,
        caller: &Caller,
        newest: Option<Day>,
        oldest: Option<Day>,
        page: &PageInput,
    ) -> Result<Page<Audit>, ModerationError> {
        self.reading(caller, Act::SeeAudit).await?;
        let reach = self.days(newest);
        let oldest = oldest.map_or(reach.oldest, |oldest| oldest.max(reach.oldest));
        let days = Days { oldest, ..reach };
        let shards = self.ground.settings().shards.audit.0;
        fill(
            page,
            async |limit, after| {
                self.ground.core().audit(days, shards).limit(limit).after(after).page().await
            },
            async |entries| Ok(entries.into_iter().map(Some).collect()),
        )
        .await
    }

    /// The days that can be read, from the newest.
    fn days(&self, newest: Option<Day>) -> Days {
        let today = self.ground.now().day();
        // It may be tomorrow already where something was written.
        let newest = newest.or(today.next()).unwrap_or(today);
        Days::up_to(newest, REVIEW_DAYS_MAX)
    }

    /// Refuses readers who do not moderate.
    async fn reading(&self, caller: &Caller, act: Act) -> Result<(), Failure> {
        self.ground.reader(caller).await?;
        check_staff(caller, act)
    }

    /// Cases with what they are about, read in batches; `None` for what has been deleted.
    pub(super) async fn subjects(
        &self,
        cases: Vec<ModerationCase>,
    ) -> Result<Vec<Option<Subject>>, Failure> {
        let ids: Vec<PostId> = cases.iter().map(|case| case.post_id.clone()).collect();
        let posts = async { Ok(self.ground.core().posts(&ids).strong().get().await?) };
        let (posts, comments) = try_join(posts, self.comments(&cases)).await?;
        let subjects = cases.into_iter().zip(posts).map(|(case, post)| {
            let comment = match &case.comment_id {
                Some(_) => Some(comments.get(&case.id)?.clone()),
                None => None,
            };
            let content = Content { post: post?, comment };
            (!content.is_deleted()).then_some(Subject { case, content })
        });
        Ok(subjects.collect())
    }

    /// The comments that cases are about.
    async fn comments(
        &self,
        cases: &[ModerationCase],
    ) -> Result<HashMap<CaseId, Comment>, Failure> {
        let places =
            cases.iter().filter_map(|case| Some((&case.post_id, case.comment_id.as_ref()?)));
        let found = comments(&self.ground, places).await?;
        Ok(found.into_iter().flatten().map(|comment| ((&comment.id).into(), comment)).collect())
    }
}
