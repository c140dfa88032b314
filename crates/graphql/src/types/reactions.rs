//! What people did with posts, as the API shows it.

use async_graphql::{Context, ID, Object};
use roundtable_domain::{Liked, Shared};
use roundtable_model::{LikeType, PostId, UserId, entities};

use super::posts::Post;
use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::loaders::CounterOf;
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id, Url};
use crate::words::Word;

/// Somebody likes a post.
#[derive(Clone, Debug)]
pub(crate) struct Like(pub(crate) entities::Like);

impl From<entities::Like> for Like {
    fn from(like: entities::Like) -> Self {
        Self(like)
    }
}

#[Object]
impl Like {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Like", &[&self.0.post_id.to_string(), &self.0.user_id.to_string()])
    }

    async fn post_id(&self) -> Id<&PostId> {
        Id(&self.0.post_id)
    }

    async fn user_id(&self) -> Id<&UserId> {
        Id(&self.0.user_id)
    }

    async fn post(&self, ctx: &Context<'_>) -> Result<Option<Post>, Refused> {
        Post::load(ctx, &self.0.post_id).await
    }

    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        User::load(ctx, &self.0.user_id).await
    }

    async fn like_type(&self) -> Word<LikeType> {
        Word(self.0.like_type)
    }

    async fn activity_pub_id(&self) -> Option<Url> {
        self.0.activity_pub_id.clone().map(Url)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

/// How the caller stands to a post, after what they did.
#[derive(Clone, Debug)]
pub(crate) struct LikeResult {
    pub(crate) post_id: PostId,
    pub(crate) liked: bool,
}

impl From<Liked> for LikeResult {
    fn from(liked: Liked) -> Self {
        Self { post_id: liked.post_id, liked: liked.like.is_some() }
    }
}

#[Object]
impl LikeResult {
    async fn post_id(&self) -> Id<&PostId> {
        Id(&self.post_id)
    }

    async fn post(&self, ctx: &Context<'_>) -> Result<Option<Post>, Refused> {
        Post::load(ctx, &self.post_id).await
    }

    /// Whether they like it now.
    async fn liked(&self) -> bool {
        self.liked
    }

    /// How many like it; counted in the background, so this one may be missing for a moment.
    async fn like_count(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        let counter = Asked::of(ctx)?.load.one(CounterOf(self.post_id.clone())).await?;
        Ok(counter.map_or(0, |counter| counter.likes))
    }
}

/// How the caller stands to a post, after what they did.
#[derive(Clone, Debug)]
pub(crate) struct ShareResult(Shared);

impl From<Shared> for ShareResult {
    fn from(shared: Shared) -> Self {
        Self(shared)
    }
}

#[Object]
impl ShareResult {
    async fn post_id(&self) -> Id<&PostId> {
        Id(&self.0.post_id)
    }

    async fn post(&self, ctx: &Context<'_>) -> Result<Option<Post>, Refused> {
        Post::load(ctx, &self.0.post_id).await
    }

    /// Whether they have passed it on.
    async fn shared(&self) -> bool {
        self.0.share.is_some()
    }

    /// How many passed it on; counted in the background, so this one may be missing for a moment.
    async fn share_count(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        // Whoever takes a share back may not see the post any more.
        if Post::load(ctx, &self.0.post_id).await?.is_none() {
            return Ok(0);
        }
        let counter = Asked::of(ctx)?.load.one(CounterOf(self.0.post_id.clone())).await?;
        Ok(counter.map_or(0, |counter| counter.shares))
    }
}

/// Who likes a post.
pub(crate) async fn likes_of(
    ctx: &Context<'_>,
    post: &PostId,
    paging: Paging,
) -> Result<Connection<Like>, Refused> {
    let asked = Asked::of(ctx)?;
    let likes = asked.services().likes();
    let list = format!("likes of {post}");
    paging.read(ctx, &list, async |page| likes.of(asked.viewer(), post, page).await).await
}

/// What somebody likes.
pub(crate) async fn likes_by(
    ctx: &Context<'_>,
    user: &UserId,
    paging: Paging,
) -> Result<Connection<Like>, Refused> {
    let asked = Asked::of(ctx)?;
    let likes = asked.services().likes();
    let list = format!("likes by {user}");
    paging.read(ctx, &list, async |page| likes.by(asked.viewer(), user, page).await).await
}
