//! The GraphQL type of comments.

use async_graphql::{Context, ID, Object};
use roundtable_domain::CommentEngagement;
use roundtable_model::table::Order;
use roundtable_model::{CommentId, ModerationStatus, PostId, UserId, entities};

use super::posts::Post;
use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::loaders::{CommentEngagementKey, CommentKey};
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime};

#[derive(Clone, Debug)]
pub(crate) struct Comment(pub(crate) entities::Comment);

impl From<entities::Comment> for Comment {
    fn from(comment: entities::Comment) -> Self {
        Self(comment)
    }
}

impl Comment {
    pub(crate) async fn load(ctx: &Context<'_>, id: &CommentId) -> Result<Option<Self>, ApiError> {
        Ok(RequestContext::of(ctx)?.loaders.load(id.clone()).await?.map(Self))
    }

    async fn engagement(&self, ctx: &Context<'_>) -> Result<Option<CommentEngagement>, ApiError> {
        let key = CommentKey(self.0.post_id.clone(), self.0.id.clone());
        RequestContext::of(ctx)?.loaders.load(CommentEngagementKey(key)).await
    }
}

#[Object]
impl Comment {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Comment", &[&self.0.post_id.to_string(), &self.0.id.to_string()])
    }

    async fn id(&self) -> ApiId<&CommentId> {
        ApiId(&self.0.id)
    }

    async fn post_id(&self) -> ApiId<&PostId> {
        ApiId(&self.0.post_id)
    }

    async fn post(&self, ctx: &Context<'_>) -> Result<Option<Post>, ApiError> {
        Post::load(ctx, &self.0.post_id).await
    }

    async fn user_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.user_id)
    }

    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        User::load(ctx, &self.0.user_id).await
    }

    async fn content(&self) -> &str {
        &self.0.content
    }

    async fn moderation_status(&self) -> EnumValue<ModerationStatus> {
        EnumValue(self.0.moderation_status)
    }

    /// The comment that it replies to.
    async fn parent_comment_id(&self) -> Option<ApiId<&CommentId>> {
        self.0.parent_comment_id.as_ref().map(ApiId)
    }

    async fn likes_count(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        Ok(self.engagement(ctx).await?.map_or(0, |engagement| engagement.counter.likes))
    }

    async fn replies_count(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        Ok(self.engagement(ctx).await?.map_or(0, |engagement| engagement.counter.replies))
    }

    async fn viewer_has_liked(&self, ctx: &Context<'_>) -> Result<bool, ApiError> {
        Ok(self.engagement(ctx).await?.is_some_and(|engagement| engagement.liked))
    }

    async fn is_deleted(&self) -> bool {
        self.0.is_deleted
    }

    /// The replies to this comment, oldest first.
    async fn replies(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Comment>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(list_replies(ctx, &self.0.id, paging).await)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

pub(crate) async fn list_on_post(
    ctx: &Context<'_>,
    post: &PostId,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<Comment>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let comments = context.services().comments();
    let list = format!("comments on {post}, {order:?}");
    paging
        .read(ctx, &list, async |page| comments.on(context.viewer(), post, order, page).await)
        .await
}

pub(crate) async fn list_replies(
    ctx: &Context<'_>,
    parent: &CommentId,
    paging: PageArguments,
) -> Result<Connection<Comment>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let comments = context.services().comments();
    let list = format!("replies to {parent}");
    paging
        .read(ctx, &list, async |page| comments.replies(context.viewer(), parent, page).await)
        .await
}

pub(crate) async fn list_by_user(
    ctx: &Context<'_>,
    user: &UserId,
    paging: PageArguments,
) -> Result<Connection<Comment>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let comments = context.services().comments();
    let list = format!("comments of {user}");
    paging.read(ctx, &list, async |page| comments.by(context.viewer(), user, page).await).await
}
