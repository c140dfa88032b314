//! Listening to posts, and to what people do with them.

use async_graphql::{Context, Subscription};
use roundtable_domain::{Event, Matter};
use roundtable_model::{FeedName, PostId};

use super::{Told, listen};
use crate::Refused;
use crate::scalars::Id;
use crate::types::comments::Comment;
use crate::types::posts::Post;
use crate::types::reactions::LikeResult;

/// Subscriptions of posts.
#[derive(Debug, Default)]
pub(super) struct PostsLive;

fn post(event: Event) -> Option<Post> {
    match event {
        Event::Post(post) => Some((*post).into()),
        _ => None,
    }
}

#[Subscription]
impl PostsLive {
    /// Posts that come out, in one feed or in any.
    async fn on_create_post(
        &self,
        ctx: &Context<'_>,
        feed_id: Option<Id<FeedName>>,
    ) -> Result<Told<Post>, Refused> {
        listen(ctx, Matter::NewPosts(feed_id.map(|id| id.0)), post).await
    }

    /// Changes of a post, as long as the caller may see it.
    async fn on_update_post(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
    ) -> Result<Told<Post>, Refused> {
        listen(ctx, Matter::Post(post_id.0), post).await
    }

    /// That somebody likes a post, or no longer does.
    async fn on_toggle_like(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
    ) -> Result<Told<LikeResult>, Refused> {
        listen(ctx, Matter::Likes(post_id.0), |event| match event {
            Event::Like { post_id, liked } => Some(LikeResult { post_id, liked }),
            _ => None,
        })
        .await
    }

    /// Comments on a post that come out.
    async fn on_add_comment(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
    ) -> Result<Told<Comment>, Refused> {
        listen(ctx, Matter::Comments(post_id.0), |event| match event {
            Event::Comment(comment) => Some((*comment).into()),
            _ => None,
        })
        .await
    }

    /// What moderators decide about a post, or, for moderators, about any.
    async fn on_moderate_post(
        &self,
        ctx: &Context<'_>,
        post_id: Option<Id<PostId>>,
    ) -> Result<Told<Post>, Refused> {
        listen(ctx, Matter::Decisions(post_id.map(|id| id.0)), post).await
    }
}
