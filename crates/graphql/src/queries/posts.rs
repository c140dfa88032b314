//! Queries for posts, comments and likes.

use async_graphql::{Context, Object};
use roundtable_model::table::Order;
use roundtable_model::{CommentId, PostId, UserId};

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::ModelSortDirection;
use crate::request::RequestContext;
use crate::scalars::ApiId;
use crate::types::comments::{self, Comment};
use crate::types::posts::{self, Post};
use crate::types::reactions::{self, Like};

#[derive(Debug, Default)]
pub(super) struct PostQueries;

#[Object]
impl PostQueries {
    async fn get_post(
        &self,
        ctx: &Context<'_>,
        id: ApiId<PostId>,
    ) -> Result<Option<Post>, ApiError> {
        Post::load(ctx, &id.0).await
    }

    /// The posts of a user, newest first by default.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn list_user_posts(
        &self,
        ctx: &Context<'_>,
        user_id: ApiId<UserId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Post>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        posts::list_by_author(ctx, &user_id.0, order, paging).await
    }

    /// The comments on a post, oldest first by default.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn list_post_comments(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Comment>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let order = ModelSortDirection::order_or(sort_direction, Order::Ascending);
        comments::list_on_post(ctx, &post_id.0, order, paging).await
    }

    async fn list_post_likes(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Like>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        reactions::list_likes_of_post(ctx, &post_id.0, paging).await
    }

    /// The likes of a user, by default of the caller.
    async fn list_liked_posts(
        &self,
        ctx: &Context<'_>,
        user_id: Option<ApiId<UserId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Like>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let user = RequestContext::of(ctx)?.user_or_caller(user_id)?;
        reactions::list_likes_by_user(ctx, &user, paging).await
    }

    /// Returns whether a user, by default the caller, likes a post.
    async fn has_liked(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
        user_id: Option<ApiId<UserId>>,
    ) -> Result<bool, ApiError> {
        let context = RequestContext::of(ctx)?;
        let user = context.user_or_caller(user_id)?;
        let likes =
            context.services().likes().has_liked(context.viewer(), &user, &[post_id.0]).await?;
        Ok(likes.into_iter().any(|liked| liked))
    }

    async fn get_comment(
        &self,
        ctx: &Context<'_>,
        id: ApiId<CommentId>,
    ) -> Result<Option<Comment>, ApiError> {
        Comment::load(ctx, &id.0).await
    }

    /// The comments of a user, newest first.
    async fn list_user_comments(
        &self,
        ctx: &Context<'_>,
        user_id: ApiId<UserId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Comment>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        comments::list_by_user(ctx, &user_id.0, paging).await
    }
}
