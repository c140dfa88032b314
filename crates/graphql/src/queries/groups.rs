//! Asking for groups and who is in them.

use async_graphql::{Context, Object};
use roundtable_model::GroupId;

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::request::Asked;
use crate::scalars::Id;
use crate::types::groups::{self, Group, GroupMember};

/// Queries of groups.
#[derive(Debug, Default)]
pub(super) struct Groups;

#[Object]
impl Groups {
    async fn get_group(
        &self,
        ctx: &Context<'_>,
        id: Id<GroupId>,
    ) -> Result<Option<Group>, Refused> {
        Group::load(ctx, &id.0).await
    }

    async fn list_group_members(
        &self,
        ctx: &Context<'_>,
        group_id: Id<GroupId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<GroupMember>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        groups::members(ctx, &group_id.0, paging).await
    }

    /// The groups the caller is in, the one joined last first.
    async fn list_my_groups(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Group>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let me = &Asked::of(ctx)?.caller()?.user_id;
        groups::joined_by(ctx, me, paging).await
    }
}
