//! Mutations of likes and shares.

use async_graphql::{Context, Object};
use roundtable_model::{LikeType, PostId};

use crate::ApiError;
use crate::enums::EnumValue;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::ApiId;
use crate::types::reactions::{LikeResult, ShareResult};

#[derive(Debug, Default)]
pub(super) struct ReactionMutations;

#[Object]
impl ReactionMutations {
    /// Likes a post or changes the type of the like. Repeated likes count once.
    async fn like_post(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
        like_type: Option<EnumValue<LikeType>>,
        request_id: RequestIdArg,
    ) -> Result<LikeResult, ApiError> {
        let context = RequestContext::of(ctx)?;
        let like_type = like_type.map(|word| word.0);
        let (likes, request) = (context.services().likes(), id_ref(&request_id));
        Ok(likes.like(context.caller()?, &post_id.0, like_type, request).await?.into())
    }

    async fn unlike_post(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
        request_id: RequestIdArg,
    ) -> Result<LikeResult, ApiError> {
        let context = RequestContext::of(ctx)?;
        let likes = context.services().likes();
        Ok(likes.unlike(context.caller()?, &post_id.0, id_ref(&request_id)).await?.into())
    }

    /// Likes a post, or removes the caller's like.
    async fn toggle_like(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
        request_id: RequestIdArg,
    ) -> Result<LikeResult, ApiError> {
        let context = RequestContext::of(ctx)?;
        let likes = context.services().likes();
        Ok(likes.toggle(context.caller()?, &post_id.0, id_ref(&request_id)).await?.into())
    }

    /// Shares a post with the caller's followers. Repeated shares count once.
    async fn share_post(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
        request_id: RequestIdArg,
    ) -> Result<ShareResult, ApiError> {
        let context = RequestContext::of(ctx)?;
        let shares = context.services().shares();
        Ok(shares.share(context.caller()?, &post_id.0, id_ref(&request_id)).await?.into())
    }

    async fn unshare_post(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
        request_id: RequestIdArg,
    ) -> Result<ShareResult, ApiError> {
        let context = RequestContext::of(ctx)?;
        let shares = context.services().shares();
        Ok(shares.unshare(context.caller()?, &post_id.0, id_ref(&request_id)).await?.into())
    }
}
