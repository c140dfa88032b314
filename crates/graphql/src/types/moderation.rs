//! GraphQL types of moderation cases and server statistics.

use async_graphql::{Context, ID, Object, SimpleObject};
use roundtable_domain::{ModeratedContent, ModerationSubject};
use roundtable_model::{CaseId, ModerationStatus, entities};

use super::comments::Comment;
use super::posts::Post;
use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::loaders::CommentKey;
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime};

/// A post or comment that was reported, or that is reviewed before other users see it.
#[derive(Clone, Debug)]
pub(crate) struct ModerationCase {
    case: entities::ModerationCase,
    /// The reviewed content, if already loaded.
    content: Option<ModeratedContent>,
}

impl From<entities::ModerationCase> for ModerationCase {
    fn from(case: entities::ModerationCase) -> Self {
        Self { case, content: None }
    }
}

impl From<ModerationSubject> for ModerationCase {
    fn from(subject: ModerationSubject) -> Self {
        Self { case: subject.case, content: Some(subject.content) }
    }
}

#[Object]
impl ModerationCase {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("ModerationCase", &[&self.case.id.to_string()])
    }

    async fn id(&self) -> ApiId<&CaseId> {
        ApiId(&self.case.id)
    }

    /// The post, or the post of the comment.
    async fn post(&self, ctx: &Context<'_>) -> Result<Option<Post>, ApiError> {
        match &self.content {
            Some(content) => Ok(Some(content.post.clone().into())),
            None => Post::load(ctx, &self.case.post_id).await,
        }
    }

    /// The comment, if the case is about one.
    async fn comment(&self, ctx: &Context<'_>) -> Result<Option<Comment>, ApiError> {
        if let Some(content) = &self.content {
            return Ok(content.comment.clone().map(Comment::from));
        }
        let Some(id) = &self.case.comment_id else { return Ok(None) };
        let key = CommentKey(self.case.post_id.clone(), id.clone());
        Ok(RequestContext::of(ctx)?.loaders.load(key).await?.map(Comment::from))
    }

    async fn status(&self) -> EnumValue<ModerationStatus> {
        EnumValue(self.case.status)
    }

    async fn reason(&self) -> Option<&str> {
        self.case.reason.as_deref()
    }

    async fn decided_by(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        let Some(by) = &self.case.decided_by else { return Ok(None) };
        User::load(ctx, by).await
    }

    async fn decided_at(&self) -> Option<DateTime> {
        DateTime::optional(self.case.decided_at)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.case.created_at)
    }
}

pub(crate) async fn list_cases(
    ctx: &Context<'_>,
    status: Option<ModerationStatus>,
    paging: PageArguments,
) -> Result<Connection<ModerationCase>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, moderation) = (context.caller()?, context.services().moderation());
    let list = format!("cases, {status:?}");
    paging.read(ctx, &list, async |page| moderation.queue(caller, status, page).await).await
}

/// Totals of the server, and the backlog of its stream processors.
#[derive(Debug, SimpleObject)]
#[graphql(name = "Stats")]
pub(crate) struct ServerStats {
    pub(crate) users: u64,
    pub(crate) posts: u64,
    pub(crate) activities: u64,
    /// Actors whose activities still have to be copied to followers' feeds.
    pub(crate) fanout_queue_depth: u64,
    /// Dead letters: changes that could not be processed and wait for a retry.
    pub(crate) dlq_depth: u64,
    /// The age of the oldest change that a processor has not handled.
    pub(crate) stream_lag_ms: u64,
}
