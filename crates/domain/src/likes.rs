//! Who likes which post, and in which way (R20). Counting likes is the processors'.

use std::collections::HashSet;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Like, Post, User};
use roundtable_model::{Entity, LikeType, PostId, RequestId, UserId};
use serde::{Deserialize, Serialize};

use crate::access::Act;
use crate::comments::sort_key;
use crate::once::{Request, Tried};
use crate::pages::fill;
use crate::posts::{self, Open, open_to, posts, unchanged, visible};
use crate::{Caller, Ground, LikeMode, Page, PageInput, refusals};

refusals! {
    /// Why a like was not changed or shown.
    LikeError {
        NoSuchPost: NotFound = "there is no such post",
        NoSuchUser: NotFound = "there is no such person",
        Permanent: Forbidden = "a like cannot be taken back here",
    }
}

/// The likes of everybody.
#[derive(Clone, Debug)]
pub struct Likes {
    ground: Ground,
}

/// How the caller stands to a post, after what they did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liked {
    /// The post.
    pub post_id: PostId,
    /// Their like; `None` when they do not like it.
    pub like: Option<Like>,
}

/// What a request was about; how that stands is asked again.
#[derive(Debug, Serialize, Deserialize)]
struct Outcome {
    post: PostId,
}

#[boxed]
impl Likes {
    /// The likes on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Likes a post, or likes it in another way. Liking twice is liking once.
    pub async fn like(
        &self,
        caller: &Caller,
        post: &PostId,
        like_type: Option<LikeType>,
        request: Option<&RequestId>,
    ) -> Result<Liked, LikeError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "likePost", &(post, like_type))?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, &me, outcome).await,
                async || {
                    let (open, like) = self.found(caller, &me, post).await?;
                    match like {
                        Some(like) => self.change(&open, like, like_type, request.as_ref()).await,
                        None => self.add(caller, &open, like_type, request.as_ref()).await,
                    }
                },
            )
            .await
    }

    /// Likes a post no longer. Where likes are permanent, this is refused.
    pub async fn unlike(
        &self,
        caller: &Caller,
        post: &PostId,
        request: Option<&RequestId>,
    ) -> Result<Liked, LikeError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "unlikePost", post)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, &me, outcome).await,
                async || {
                    let (Open { post, .. }, like) = self.found(caller, &me, post).await?;
                    match like {
                        Some(like) => self.remove(&post, &like, request.as_ref()).await,
                        None => self.nothing_to_do(&post, None, request.as_ref()).await,
                    }
                },
            )
            .await
    }

    /// Likes a post that the caller does not like, and one they like no longer (R31).
    pub async fn toggle(
        &self,
        caller: &Caller,
        post: &PostId,
        request: Option<&RequestId>,
    ) -> Result<Liked, LikeError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "toggleLike", post)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, &me, outcome).await,
                async || {
                    let (open, like) = self.found(caller, &me, post).await?;
                    match like {
                        Some(like) => self.remove(&open.post, &like, request.as_ref()).await,
                        None => self.add(caller, &open, None, request.as_ref()).await,
                    }
                },
            )
            .await
    }

    /// Who likes a post, for those who may see it (R27).
    pub async fn of(
        &self,
        viewer: Option<&Caller>,
        post: &PostId,
        page: &PageInput,
    ) -> Result<Page<Like>, LikeError> {
        let post = visible(&self.ground, viewer, post).await?.ok_or(LikeError::NoSuchPost)?;
        fill(
            page,
            async |limit, after| {
                self.ground.core().likes(&post.id).strong().limit(limit).after(after).page().await
            },
            async |likes: Vec<Like>| {
                let people = likes.iter().map(|like| &like.user_id);
                let sight = self.ground.sight(viewer, people, []).await?;
                let seen = |like: &Like| sight.person(&like.user_id).is_some();
                Ok(likes.into_iter().map(|like| Some(like).filter(seen)).collect())
            },
        )
        .await
    }

    /// What somebody likes, for those who may see the profile and the posts, newest first (R27).
    pub async fn by(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        page: &PageInput,
    ) -> Result<Page<Like>, LikeError> {
        let sight = self.ground.sight(viewer, [user], []).await?;
        if !sight.sees_inside(user) {
            return Err(LikeError::NoSuchUser);
        }
        fill(
            page,
            async |limit, after| {
                self.ground.core().likes_by(user).limit(limit).after(after).page().await
            },
            async |likes: Vec<Like>| {
                let ids: Vec<PostId> = likes.iter().map(|like| like.post_id.clone()).collect();
                let liked = posts(&self.ground, &ids).await?;
                let liked = posts::seen(&self.ground, viewer, liked).await?;
                let each = likes.into_iter().zip(liked);
                Ok(each.map(|(like, post)| post.map(|_| like)).collect())
            },
        )
        .await
    }

    /// Whether somebody likes posts, as far as the viewer may know (R27).
    pub async fn has_liked(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        ids: &[PostId],
    ) -> Result<Vec<bool>, LikeError> {
        let sight = self.ground.sight(viewer, [user], []).await?;
        if !sight.sees_inside(user) {
            return Ok(vec![false; ids.len()]);
        }
        let asked = posts(&self.ground, ids).await?;
        let asked = posts::seen(&self.ground, viewer, asked).await?;
        let likes = self.ground.core().liked(ids, user).get().await?;
        let each = likes.into_iter().zip(asked);
        Ok(each.map(|(like, post)| like.is_some() && post.is_some()).collect())
    }

    /// Likes by post and person, each in its place; `None` where there is none for the viewer.
    pub async fn among(
        &self,
        viewer: Option<&Caller>,
        places: &[(PostId, UserId)],
    ) -> Result<Vec<Option<Like>>, LikeError> {
        let at = places.iter().map(|(post, user)| Like::at(post, user));
        let likes = self.ground.at("liked", at).await?;
        let liked: HashSet<PostId> = places.iter().map(|(post, _)| post.clone()).collect();
        let liked: Vec<PostId> = liked.into_iter().collect();
        let liked = posts::seen(&self.ground, viewer, posts(&self.ground, &liked).await?).await?;
        let liked: HashSet<PostId> = liked.into_iter().flatten().map(|post| post.id).collect();
        let people = places.iter().map(|(_, user)| user);
        let sight = self.ground.sight(viewer, people, []).await?;
        let shows = |it: &Like| liked.contains(&it.post_id) && sight.person(&it.user_id).is_some();
        Ok(likes.into_iter().map(|like| like.filter(shows)).collect())
    }

    /// A post that the caller may like, and their like.
    async fn found(
        &self,
        caller: &Caller,
        me: &User,
        post: &PostId,
    ) -> Result<(Open, Option<Like>), LikeError> {
        let open = open_to(&self.ground, caller, me, Act::Like, post).await?;
        let open = open.ok_or(LikeError::NoSuchPost)?;
        let ids = std::slice::from_ref(&open.post.id);
        let likes = self.ground.core().liked(ids, &me.id).get().await?;
        Ok((open, likes.into_iter().flatten().next()))
    }

    async fn add(
        &self,
        caller: &Caller,
        open: &Open,
        like_type: Option<LikeType>,
        request: Option<&Request>,
    ) -> Result<Tried<Liked>, LikeError> {
        let post = &open.post;
        let like = Like {
            post_id: post.id.clone(),
            user_id: caller.user_id.clone(),
            like_type: like_type.unwrap_or(LikeType::Like),
            post_user_id: post.author_id.clone(),
            post_sk: sort_key(post),
            activity_pub_id: None,
            created_at: self.ground.now(),
        };
        let commit = self
            .ground
            .commit()
            .with("like", like.create())
            .with_any("post", open.checks([]))
            .remembering(request, &Outcome::of(post))?;
        Ok(commit.done(Liked::new(post, Some(like))).await?)
    }

    async fn change(
        &self,
        open: &Open,
        like: Like,
        like_type: Option<LikeType>,
        request: Option<&Request>,
    ) -> Result<Tried<Liked>, LikeError> {
        let post = &open.post;
        let like_type = like_type.unwrap_or(like.like_type);
        if like.like_type == like_type {
            return self.nothing_to_do(post, Some(like), request).await;
        }
        let commit = self
            .ground
            .commit()
            .with("like", like.key().patch().set(Like::LIKE_TYPE, &like_type))
            .with_any("post", open.checks([]))
            .remembering(request, &Outcome::of(post))?;
        Ok(commit.done(Liked::new(post, Some(Like { like_type, ..like }))).await?)
    }

    async fn remove(
        &self,
        post: &Post,
        like: &Like,
        request: Option<&Request>,
    ) -> Result<Tried<Liked>, LikeError> {
        if self.ground.settings().likes == LikeMode::Permanent {
            return Err(LikeError::Permanent);
        }
        let commit = self
            .ground
            .commit()
            .with("like", like.key().delete())
            .with("post", unchanged(post))
            .remembering(request, &Outcome::of(post))?;
        Ok(commit.done(Liked::new(post, None)).await?)
    }

    /// It is so already. The request is remembered all the same: sent again when it is otherwise, it
    /// must not change that.
    async fn nothing_to_do(
        &self,
        post: &Post,
        like: Option<Like>,
        request: Option<&Request>,
    ) -> Result<Tried<Liked>, LikeError> {
        let liked = Liked::new(post, like);
        Ok(self.ground.nothing_to_do(request, &Outcome::of(post), liked).await?)
    }

    /// How the caller stands to the post now, if they may still see it.
    async fn replayed(
        &self,
        caller: &Caller,
        me: &User,
        outcome: Outcome,
    ) -> Result<Liked, LikeError> {
        let (open, like) = self.found(caller, me, &outcome.post).await?;
        Ok(Liked::new(&open.post, like))
    }
}

impl Liked {
    fn new(post: &Post, like: Option<Like>) -> Self {
        Self { post_id: post.id.clone(), like }
    }
}

impl Outcome {
    fn of(post: &Post) -> Self {
        Self { post: post.id.clone() }
    }
}
