//! Listening to who follows whom, and who is in which group.

use async_graphql::{Context, Subscription};
use roundtable_domain::{Event, Matter};
use roundtable_model::{GroupId, UserId};

use super::{Told, listen};
use crate::Refused;
use crate::scalars::Id;
use crate::types::follows::Follow;
use crate::types::groups::GroupMember;

/// Subscriptions of people.
#[derive(Debug, Default)]
pub(super) struct PeopleLive;

#[Subscription]
impl PeopleLive {
    /// Who follows somebody, or asks to: requests are for those at either end.
    async fn on_follow_user(
        &self,
        ctx: &Context<'_>,
        followee_id: Id<UserId>,
    ) -> Result<Told<Follow>, Refused> {
        listen(ctx, Matter::Followers(followee_id.0), |event| match event {
            Event::Follow(follow) => Some((*follow).into()),
            _ => None,
        })
        .await
    }

    /// Who comes to a group, gets another role, or leaves; whoever leaves, as they were.
    async fn on_group_membership(
        &self,
        ctx: &Context<'_>,
        group_id: Id<GroupId>,
    ) -> Result<Told<GroupMember>, Refused> {
        listen(ctx, Matter::Members(group_id.0), |event| match event {
            Event::Membership(member) => Some((*member).into()),
            _ => None,
        })
        .await
    }
}
