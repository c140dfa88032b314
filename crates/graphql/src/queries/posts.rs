//! Asking for posts, comments and likes.

use async_graphql::{Context, Object};
use roundtable_model::table::Order;
use roundtable_model::{CommentId, PostId, UserId};

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::request::Asked;
use crate::scalars::Id;
use crate::types::comments::{self, Comment};
use crate::types::posts::{self, Post};
use crate::types::reactions::{self, Like};
use crate::words::ModelSortDirection;

/// Queries of posts.
#[derive(Debug, Default)]
pub(super) struct Posts;

#[Object]
impl Posts {
    async fn get_post(&self, ctx: &Context<'_>, id: Id<PostId>) -> Result<Option<Post>, Refused> {
        Post::load(ctx, &id.0).await
    }

    /// The newest first, unless asked otherwise.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn list_user_posts(
        &self,
        ctx: &Context<'_>,
        user_id: Id<UserId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Post>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let order = ModelSortDirection::or(sort_direction, Order::Descending);
        posts::by(ctx, &user_id.0, order, paging).await
    }

    /// In the order they were written, unless asked otherwise.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn list_post_comments(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Comment>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let order = ModelSortDirection::or(sort_direction, Order::Ascending);
        comments::on(ctx, &post_id.0, order, paging).await
    }

    async fn list_post_likes(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Like>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        reactions::likes_of(ctx, &post_id.0, paging).await
    }

    /// What somebody likes: the caller, unless somebody else is meant.
    async fn list_liked_posts(
        &self,
        ctx: &Context<'_>,
        user_id: Option<Id<UserId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Like>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let user = Asked::of(ctx)?.meant(user_id)?;
        reactions::likes_by(ctx, &user, paging).await
    }

    /// Whether somebody likes a post: the caller, unless somebody else is meant.
    async fn has_liked(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
        user_id: Option<Id<UserId>>,
    ) -> Result<bool, Refused> {
        let asked = Asked::of(ctx)?;
        let user = asked.meant(user_id)?;
        let likes = asked.services().likes().has_liked(asked.viewer(), &user, &[post_id.0]).await?;
        Ok(likes.into_iter().any(|liked| liked))
    }

    async fn get_comment(
        &self,
        ctx: &Context<'_>,
        id: Id<CommentId>,
    ) -> Result<Option<Comment>, Refused> {
        Comment::load(ctx, &id.0).await
    }

    /// The newest first.
    async fn list_user_comments(
        &self,
        ctx: &Context<'_>,
        user_id: Id<UserId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Comment>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        comments::by(ctx, &user_id.0, paging).await
    }
}
