//! Liking posts, and passing them on.

use async_graphql::{Context, Object};
use roundtable_model::{LikeType, PostId};

use crate::Refused;
use crate::request::{Asked, Once, once};
use crate::scalars::Id;
use crate::types::reactions::{LikeResult, ShareResult};
use crate::words::Word;

/// Mutations of likes and shares.
#[derive(Debug, Default)]
pub(super) struct Reacting;

#[Object]
impl Reacting {
    /// Likes a post, or likes it in another way. Liking twice is liking once.
    async fn like_post(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
        like_type: Option<Word<LikeType>>,
        request_id: Once,
    ) -> Result<LikeResult, Refused> {
        let asked = Asked::of(ctx)?;
        let like_type = like_type.map(|word| word.0);
        let (likes, request) = (asked.services().likes(), once(&request_id));
        Ok(likes.like(asked.caller()?, &post_id.0, like_type, request).await?.into())
    }

    async fn unlike_post(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
        request_id: Once,
    ) -> Result<LikeResult, Refused> {
        let asked = Asked::of(ctx)?;
        let likes = asked.services().likes();
        Ok(likes.unlike(asked.caller()?, &post_id.0, once(&request_id)).await?.into())
    }

    /// Likes a post that the caller does not like, and one they like no longer.
    async fn toggle_like(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
        request_id: Once,
    ) -> Result<LikeResult, Refused> {
        let asked = Asked::of(ctx)?;
        let likes = asked.services().likes();
        Ok(likes.toggle(asked.caller()?, &post_id.0, once(&request_id)).await?.into())
    }

    /// Passes a post on to those who follow the caller. Sharing twice is sharing once.
    async fn share_post(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
        request_id: Once,
    ) -> Result<ShareResult, Refused> {
        let asked = Asked::of(ctx)?;
        let shares = asked.services().shares();
        Ok(shares.share(asked.caller()?, &post_id.0, once(&request_id)).await?.into())
    }

    async fn unshare_post(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
        request_id: Once,
    ) -> Result<ShareResult, Refused> {
        let asked = Asked::of(ctx)?;
        let shares = asked.services().shares();
        Ok(shares.unshare(asked.caller()?, &post_id.0, once(&request_id)).await?.into())
    }
}
