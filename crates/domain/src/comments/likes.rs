//! Who likes which comment.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Comment, CommentLike};
use roundtable_model::{CommentId, Entity, RequestId};

use super::{CommentError, Comments, Outcome, still_there};
use crate::access::Act;
use crate::once::{Request, Tried};
use crate::posts::{Open, unchanged};
use crate::{Caller, LikeMode};

#[boxed]
impl Comments {
    /// Likes a comment that the caller sees. Liking twice is liking once.
    pub async fn like(
        &self,
        caller: &Caller,
        id: &CommentId,
        request: Option<&RequestId>,
    ) -> Result<Comment, CommentError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "likeComment", id)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, outcome).await,
                async || {
                    let (comment, post, sight) = self.found(caller, &me, id).await?;
                    let open = Open::new(caller, &sight, Act::Like, post);
                    let open = open.filter(|_| !sight.is_blocked(&comment.user_id));
                    let open = open.ok_or(CommentError::NoSuchComment)?;
                    if self.like_of(caller, &comment).await?.is_some() {
                        return self.nothing_to_do(comment, request.as_ref()).await;
                    }
                    let like = CommentLike {
                        post_id: comment.post_id.clone(),
                        comment_id: comment.id.clone(),
                        user_id: me.id.clone(),
                        created_at: self.ground.now(),
                    };
                    let commit = self
                        .ground
                        .commit()
                        .with("like", like.create())
                        .with("comment", still_there(&comment))
                        .with_any("post", open.checks([&comment.user_id]))
                        .remembering(request.as_ref(), &Outcome::of(&comment))?;
                    Ok(commit.done(comment).await?)
                },
            )
            .await
    }

    /// Likes a comment no longer. Where likes are permanent, this is refused.
    pub async fn unlike(
        &self,
        caller: &Caller,
        id: &CommentId,
        request: Option<&RequestId>,
    ) -> Result<Comment, CommentError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "unlikeComment", id)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, outcome).await,
                async || {
                    let (comment, post, _) = self.found(caller, &me, id).await?;
                    let Some(like) = self.like_of(caller, &comment).await? else {
                        return self.nothing_to_do(comment, request.as_ref()).await;
                    };
                    if self.ground.settings().likes == LikeMode::Permanent {
                        return Err(CommentError::Permanent);
                    }
                    let commit = self
                        .ground
                        .commit()
                        .with("like", like.key().delete())
                        .with("post", unchanged(&post))
                        .remembering(request.as_ref(), &Outcome::of(&comment))?;
                    Ok(commit.done(comment).await?)
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
            self.ground.core().comment_likes(&comment.post_id, ids, &caller.user_id).strong();
        Ok(likes.get().await?.into_iter().flatten().next())
    }

    /// It is so already. The request is remembered all the same: sent again when it is otherwise, it
    /// must not change that.
    async fn nothing_to_do(
        &self,
        comment: Comment,
        request: Option<&Request>,
    ) -> Result<Tried<Comment>, CommentError> {
        let outcome = Outcome::of(&comment);
        Ok(self.ground.nothing_to_do(request, &outcome, comment).await?)
    }
}
