//! Likes of comments.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Comment, CommentLike};
use roundtable_model::table::Write;
use roundtable_model::{CommentId, Entity, LikeType, RequestId, UserId};
use serde::Serialize;

use super::{CommentError, CommentOutcome, Comments, unchanged_check};
use crate::access::Permission;
use crate::posts::{ActionablePost, unchanged};
use crate::{Caller, LikeMode};

/// The input of a like. Without a type it is recorded as before there were types, so that a request of an
/// earlier version can be repeated.
#[derive(Serialize)]
#[serde(untagged)]
enum LikeInput<'a> {
    Any(&'a CommentId),
    OfType(&'a CommentId, LikeType),
}

#[boxed]
impl Comments {
    /// Likes a comment, or changes the type of the like. Repeating it has no effect.
    pub async fn like(
        &self,
        caller: &Caller,
        id: &CommentId,
        like_type: Option<LikeType>,
        request: Option<&RequestId>,
    ) -> Result<Comment, CommentError> {
        let mutation = self.context.mutation(caller).await?;
        let input = like_type.map_or(LikeInput::Any(id), |wanted| LikeInput::OfType(id, wanted));
        mutation
            .once("likeComment", &input, request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                let (comment, post, access) = self.visible_with_access(caller, &me, id).await?;
                let actionable = ActionablePost::new(caller, &access, Permission::Like, post);
                let actionable = actionable.filter(|_| !access.is_blocked(&comment.user_id));
                let actionable = actionable.ok_or(CommentError::NoSuchComment)?;
                let like: Write = match self.like_of(caller, &comment).await? {
                    Some(like) if like_type.is_none_or(|wanted| wanted == like.like_type()) => {
                        return attempt.unchanged(CommentOutcome::of(&comment), comment).await;
                    }
                    Some(like) => like.key().patch().set(CommentLike::LIKE_TYPE, &like_type).into(),
                    None => self.new_like(&me.id, &comment, like_type).create().into(),
                };
                attempt
                    .commit()
                    .with("like", like)
                    .with("comment", unchanged_check(&comment))
                    .with_all("post", actionable.checks([&comment.user_id])?)
                    .finish(CommentOutcome::of(&comment), comment)
                    .await
            })
            .await
    }

    /// Removes the caller's like; refused where likes are permanent.
    pub async fn unlike(
        &self,
        caller: &Caller,
        id: &CommentId,
        request: Option<&RequestId>,
    ) -> Result<Comment, CommentError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("unlikeComment", id, request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                let (comment, post, _) = self.visible_with_access(caller, &me, id).await?;
                let Some(like) = self.like_of(caller, &comment).await? else {
                    return attempt.unchanged(CommentOutcome::of(&comment), comment).await;
                };
                if self.context.settings().likes == LikeMode::Permanent {
                    return Err(CommentError::LikesPermanent);
                }
                attempt
                    .commit()
                    .with("like", like.key().delete())
                    .with("post", unchanged(&post))
                    .finish(CommentOutcome::of(&comment), comment)
                    .await
            })
            .await
    }

    fn new_like(
        &self,
        user: &UserId,
        comment: &Comment,
        like_type: Option<LikeType>,
    ) -> CommentLike {
        CommentLike {
            post_id: comment.post_id.clone(),
            comment_id: comment.id.clone(),
            user_id: user.clone(),
            like_type,
            created_at: self.context.now(),
        }
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
}
