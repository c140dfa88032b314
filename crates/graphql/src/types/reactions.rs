//! GraphQL types of likes and shares.

use async_graphql::{Context, ID, Object};
use roundtable_domain::{LikeState, ShareState};
use roundtable_model::{LikeType, PostId, UserId, entities};

use super::posts::Post;
use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::loaders::PostCounterKey;
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime, Url};

#[derive(Clone, Debug)]
pub(crate) struct Like(pub(crate) entities::Like);

impl From<entities::Like> for Like {
    fn from(like: entities::Like) -> Self {
        Self(like)
    }
}

#[Object]
impl Like {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Like", &[&self.0.post_id.to_string(), &self.0.user_id.to_string()])
    }

    async fn post_id(&self) -> ApiId<&PostId> {
        ApiId(&self.0.post_id)
    }

    async fn user_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.user_id)
    }

    async fn post(&self, ctx: &Context<'_>) -> Result<Option<Post>, ApiError> {
        Post::load(ctx, &self.0.post_id).await
    }

    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        User::load(ctx, &self.0.user_id).await
    }

    async fn like_type(&self) -> EnumValue<LikeType> {
        EnumValue(self.0.like_type)
    }

    async fn activity_pub_id(&self) -> Option<Url> {
        self.0.activity_pub_id.clone().map(Url)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

/// The state of the caller's like after a mutation.
#[derive(Clone, Debug)]
pub(crate) struct LikeResult {
    pub(crate) post_id: PostId,
    pub(crate) liked: bool,
}

impl From<LikeState> for LikeResult {
    fn from(state: LikeState) -> Self {
        Self { post_id: state.post_id, liked: state.like.is_some() }
    }
}

#[Object]
impl LikeResult {
    async fn post_id(&self) -> ApiId<&PostId> {
        ApiId(&self.post_id)
    }

    async fn post(&self, ctx: &Context<'_>) -> Result<Option<Post>, ApiError> {
        Post::load(ctx, &self.post_id).await
    }

    /// True if the caller likes the post now.
    async fn liked(&self) -> bool {
        self.liked
    }

    /// The number of likes. Counting is asynchronous, so this like may be missing for a moment.
    async fn like_count(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        let counter =
            RequestContext::of(ctx)?.loaders.load(PostCounterKey(self.post_id.clone())).await?;
        Ok(counter.map_or(0, |counter| counter.likes))
    }
}

/// The state of the caller's share after a mutation.
#[derive(Clone, Debug)]
pub(crate) struct ShareResult(ShareState);

impl From<ShareState> for ShareResult {
    fn from(state: ShareState) -> Self {
        Self(state)
    }
}

#[Object]
impl ShareResult {
    async fn post_id(&self) -> ApiId<&PostId> {
        ApiId(&self.0.post_id)
    }

    async fn post(&self, ctx: &Context<'_>) -> Result<Option<Post>, ApiError> {
        Post::load(ctx, &self.0.post_id).await
    }

    /// True if the caller shares the post now.
    async fn shared(&self) -> bool {
        self.0.share.is_some()
    }

    /// The number of shares. Counting is asynchronous, so this share may be missing for a moment.
    async fn share_count(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        // A caller who removes a share may no longer see the post.
        if Post::load(ctx, &self.0.post_id).await?.is_none() {
            return Ok(0);
        }
        let counter =
            RequestContext::of(ctx)?.loaders.load(PostCounterKey(self.0.post_id.clone())).await?;
        Ok(counter.map_or(0, |counter| counter.shares))
    }
}

pub(crate) async fn list_likes_of_post(
    ctx: &Context<'_>,
    post: &PostId,
    paging: PageArguments,
) -> Result<Connection<Like>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let likes = context.services().likes();
    let list = format!("likes of {post}");
    paging.read(ctx, &list, async |page| likes.of(context.viewer(), post, page).await).await
}

pub(crate) async fn list_likes_by_user(
    ctx: &Context<'_>,
    user: &UserId,
    paging: PageArguments,
) -> Result<Connection<Like>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let likes = context.services().likes();
    let list = format!("likes by {user}");
    paging.read(ctx, &list, async |page| likes.by(context.viewer(), user, page).await).await
}
