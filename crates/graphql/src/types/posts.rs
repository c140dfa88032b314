//! The GraphQL type of posts.

use std::sync::Arc;

use async_graphql::{Context, ID, Object};
use roundtable_domain::PostViewerState;
use roundtable_model::table::Order;
use roundtable_model::{
    ContentType, Day, FeedName, GroupId, ModerationStatus, PostId, UserId, Visibility, entities,
};

use super::comments::{self, Comment};
use super::media::{self, Media};
use super::reactions::{self, Like};
use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::{EnumValue, ModelSortDirection};
use crate::loaders::{PostCounterKey, PostViewerStateKey};
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime, Url};

#[derive(Clone, Debug)]
pub(crate) struct Post(pub(crate) Arc<entities::Post>);

impl From<entities::Post> for Post {
    fn from(post: entities::Post) -> Self {
        Self(Arc::new(post))
    }
}

impl From<Arc<entities::Post>> for Post {
    fn from(post: Arc<entities::Post>) -> Self {
        Self(post)
    }
}

impl Post {
    pub(crate) async fn load(ctx: &Context<'_>, id: &PostId) -> Result<Option<Self>, ApiError> {
        Ok(RequestContext::of(ctx)?.loaders.load(id.clone()).await?.map(Self::from))
    }

    async fn counter(&self, ctx: &Context<'_>) -> Result<Option<entities::PostCounter>, ApiError> {
        RequestContext::of(ctx)?.loaders.load(PostCounterKey(self.0.id.clone())).await
    }

    async fn viewer_state(&self, ctx: &Context<'_>) -> Result<PostViewerState, ApiError> {
        let state =
            RequestContext::of(ctx)?.loaders.load(PostViewerStateKey(self.0.id.clone())).await?;
        Ok(state.unwrap_or_default())
    }
}

#[expect(clippy::cast_precision_loss, reason = "scores are far below 2^53")]
pub(crate) fn score(counter: &entities::PostCounter) -> f64 {
    counter.score as f64
}

#[Object]
impl Post {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Post", &[&self.0.id.to_string()])
    }

    async fn id(&self) -> ApiId<&PostId> {
        ApiId(&self.0.id)
    }

    async fn author_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.author_id)
    }

    async fn author(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        User::load(ctx, &self.0.author_id).await
    }

    async fn group_id(&self) -> Option<ApiId<&GroupId>> {
        self.0.group_id.as_ref().map(ApiId)
    }

    async fn feed_id(&self) -> ApiId<&FeedName> {
        ApiId(&self.0.feed_id)
    }

    async fn content(&self) -> &str {
        &self.0.content
    }

    async fn content_type(&self) -> EnumValue<ContentType> {
        EnumValue(self.0.content_type)
    }

    async fn media(&self, ctx: &Context<'_>) -> Result<Vec<Media>, ApiError> {
        media::fetchable(ctx, &self.0.media).await
    }

    async fn visibility(&self) -> EnumValue<Visibility> {
        EnumValue(self.0.visibility)
    }

    async fn moderation_status(&self) -> EnumValue<ModerationStatus> {
        EnumValue(self.0.moderation_status)
    }

    async fn is_deleted(&self) -> bool {
        self.0.is_deleted
    }

    async fn hashtags(&self) -> Vec<String> {
        self.0.hashtags.iter().map(ToString::to_string).collect()
    }

    /// The mentioned nicknames.
    async fn mentions(&self) -> Vec<String> {
        self.0.mentions.iter().map(ToString::to_string).collect()
    }

    async fn like_count(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        Ok(self.counter(ctx).await?.map_or(0, |counter| counter.likes))
    }

    async fn comment_count(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        Ok(self.counter(ctx).await?.map_or(0, |counter| counter.comments))
    }

    async fn share_count(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        Ok(self.counter(ctx).await?.map_or(0, |counter| counter.shares))
    }

    async fn engagement_score(&self, ctx: &Context<'_>) -> Result<f64, ApiError> {
        Ok(self.counter(ctx).await?.map_or(0.0, |counter| score(&counter)))
    }

    async fn viewer_has_liked(&self, ctx: &Context<'_>) -> Result<bool, ApiError> {
        Ok(self.viewer_state(ctx).await?.liked)
    }

    async fn viewer_has_shared(&self, ctx: &Context<'_>) -> Result<bool, ApiError> {
        Ok(self.viewer_state(ctx).await?.shared)
    }

    async fn activity_pub_id(&self) -> Option<Url> {
        self.0.activity_pub_id.clone().map(Url)
    }

    /// The comments on the post, oldest first by default.
    async fn comments(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Comment>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let order = ModelSortDirection::order_or(sort_direction, Order::Ascending);
        Connection::empty_if_hidden(comments::list_on_post(ctx, &self.0.id, order, paging).await)
    }

    async fn likes(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Like>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(reactions::list_likes_of_post(ctx, &self.0.id, paging).await)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

pub(crate) async fn list_by_author(
    ctx: &Context<'_>,
    author: &UserId,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<Post>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let posts = context.services().posts();
    let list = format!("posts of {author}, {order:?}");
    paging
        .read(ctx, &list, async |page| posts.by(context.viewer(), author, order, page).await)
        .await
}

pub(crate) async fn list_global(
    ctx: &Context<'_>,
    feed: Option<&FeedName>,
    status: Option<ModerationStatus>,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<Post>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (posts, viewer) = (context.services().posts(), context.viewer());
    let list = format!("posts in {feed:?}, {status:?}, {order:?}");
    let read = async |page: &_| posts.global(viewer, feed, status, order, page).await;
    paging.read(ctx, &list, read).await
}

pub(crate) async fn list_on_day(
    ctx: &Context<'_>,
    day: Day,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<Post>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let posts = context.services().posts();
    let list = format!("posts on {day}, {order:?}");
    paging
        .read(ctx, &list, async |page| posts.on_day(context.viewer(), day, order, page).await)
        .await
}

pub(crate) async fn list_popular(
    ctx: &Context<'_>,
    paging: PageArguments,
) -> Result<Connection<Post>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let posts = context.services().posts();
    paging
        .read(ctx, "popular posts", async |page| posts.popular(context.viewer(), page).await)
        .await
}
