//! Writing, changing, deleting and liking comments.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::NewComment;
use roundtable_model::{CommentId, PostId};

use crate::Refused;
use crate::request::{Asked, Once, once};
use crate::scalars::Id;
use crate::types::comments::Comment;

/// Mutations of comments.
#[derive(Debug, Default)]
pub(super) struct Commenting;

/// A comment to be written.
#[derive(Debug, InputObject)]
pub(crate) struct AddCommentInput {
    post_id: Id<PostId>,
    content: String,
    /// The comment it answers.
    parent_comment_id: Option<Id<CommentId>>,
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
impl Commenting {
    async fn add_comment(
        &self,
        ctx: &Context<'_>,
        input: AddCommentInput,
        request_id: Once,
    ) -> Result<Comment, Refused> {
        let asked = Asked::of(ctx)?;
        let comments = asked.services().comments();
        Ok(comments.add(asked.caller()?, &input.into(), once(&request_id)).await?.into())
    }

    async fn update_comment(
        &self,
        ctx: &Context<'_>,
        comment_id: Id<CommentId>,
        content: String,
        request_id: Once,
    ) -> Result<Comment, Refused> {
        let asked = Asked::of(ctx)?;
        let (comments, request) = (asked.services().comments(), once(&request_id));
        Ok(comments.update(asked.caller()?, &comment_id.0, &content, request).await?.into())
    }

    /// Deletes a comment; answers with what is left of it.
    async fn delete_comment(
        &self,
        ctx: &Context<'_>,
        comment_id: Id<CommentId>,
        request_id: Once,
    ) -> Result<Comment, Refused> {
        let asked = Asked::of(ctx)?;
        let comments = asked.services().comments();
        Ok(comments.delete(asked.caller()?, &comment_id.0, once(&request_id)).await?.into())
    }

    async fn like_comment(
        &self,
        ctx: &Context<'_>,
        comment_id: Id<CommentId>,
        request_id: Once,
    ) -> Result<Comment, Refused> {
        let asked = Asked::of(ctx)?;
        let comments = asked.services().comments();
        Ok(comments.like(asked.caller()?, &comment_id.0, once(&request_id)).await?.into())
    }

    async fn unlike_comment(
        &self,
        ctx: &Context<'_>,
        comment_id: Id<CommentId>,
        request_id: Once,
    ) -> Result<Comment, Refused> {
        let asked = Asked::of(ctx)?;
        let comments = asked.services().comments();
        Ok(comments.unlike(asked.caller()?, &comment_id.0, once(&request_id)).await?.into())
    }
}
