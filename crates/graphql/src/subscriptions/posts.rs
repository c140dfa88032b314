//! Subscriptions to posts, likes, comments and moderation.

use async_graphql::{Context, Subscription};
use roundtable_domain::{LiveEvent, Topic};
use roundtable_model::{FeedName, PostId};

use super::{EventStream, subscribe};
use crate::ApiError;
use crate::scalars::ApiId;
use crate::types::comments::Comment;
use crate::types::posts::Post;
use crate::types::reactions::LikeResult;

#[derive(Debug, Default)]
pub(super) struct PostSubscriptions;

fn post(event: LiveEvent) -> Option<Post> {
    match event {
        LiveEvent::Post(post) => Some((*post).into()),
        _ => None,
    }
}

#[Subscription]
impl PostSubscriptions {
    /// New posts, in one feed or in any.
    async fn on_create_post(
        &self,
        ctx: &Context<'_>,
        feed_id: Option<ApiId<FeedName>>,
    ) -> Result<EventStream<Post>, ApiError> {
        subscribe(ctx, Topic::NewPosts(feed_id.map(|id| id.0)), post).await
    }

    /// Changes of a post, while the caller may see it.
    async fn on_update_post(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
    ) -> Result<EventStream<Post>, ApiError> {
        subscribe(ctx, Topic::Post(post_id.0), post).await
    }

    /// New and removed likes of a post.
    async fn on_toggle_like(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
    ) -> Result<EventStream<LikeResult>, ApiError> {
        subscribe(ctx, Topic::Likes(post_id.0), |event| match event {
            LiveEvent::Like { post_id, liked } => Some(LikeResult { post_id, liked }),
            _ => None,
        })
        .await
    }

    /// New comments on a post.
    async fn on_add_comment(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
    ) -> Result<EventStream<Comment>, ApiError> {
        subscribe(ctx, Topic::Comments(post_id.0), |event| match event {
            LiveEvent::Comment(comment) => Some((*comment).into()),
            _ => None,
        })
        .await
    }

    /// Moderators' decisions about a post or, for moderators, about any post.
    async fn on_moderate_post(
        &self,
        ctx: &Context<'_>,
        post_id: Option<ApiId<PostId>>,
    ) -> Result<EventStream<Post>, ApiError> {
        subscribe(ctx, Topic::Decisions(post_id.map(|id| id.0)), post).await
    }
}
