//! Mutations of follows and blocks.

use async_graphql::{Context, Object};
use roundtable_model::UserId;

use crate::ApiError;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::ApiId;
use crate::types::follows::Follow;

#[derive(Debug, Default)]
pub(super) struct FollowMutations;

#[Object]
impl FollowMutations {
    /// Follows a user, or requests to follow a private account.
    async fn follow_user(
        &self,
        ctx: &Context<'_>,
        followee_id: ApiId<UserId>,
        request_id: RequestIdArg,
    ) -> Result<Follow, ApiError> {
        let context = RequestContext::of(ctx)?;
        let follows = context.services().follows();
        Ok(follows.follow(context.caller()?, &followee_id.0, id_ref(&request_id)).await?.into())
    }

    /// Ends a follow or withdraws a request, and returns it as it was.
    async fn unfollow_user(
        &self,
        ctx: &Context<'_>,
        followee_id: ApiId<UserId>,
        request_id: RequestIdArg,
    ) -> Result<Follow, ApiError> {
        let context = RequestContext::of(ctx)?;
        let follows = context.services().follows();
        Ok(follows.unfollow(context.caller()?, &followee_id.0, id_ref(&request_id)).await?.into())
    }

    /// Accepts a request to follow the caller.
    async fn accept_follower(
        &self,
        ctx: &Context<'_>,
        follower_id: ApiId<UserId>,
        request_id: RequestIdArg,
    ) -> Result<Follow, ApiError> {
        let context = RequestContext::of(ctx)?;
        let follows = context.services().follows();
        Ok(follows.accept(context.caller()?, &follower_id.0, id_ref(&request_id)).await?.into())
    }

    /// Rejects a request or removes a follower, and returns the follow as it was.
    async fn reject_follower(
        &self,
        ctx: &Context<'_>,
        follower_id: ApiId<UserId>,
        request_id: RequestIdArg,
    ) -> Result<Follow, ApiError> {
        let context = RequestContext::of(ctx)?;
        let follows = context.services().follows();
        Ok(follows.reject(context.caller()?, &follower_id.0, id_ref(&request_id)).await?.into())
    }

    /// Mutes a user the caller follows, or switches their notifications. Absent arguments change nothing.
    async fn update_follow(
        &self,
        ctx: &Context<'_>,
        followee_id: ApiId<UserId>,
        notification_enabled: Option<bool>,
        muted: Option<bool>,
        request_id: RequestIdArg,
    ) -> Result<Follow, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (follows, request) = (context.services().follows(), id_ref(&request_id));
        let (caller, followee) = (context.caller()?, &followee_id.0);
        Ok(follows.update(caller, followee, muted, notification_enabled, request).await?.into())
    }

    /// Blocks a user: follows between both end, and neither sees the other any more.
    async fn block_user(
        &self,
        ctx: &Context<'_>,
        user_id: ApiId<UserId>,
        request_id: RequestIdArg,
    ) -> Result<bool, ApiError> {
        let context = RequestContext::of(ctx)?;
        context
            .services()
            .blocks()
            .block(context.caller()?, &user_id.0, id_ref(&request_id))
            .await?;
        Ok(true)
    }

    async fn unblock_user(
        &self,
        ctx: &Context<'_>,
        user_id: ApiId<UserId>,
        request_id: RequestIdArg,
    ) -> Result<bool, ApiError> {
        let context = RequestContext::of(ctx)?;
        context
            .services()
            .blocks()
            .unblock(context.caller()?, &user_id.0, id_ref(&request_id))
            .await?;
        Ok(true)
    }
}
