//! Following, blocking, and what comes of it.

use async_graphql::{Context, Object};
use roundtable_model::UserId;

use crate::Refused;
use crate::request::{Asked, Once, once};
use crate::scalars::Id;
use crate::types::follows::Follow;

/// Mutations of follows and blocks.
#[derive(Debug, Default)]
pub(super) struct Following;

#[Object]
impl Following {
    /// Follows somebody, or asks to if their account is private.
    async fn follow_user(
        &self,
        ctx: &Context<'_>,
        followee_id: Id<UserId>,
        request_id: Once,
    ) -> Result<Follow, Refused> {
        let asked = Asked::of(ctx)?;
        let follows = asked.services().follows();
        Ok(follows.follow(asked.caller()?, &followee_id.0, once(&request_id)).await?.into())
    }

    /// Follows somebody no longer, or asks no longer; answers with the follow as it was.
    async fn unfollow_user(
        &self,
        ctx: &Context<'_>,
        followee_id: Id<UserId>,
        request_id: Once,
    ) -> Result<Follow, Refused> {
        let asked = Asked::of(ctx)?;
        let follows = asked.services().follows();
        Ok(follows.unfollow(asked.caller()?, &followee_id.0, once(&request_id)).await?.into())
    }

    /// Lets somebody who asked follow the caller.
    async fn accept_follower(
        &self,
        ctx: &Context<'_>,
        follower_id: Id<UserId>,
        request_id: Once,
    ) -> Result<Follow, Refused> {
        let asked = Asked::of(ctx)?;
        let follows = asked.services().follows();
        Ok(follows.accept(asked.caller()?, &follower_id.0, once(&request_id)).await?.into())
    }

    /// Turns somebody away who asked, or who follows; answers with the follow as it was.
    async fn reject_follower(
        &self,
        ctx: &Context<'_>,
        follower_id: Id<UserId>,
        request_id: Once,
    ) -> Result<Follow, Refused> {
        let asked = Asked::of(ctx)?;
        let follows = asked.services().follows();
        Ok(follows.reject(asked.caller()?, &follower_id.0, once(&request_id)).await?.into())
    }

    /// Mutes somebody the caller follows, or switches their notifications; what is not given stays.
    async fn update_follow(
        &self,
        ctx: &Context<'_>,
        followee_id: Id<UserId>,
        notification_enabled: Option<bool>,
        muted: Option<bool>,
        request_id: Once,
    ) -> Result<Follow, Refused> {
        let asked = Asked::of(ctx)?;
        let (follows, request) = (asked.services().follows(), once(&request_id));
        let (caller, followee) = (asked.caller()?, &followee_id.0);
        Ok(follows.update(caller, followee, muted, notification_enabled, request).await?.into())
    }

    /// Ends the follows between the caller and somebody, and neither sees the other any more.
    async fn block_user(
        &self,
        ctx: &Context<'_>,
        user_id: Id<UserId>,
        request_id: Once,
    ) -> Result<bool, Refused> {
        let asked = Asked::of(ctx)?;
        asked.services().blocks().block(asked.caller()?, &user_id.0, once(&request_id)).await?;
        Ok(true)
    }

    async fn unblock_user(
        &self,
        ctx: &Context<'_>,
        user_id: Id<UserId>,
        request_id: Once,
    ) -> Result<bool, Refused> {
        let asked = Asked::of(ctx)?;
        asked.services().blocks().unblock(asked.caller()?, &user_id.0, once(&request_id)).await?;
        Ok(true)
    }
}
