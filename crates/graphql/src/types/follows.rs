//! The GraphQL type of follows.

use async_graphql::{Context, ID, Object};
use roundtable_model::{Day, FollowStatus, UserId, entities};

use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime, Url};

#[derive(Clone, Debug)]
pub(crate) struct Follow(pub(crate) entities::Follow);

impl From<entities::Follow> for Follow {
    fn from(follow: entities::Follow) -> Self {
        Self(follow)
    }
}

#[Object]
impl Follow {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Follow", &[&self.0.follower_id.to_string(), &self.0.followee_id.to_string()])
    }

    async fn follower_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.follower_id)
    }

    async fn followee_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.followee_id)
    }

    async fn follower(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        User::load(ctx, &self.0.follower_id).await
    }

    async fn followee(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        User::load(ctx, &self.0.followee_id).await
    }

    async fn status(&self) -> EnumValue<FollowStatus> {
        EnumValue(self.0.status)
    }

    async fn muted(&self) -> bool {
        self.0.muted
    }

    async fn notification_enabled(&self) -> bool {
        self.0.notification_enabled
    }

    async fn activity_pub_id(&self) -> Option<Url> {
        self.0.activity_pub_id.clone().map(Url)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

pub(crate) async fn list_followers(
    ctx: &Context<'_>,
    user: &UserId,
    paging: PageArguments,
) -> Result<Connection<Follow>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let follows = context.services().follows();
    let list = format!("followers of {user}");
    paging
        .read(ctx, &list, async |page| follows.followers(context.viewer(), user, page).await)
        .await
}

pub(crate) async fn list_following(
    ctx: &Context<'_>,
    user: &UserId,
    paging: PageArguments,
) -> Result<Connection<Follow>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let follows = context.services().follows();
    let list = format!("followed by {user}");
    paging
        .read(ctx, &list, async |page| follows.following(context.viewer(), user, page).await)
        .await
}

pub(crate) async fn list_requests(
    ctx: &Context<'_>,
    paging: PageArguments,
) -> Result<Connection<Follow>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, follows) = (context.caller()?, context.services().follows());
    let list = "requests to follow";
    paging.read(ctx, list, async |page| follows.requests(caller, page).await).await
}

pub(crate) async fn list_on_day(
    ctx: &Context<'_>,
    day: Day,
    paging: PageArguments,
) -> Result<Connection<Follow>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let follows = context.services().follows();
    let list = format!("follows of {day}");
    paging
        .read(ctx, &list, async |page| follows.activity_of(context.viewer(), day, page).await)
        .await
}
