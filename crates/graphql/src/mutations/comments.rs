//! Mutations of comments and their likes.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::NewComment;
use roundtable_model::{CommentId, PostId};

use crate::ApiError;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::ApiId;
use crate::types::comments::Comment;

#[derive(Debug, Default)]
pub(super) struct CommentMutations;

/// A new comment.
#[derive(Debug, InputObject)]
pub(crate) struct AddCommentInput {
    post_id: ApiId<PostId>,
    content: String,
    /// The comment that it replies to.
    parent_comment_id: Option<ApiId<CommentId>>,
}

impl From<AddCommentInput> for NewComment {
    fn from(input: AddCommentInput) -> Self {
        Self {
            post_id: input.post_id.0,
            content: input.content,
            parent_comment_id: input.parent_comment_id.map(|id| id.0),
        }
    }
}

#[Object]
impl CommentMutations {
    async fn add_comment(
        &self,
        ctx: &Context<'_>,
        input: AddCommentInput,
        request_id: RequestIdArg,
    ) -> Result<Comment, ApiError> {
        let context = RequestContext::of(ctx)?;
        let comments = context.services().comments();
        Ok(comments.add(context.caller()?, &input.into(), id_ref(&request_id)).await?.into())
    }

    async fn update_comment(
        &self,
        ctx: &Context<'_>,
        comment_id: ApiId<CommentId>,
        content: String,
        request_id: RequestIdArg,
    ) -> Result<Comment, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (comments, request) = (context.services().comments(), id_ref(&request_id));
        Ok(comments.update(context.caller()?, &comment_id.0, &content, request).await?.into())
    }

    /// Deletes a comment and returns what is left of it.
    async fn delete_comment(
        &self,
        ctx: &Context<'_>,
        comment_id: ApiId<CommentId>,
        request_id: RequestIdArg,
    ) -> Result<Comment, ApiError> {
        let context = RequestContext::of(ctx)?;
        let comments = context.services().comments();
        Ok(comments.delete(context.caller()?, &comment_id.0, id_ref(&request_id)).await?.into())
    }

    async fn like_comment(
        &self,
        ctx: &Context<'_>,
        comment_id: ApiId<CommentId>,
        request_id: RequestIdArg,
    ) -> Result<Comment, ApiError> {
        let context = RequestContext::of(ctx)?;
        let comments = context.services().comments();
        Ok(comments.like(context.caller()?, &comment_id.0, id_ref(&request_id)).await?.into())
    }

    async fn unlike_comment(
        &self,
        ctx: &Context<'_>,
        comment_id: ApiId<CommentId>,
        request_id: RequestIdArg,
    ) -> Result<Comment, ApiError> {
        let context = RequestContext::of(ctx)?;
        let comments = context.services().comments();
        Ok(comments.unlike(context.caller()?, &comment_id.0, id_ref(&request_id)).await?.into())
    }
}
