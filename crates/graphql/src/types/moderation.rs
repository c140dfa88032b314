//! What should perhaps not be there, and how the place is doing, as the API shows it.

use async_graphql::{Context, ID, Object, SimpleObject};
use roundtable_domain::{Content, Subject};
use roundtable_model::{CaseId, ModerationStatus, entities};

use super::comments::Comment;
use super::posts::Post;
use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::loaders::CommentOn;
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id};
use crate::words::Word;

/// A post or comment that somebody reported, or that is looked at before others see it.
#[derive(Clone, Debug)]
pub(crate) struct ModerationCase {
    case: entities::ModerationCase,
    /// What it is about, where that is known already.
    content: Option<Content>,
}

impl From<entities::ModerationCase> for ModerationCase {
    fn from(case: entities::ModerationCase) -> Self {
        Self { case, content: None }
    }
}

impl From<Subject> for ModerationCase {
    fn from(subject: Subject) -> Self {
        Self { case: subject.case, content: Some(subject.content) }
    }
}

#[Object]
impl ModerationCase {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("ModerationCase", &[&self.case.id.to_string()])
    }

    async fn id(&self) -> Id<&CaseId> {
        Id(&self.case.id)
    }

    /// The post it is about, or whose comment it is about.
    async fn post(&self, ctx: &Context<'_>) -> Result<Option<Post>, Refused> {
        match &self.content {
            Some(content) => Ok(Some(content.post.clone().into())),
            None => Post::load(ctx, &self.case.post_id).await,
        }
    }

    /// The comment it is about.
    async fn comment(&self, ctx: &Context<'_>) -> Result<Option<Comment>, Refused> {
        if let Some(content) = &self.content {
            return Ok(content.comment.clone().map(Comment::from));
        }
        let Some(id) = &self.case.comment_id else { return Ok(None) };
        let place = CommentOn(self.case.post_id.clone(), id.clone());
        Ok(Asked::of(ctx)?.load.one(place).await?.map(Comment::from))
    }

    async fn status(&self) -> Word<ModerationStatus> {
        Word(self.case.status)
    }

    async fn reason(&self) -> Option<&str> {
        self.case.reason.as_deref()
    }

    async fn decided_by(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        let Some(by) = &self.case.decided_by else { return Ok(None) };
        User::load(ctx, by).await
    }

    async fn decided_at(&self) -> Option<DateTime> {
        DateTime::maybe(self.case.decided_at)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.case.created_at)
    }
}

/// The cases of a status: those that wait, unless asked otherwise.
pub(crate) async fn queue(
    ctx: &Context<'_>,
    status: Option<ModerationStatus>,
    paging: Paging,
) -> Result<Connection<ModerationCase>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, moderation) = (asked.caller()?, asked.services().moderation());
    let list = format!("cases, {status:?}");
    paging.read(ctx, &list, async |page| moderation.queue(caller, status, page).await).await
}

/// How the place is doing.
#[derive(Debug, SimpleObject)]
pub(crate) struct Stats {
    pub(crate) users: u64,
    pub(crate) posts: u64,
    pub(crate) activities: u64,
    /// Actors whose activities are not copied everywhere yet.
    pub(crate) fanout_queue_depth: u64,
    /// What could not be processed, and waits to be tried again.
    pub(crate) dlq_depth: u64,
    /// How old the oldest change is that some processor has not dealt with.
    pub(crate) stream_lag_ms: u64,
}
