//! Shares: users republish posts to their followers (R18).

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Post, Share, User};
use roundtable_model::table::Check;
use roundtable_model::{ActivityVerb, Entity, PostId, RequestId};
use serde::{Deserialize, Serialize};

use crate::access::Permission;
use crate::account::is_not_deleted;
use crate::activities::{ActivityDraft, prepare_activity};
use crate::mutation::{Attempt, AttemptOutcome};
use crate::posts::{ActionablePost, load_actionable, visible};
use crate::{Caller, Context, refusals};

refusals! {
    ShareError {
        NoSuchPost: NotFound = "there is no such post",
        NotPublic: Forbidden = "only public posts can be shared",
    }
}

#[derive(Clone, Debug)]
pub struct Shares {
    context: Context,
}

/// The caller's share of a post, after an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareState {
    pub post_id: PostId,
    /// `None` when the caller has not shared the post.
    pub share: Option<Share>,
}

/// The post of a request; a replay reads the share again.
#[derive(Debug, Serialize, Deserialize)]
enum ShareOutcome {
    Shared(PostId),
    Unshared(PostId),
}

#[boxed]
impl Shares {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Shares a public post. Repeating it has no effect.
    pub async fn share(
        &self,
        caller: &Caller,
        post: &PostId,
        request: Option<&RequestId>,
    ) -> Result<ShareState, ShareError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("sharePost", post, request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                let actionable =
                    load_actionable(&self.context, caller, &me, Permission::Share, post).await?;
                let actionable = actionable.ok_or(ShareError::NoSuchPost)?;
                let post_id = actionable.post.id.clone();
                if let Some(share) = self.share_of(caller, &post_id).await? {
                    let shared = ShareState { post_id: post_id.clone(), share: Some(share) };
                    let outcome = ShareOutcome::Shared(post_id);
                    return attempt.unchanged(outcome, shared).await;
                }
                if !is_shareable(&actionable) {
                    return Err(ShareError::NotPublic);
                }
                let draft =
                    ActivityDraft::of_post(&me.id, None, ActivityVerb::Share, &actionable.post);
                self.add(&actionable, draft, attempt).await
            })
            .await
    }

    /// Removes the caller's share. Possible even if they no longer see the post, as long as it
    /// exists, because others still see the share.
    pub async fn unshare(
        &self,
        caller: &Caller,
        post: &PostId,
        request: Option<&RequestId>,
    ) -> Result<ShareState, ShareError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("unsharePost", post, request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |_, attempt| {
                let outcome = ShareOutcome::Unshared(post.clone());
                let unshared = ShareState { post_id: post.clone(), share: None };
                let Some(share) = self.share_of(caller, post).await? else {
                    let visible = visible(&self.context, Some(caller), post).await?;
                    visible.ok_or(ShareError::NoSuchPost)?;
                    return attempt.unchanged(outcome, unshared).await;
                };
                let not_deleted = self.context.core().post(post).get().await?;
                let not_deleted = not_deleted.filter(|post| !post.is_deleted);
                not_deleted.ok_or(ShareError::NoSuchPost)?;
                // A share made concurrently is another one.
                let same = Share::ACTIVITY_ID.is(&share.activity_id);
                attempt
                    .commit()
                    .with("share", share.key().delete().when(same))
                    .with("post", Post::at(post).check(Post::IS_DELETED.is(&false)))
                    .finish(outcome, unshared)
                    .await
            })
            .await
    }

    async fn add(
        &self,
        actionable: &ActionablePost,
        draft: ActivityDraft,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<ShareState>, ShareError> {
        let post = &actionable.post;
        let published = prepare_activity(&self.context, attempt, draft).await?;
        let share = Share {
            post_id: post.id.clone(),
            user_id: published.activity.actor_id.clone(),
            activity_id: published.activity.activity_id.clone(),
            post_user_id: post.author_id.clone(),
            created_at: published.activity.created_at,
        };
        published
            .add_to(attempt.commit())
            .with("share", share.create())
            .with_all("post", actionable.checks([])?)
            .with("author", still_public(post))
            .finish(
                ShareOutcome::Shared(post.id.clone()),
                ShareState { post_id: post.id.clone(), share: Some(share) },
            )
            .await
    }

    async fn share_of(&self, caller: &Caller, post: &PostId) -> Result<Option<Share>, ShareError> {
        let ids = std::slice::from_ref(post);
        let shares = self.context.core().shared(ids, &caller.user_id).get().await?;
        Ok(shares.into_iter().flatten().next())
    }

    async fn replayed(
        &self,
        caller: &Caller,
        outcome: ShareOutcome,
    ) -> Result<ShareState, ShareError> {
        let post_id = match outcome {
            ShareOutcome::Shared(post) => {
                let post = visible(&self.context, Some(caller), &post).await?;
                post.ok_or(ShareError::NoSuchPost)?.id
            }
            ShareOutcome::Unshared(post) => post,
        };
        let share = self.share_of(caller, &post_id).await?;
        Ok(ShareState { post_id, share })
    }
}

/// Returns whether a post is public, by the current privacy of the author's account: the post's
/// copy of it may be stale.
fn is_shareable(actionable: &ActionablePost) -> bool {
    let Post { visibility, moderation_status, is_deleted, group_id, .. } = &actionable.post;
    let is_private = &actionable.is_author_private;
    Post::publicly_listed(visibility, moderation_status, is_deleted, group_id, is_private)
}

/// Requires that the author's account exists and is public.
fn still_public(post: &Post) -> Check {
    User::at(&post.author_id).check(is_not_deleted().and(User::IS_PRIVATE.is(&false)))
}
