//! Likes of comments.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Comment, CommentLike};
use roundtable_model::{CommentId, Entity, RequestId};

use super::{CommentError, CommentOutcome, Comments, unchanged_check};
use crate::access::Permission;
use crate::idempotency::{AttemptOutcome, IdempotentRequest};
use crate::posts::{ActionablePost, unchanged};
use crate::{Caller, LikeMode};

#[boxed]
impl Comments {
    /// Likes a comment. Repeating it has no effect.
    pub async fn like(
        &self,
        caller: &Caller,
        id: &CommentId,
        request: Option<&RequestId>,
    ) -> Result<Comment, CommentError> {
        let me = self.context.authorize_write(caller).await?;
        let request = self.context.idempotent_request(&me.id, request, "likeComment", id)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: CommentOutcome| self.replayed(caller, outcome).await,
                async || {
                    let (comment, post, access) = self.visible_with_access(caller, &me, id).await?;
                    let actionable = ActionablePost::new(caller, &access, Permission::Like, post);
                    let actionable = actionable.filter(|_| !access.is_blocked(&comment.user_id));
                    let actionable = actionable.ok_or(CommentError::NoSuchComment)?;
                    if self.like_of(caller, &comment).await?.is_some() {
                        return self.finish_unchanged(comment, request.as_ref()).await;
                    }
                    let like = CommentLike {
                        post_id: comment.post_id.clone(),
                        comment_id: comment.id.clone(),
                        user_id: me.id.clone(),
                        created_at: self.context.now(),
                    };
                    let commit = self
                        .context
                        .commit()
                        .with("like", like.create())
                        .with("comment", unchanged_check(&comment))
                        .with_all("post", actionable.checks([&comment.user_id]))
                        .recording(request.as_ref(), &CommentOutcome::of(&comment))?;
                    Ok(commit.finish(comment).await?)
                },
            )
            .await
    }

    /// Removes the caller's like; refused where likes are permanent.
    pub async fn unlike(
        &self,
        caller: &Caller,
        id: &CommentId,
        request: Option<&RequestId>,
    ) -> Result<Comment, CommentError> {
        let me = self.context.authorize_write(caller).await?;
        let request = self.context.idempotent_request(&me.id, request, "unlikeComment", id)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: CommentOutcome| self.replayed(caller, outcome).await,
                async || {
                    let (comment, post, _) = self.visible_with_access(caller, &me, id).await?;
                    let Some(like) = self.like_of(caller, &comment).await? else {
                        return self.finish_unchanged(comment, request.as_ref()).await;
                    };
                    if self.context.settings().likes == LikeMode::Permanent {
                        return Err(CommentError::LikesPermanent);
                    }
                    let commit = self
                        .context
                        .commit()
                        .with("like", like.key().delete())
                        .with("post", unchanged(&post))
                        .recording(request.as_ref(), &CommentOutcome::of(&comment))?;
                    Ok(commit.finish(comment).await?)
                },
            )
            .await
    }

    async fn like_of(
        &self,
        caller: &Caller,
        comment: &Comment,
    ) -> Result<Option<CommentLike>, CommentError> {
        let ids = std::slice::from_ref(&comment.id);
        let likes =
            self.context.core().comment_likes(&comment.post_id, ids, &caller.user_id).strong();
        Ok(likes.get().await?.into_iter().flatten().next())
    }

    /// Records the request without a change, so that a repetition after a later change has no
    /// effect.
    async fn finish_unchanged(
        &self,
        comment: Comment,
        request: Option<&IdempotentRequest>,
    ) -> Result<AttemptOutcome<Comment>, CommentError> {
        let outcome = CommentOutcome::of(&comment);
        Ok(self.context.finish_unchanged(request, &outcome, comment).await?)
    }
}
