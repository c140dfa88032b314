//! Who passed which post on to those who follow them (R18).

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Post, Share, User};
use roundtable_model::table::Check;
use roundtable_model::{ActivityVerb, Entity, PostId, RequestId, UserStatus};
use serde::{Deserialize, Serialize};

use crate::access::Act;
use crate::activities::{News, publish};
use crate::once::{Request, Tried};
use crate::posts::{Open, open_to, visible};
use crate::{Caller, Ground, refusals};

refusals! {
    /// Why a post was not passed on.
    ShareError {
        NoSuchPost: NotFound = "there is no such post",
        NotForEverybody: Forbidden = "only posts for everybody can be shared",
    }
}

/// The shares of everybody.
#[derive(Clone, Debug)]
pub struct Shares {
    ground: Ground,
}

/// How the caller stands to a post, after what they did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The post.
    pub post_id: PostId,
    /// Their share; `None` when they have not passed it on.
    pub share: Option<Share>,
}

/// What a request did with a post; how that stands is asked again.
#[derive(Debug, Serialize, Deserialize)]
enum Outcome {
    Shared(PostId),
    Unshared(PostId),
}

#[boxed]
impl Shares {
    /// The shares on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Passes a post on, if it is for everybody. Sharing twice is sharing once.
    pub async fn share(
        &self,
        caller: &Caller,
        post: &PostId,
        request: Option<&RequestId>,
    ) -> Result<Shared, ShareError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "sharePost", post)?;
        let is_late = AtomicBool::new(false);
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, outcome).await,
                async || {
                    let open = open_to(&self.ground, caller, &me, Act::Share, post).await?;
                    let open = open.ok_or(ShareError::NoSuchPost)?;
                    let post_id = open.post.id.clone();
                    if let Some(share) = self.share_of(caller, &post_id).await? {
                        let shared = Shared { post_id: post_id.clone(), share: Some(share) };
                        let outcome = Outcome::Shared(post_id);
                        return self.nothing_to_do(shared, &outcome, request.as_ref()).await;
                    }
                    if !is_shareable(&open) {
                        return Err(ShareError::NotForEverybody);
                    }
                    let news = News::of_post(&me.id, None, ActivityVerb::Share, &open.post);
                    let news = news.again(is_late.swap(true, Relaxed));
                    self.add(&open, news, request.as_ref()).await
                },
            )
            .await
    }

    /// Takes back that the caller has passed a post on. They may even if they no longer see the post,
    /// as long as it is there: others see who shared it.
    pub async fn unshare(
        &self,
        caller: &Caller,
        post: &PostId,
        request: Option<&RequestId>,
    ) -> Result<Shared, ShareError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "unsharePost", post)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, outcome).await,
                async || {
                    let outcome = Outcome::Unshared(post.clone());
                    let unshared = Shared { post_id: post.clone(), share: None };
                    let Some(share) = self.share_of(caller, post).await? else {
                        let seen = visible(&self.ground, Some(caller), post).await?;
                        seen.ok_or(ShareError::NoSuchPost)?;
                        return self.nothing_to_do(unshared, &outcome, request.as_ref()).await;
                    };
                    let live = self.ground.core().post(post).get().await?;
                    let live = live.filter(|post| !post.is_deleted);
                    live.ok_or(ShareError::NoSuchPost)?;
                    // Shared anew meanwhile, it would be another share.
                    let same = Share::ACTIVITY_ID.is(&share.activity_id);
                    let commit = self
                        .ground
                        .commit()
                        .with("share", share.key().delete().when(same))
                        .with("post", Post::at(post).check(Post::IS_DELETED.is(&false)))
                        .remembering(request.as_ref(), &outcome)?;
                    Ok(commit.done(unshared).await?)
                },
            )
            .await
    }

    async fn add(
        &self,
        open: &Open,
        news: News,
        request: Option<&Request>,
    ) -> Result<Tried<Shared>, ShareError> {
        let post = &open.post;
        let published = publish(&self.ground, news).await?;
        let share = Share {
            post_id: post.id.clone(),
            user_id: published.activity.actor_id.clone(),
            activity_id: published.activity.activity_id.clone(),
            post_user_id: post.author_id.clone(),
            created_at: published.activity.created_at,
        };
        let commit = published
            .in_commit(self.ground.commit())
            .with("share", share.create())
            .with_any("post", open.checks([]))
            .with("author", still_public(post))
            .remembering(request, &Outcome::Shared(post.id.clone()))?;
        Ok(commit.done(Shared { post_id: post.id.clone(), share: Some(share) }).await?)
    }

    async fn share_of(&self, caller: &Caller, post: &PostId) -> Result<Option<Share>, ShareError> {
        let ids = std::slice::from_ref(post);
        let shares = self.ground.core().shared(ids, &caller.user_id).get().await?;
        Ok(shares.into_iter().flatten().next())
    }

    /// It is so already. The request is remembered all the same: sent again when it is otherwise, it
    /// must not change that.
    async fn nothing_to_do(
        &self,
        shared: Shared,
        outcome: &Outcome,
        request: Option<&Request>,
    ) -> Result<Tried<Shared>, ShareError> {
        Ok(self.ground.nothing_to_do(request, outcome, shared).await?)
    }

    /// How the caller stands to the post now.
    async fn replayed(&self, caller: &Caller, outcome: Outcome) -> Result<Shared, ShareError> {
        let post_id = match outcome {
            Outcome::Shared(post) => {
                let post = visible(&self.ground, Some(caller), &post).await?;
                post.ok_or(ShareError::NoSuchPost)?.id
            }
            Outcome::Unshared(post) => post,
        };
        let share = self.share_of(caller, &post_id).await?;
        Ok(Shared { post_id, share })
    }
}

/// Whether a post is for everybody: its author's account is asked, which the post may not have heard of
/// yet.
fn is_shareable(open: &Open) -> bool {
    let Post { visibility, moderation_status, is_deleted, group_id, .. } = &open.post;
    let is_private = &open.is_author_private;
    Post::for_everybody(visibility, moderation_status, is_deleted, group_id, is_private)
}

/// The author is there, and has not turned private.
fn still_public(post: &Post) -> Check {
    let there = User::STATUS.is_not(&UserStatus::Deleted);
    User::at(&post.author_id).check(there.and(User::IS_PRIVATE.is(&false)))
}
