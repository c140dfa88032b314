//! Subscriptions to follows and group memberships.

use async_graphql::{Context, Subscription};
use roundtable_domain::{LiveEvent, Topic};
use roundtable_model::{GroupId, UserId};

use super::{EventStream, subscribe};
use crate::ApiError;
use crate::scalars::ApiId;
use crate::types::follows::Follow;
use crate::types::groups::GroupMember;

#[derive(Debug, Default)]
pub(super) struct UserSubscriptions;

#[Subscription]
impl UserSubscriptions {
    /// New follows of a user. Only both users involved get requests to follow.
    async fn on_follow_user(
        &self,
        ctx: &Context<'_>,
        followee_id: ApiId<UserId>,
    ) -> Result<EventStream<Follow>, ApiError> {
        subscribe(ctx, Topic::Followers(followee_id.0), |event| match event {
            LiveEvent::Follow(follow) => Some((*follow).into()),
            _ => None,
        })
        .await
    }

    /// Members who join a group, change role or leave; those who leave are sent as they were.
    async fn on_group_membership(
        &self,
        ctx: &Context<'_>,
        group_id: ApiId<GroupId>,
    ) -> Result<EventStream<GroupMember>, ApiError> {
        subscribe(ctx, Topic::Members(group_id.0), |event| match event {
            LiveEvent::Membership(member) => Some((*member).into()),
            _ => None,
        })
        .await
    }
}
