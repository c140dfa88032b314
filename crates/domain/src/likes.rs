//! Likes of posts, with their types (R20). Processors count them.

use std::collections::HashSet;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Like, Post, User};
use roundtable_model::{Entity, LikeType, PostId, RequestId, UserId};
use serde::{Deserialize, Serialize};

use crate::access::Permission;
use crate::comments::sort_key;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::pages::fill_page;
use crate::posts::{self, ActionablePost, load_actionable, posts, unchanged, visible};
use crate::{Caller, Context, LikeMode, Page, PageInput, refusals};

refusals! {
    LikeError {
        NoSuchPost: NotFound = "there is no such post",
        NoSuchUser: NotFound = "there is no such user",
        LikesPermanent: Forbidden = "likes cannot be removed on this server",
    }
}

#[derive(Clone, Debug)]
pub struct Likes {
    context: Context,
}

/// The caller's like of a post, after an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikeState {
    pub post_id: PostId,
    /// `None` when the caller does not like the post.
    pub like: Option<Like>,
}

/// The post of a request; a replay reads the like again.
#[derive(Debug, Serialize, Deserialize)]
struct LikeOutcome {
    post: PostId,
}

#[boxed]
impl Likes {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Likes a post, or changes the type of the like. Repeating it has no effect.
    pub async fn like(
        &self,
        caller: &Caller,
        post: &PostId,
        like_type: Option<LikeType>,
        request: Option<&RequestId>,
    ) -> Result<LikeState, LikeError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("likePost", &(post, like_type), request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                let (actionable, like) = self.load_actionable_with_like(caller, &me, post).await?;
                match like {
                    Some(like) => self.change(&actionable, like, like_type, attempt).await,
                    None => self.add(caller, &actionable, like_type, attempt).await,
                }
            })
            .await
    }

    /// Removes the caller's like; refused where likes are permanent.
    pub async fn unlike(
        &self,
        caller: &Caller,
        post: &PostId,
        request: Option<&RequestId>,
    ) -> Result<LikeState, LikeError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("unlikePost", post, request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                let (ActionablePost { post, .. }, like) =
                    self.load_actionable_with_like(caller, &me, post).await?;
                if let Some(like) = like {
                    return self.remove(&post, &like, attempt).await;
                }
                let answer = LikeState::new(&post, None);
                attempt.unchanged(LikeOutcome::of(&post), answer).await
            })
            .await
    }

    /// Likes a post, or removes the like if there is one (R31).
    pub async fn toggle(
        &self,
        caller: &Caller,
        post: &PostId,
        request: Option<&RequestId>,
    ) -> Result<LikeState, LikeError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("toggleLike", post, request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                let (actionable, like) = self.load_actionable_with_like(caller, &me, post).await?;
                match like {
                    Some(like) => self.remove(&actionable.post, &like, attempt).await,
                    None => self.add(caller, &actionable, None, attempt).await,
                }
            })
            .await
    }

    /// Returns the likes of a post that the viewer may see (R27).
    pub async fn of(
        &self,
        viewer: Option<&Caller>,
        post: &PostId,
        page: &PageInput,
    ) -> Result<Page<Like>, LikeError> {
        let post = visible(&self.context, viewer, post).await?.ok_or(LikeError::NoSuchPost)?;
        fill_page(
            page,
            async |limit, after| {
                self.context.core().likes(&post.id).strong().limit(limit).after(after).page().await
            },
            async |likes: Vec<Like>| {
                let people = likes.iter().map(|like| &like.user_id);
                let access = self.context.viewer_access(viewer, people, []).await?;
                let visible = |like: &Like| access.visible_user(&like.user_id).is_some();
                Ok(likes.into_iter().map(|like| Some(like).filter(visible)).collect())
            },
        )
        .await
    }

    /// Returns a user's likes, newest first, as far as the viewer may see the profile and the posts
    /// (R27).
    pub async fn by(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        page: &PageInput,
    ) -> Result<Page<Like>, LikeError> {
        let access = self.context.viewer_access(viewer, [user], []).await?;
        if !access.can_see_inside_user(user) {
            return Err(LikeError::NoSuchUser);
        }
        fill_page(
            page,
            async |limit, after| {
                self.context.core().likes_by(user).limit(limit).after(after).page().await
            },
            async |likes: Vec<Like>| {
                let ids: Vec<PostId> = likes.iter().map(|like| like.post_id.clone()).collect();
                let liked = posts(&self.context, &ids).await?;
                let liked = posts::filter_visible(&self.context, viewer, liked).await?;
                let each = likes.into_iter().zip(liked);
                Ok(each.map(|(like, post)| post.map(|_| like)).collect())
            },
        )
        .await
    }

    /// Returns, for each post, whether the user likes it, as far as the viewer may see both (R27).
    pub async fn has_liked(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        ids: &[PostId],
    ) -> Result<Vec<bool>, LikeError> {
        let access = self.context.viewer_access(viewer, [user], []).await?;
        if !access.can_see_inside_user(user) {
            return Ok(vec![false; ids.len()]);
        }
        let visible_posts = posts(&self.context, ids).await?;
        let visible_posts = posts::filter_visible(&self.context, viewer, visible_posts).await?;
        let likes = self.context.core().liked(ids, user).get().await?;
        let each = likes.into_iter().zip(visible_posts);
        Ok(each.map(|(like, post)| like.is_some() && post.is_some()).collect())
    }

    /// Returns likes by post and user, in the order given; `None` where the viewer may not see one.
    pub async fn among(
        &self,
        viewer: Option<&Caller>,
        item_keys: &[(PostId, UserId)],
    ) -> Result<Vec<Option<Like>>, LikeError> {
        let at = item_keys.iter().map(|(post, user)| Like::at(post, user));
        let likes = self.context.items_at("liked", at).await?;
        let liked: HashSet<PostId> = item_keys.iter().map(|(post, _)| post.clone()).collect();
        let liked: Vec<PostId> = liked.into_iter().collect();
        let liked =
            posts::filter_visible(&self.context, viewer, posts(&self.context, &liked).await?)
                .await?;
        let liked: HashSet<PostId> = liked.into_iter().flatten().map(|post| post.id).collect();
        let people = item_keys.iter().map(|(_, user)| user);
        let access = self.context.viewer_access(viewer, people, []).await?;
        let is_visible =
            |it: &Like| liked.contains(&it.post_id) && access.visible_user(&it.user_id).is_some();
        Ok(likes.into_iter().map(|like| like.filter(is_visible)).collect())
    }

    /// Returns a post the caller may like, with their like.
    async fn load_actionable_with_like(
        &self,
        caller: &Caller,
        me: &User,
        post: &PostId,
    ) -> Result<(ActionablePost, Option<Like>), LikeError> {
        let actionable = load_actionable(&self.context, caller, me, Permission::Like, post).await?;
        let actionable = actionable.ok_or(LikeError::NoSuchPost)?;
        let ids = std::slice::from_ref(&actionable.post.id);
        let likes = self.context.core().liked(ids, &me.id).get().await?;
        Ok((actionable, likes.into_iter().flatten().next()))
    }

    async fn add(
        &self,
        caller: &Caller,
        actionable: &ActionablePost,
        like_type: Option<LikeType>,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<LikeState>, LikeError> {
        let post = &actionable.post;
        let like = Like {
            post_id: post.id.clone(),
            user_id: caller.user_id.clone(),
            like_type: like_type.unwrap_or(LikeType::Like),
            post_user_id: post.author_id.clone(),
            post_sk: sort_key(post),
            activity_pub_id: None,
            created_at: self.context.now(),
        };
        attempt
            .commit()
            .with("like", like.create())
            .with_all("post", actionable.checks([])?)
            .finish(LikeOutcome::of(post), LikeState::new(post, Some(like)))
            .await
    }

    async fn change(
        &self,
        actionable: &ActionablePost,
        like: Like,
        like_type: Option<LikeType>,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<LikeState>, LikeError> {
        let post = &actionable.post;
        let like_type = like_type.unwrap_or(like.like_type);
        if like.like_type == like_type {
            let answer = LikeState::new(post, Some(like));
            return attempt.unchanged(LikeOutcome::of(post), answer).await;
        }
        attempt
            .commit()
            .with("like", like.key().patch().set(Like::LIKE_TYPE, &like_type))
            .with_all("post", actionable.checks([])?)
            .finish(LikeOutcome::of(post), LikeState::new(post, Some(Like { like_type, ..like })))
            .await
    }

    async fn remove(
        &self,
        post: &Post,
        like: &Like,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<LikeState>, LikeError> {
        if self.context.settings().likes == LikeMode::Permanent {
            return Err(LikeError::LikesPermanent);
        }
        attempt
            .commit()
            .with("like", like.key().delete())
            .with("post", unchanged(post))
            .finish(LikeOutcome::of(post), LikeState::new(post, None))
            .await
    }

    /// The caller's like now, if they may still see the post.
    async fn replayed(
        &self,
        caller: &Caller,
        outcome: LikeOutcome,
    ) -> Result<LikeState, LikeError> {
        let me = self.context.authorize_read(caller).await?;
        let (actionable, like) = self.load_actionable_with_like(caller, &me, &outcome.post).await?;
        Ok(LikeState::new(&actionable.post, like))
    }
}

impl LikeState {
    fn new(post: &Post, like: Option<Like>) -> Self {
        Self { post_id: post.id.clone(), like }
    }
}

impl LikeOutcome {
    fn of(post: &Post) -> Self {
        Self { post: post.id.clone() }
    }
}
