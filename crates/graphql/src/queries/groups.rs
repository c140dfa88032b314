//! Queries for groups and their members.

use async_graphql::{Context, Object};
use roundtable_model::GroupId;

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::request::RequestContext;
use crate::scalars::ApiId;
use crate::types::groups::{self, Group, GroupMember};

#[derive(Debug, Default)]
pub(super) struct GroupQueries;

#[Object]
impl GroupQueries {
    async fn get_group(
        &self,
        ctx: &Context<'_>,
        id: ApiId<GroupId>,
    ) -> Result<Option<Group>, ApiError> {
        Group::load(ctx, &id.0).await
    }

    async fn list_group_members(
        &self,
        ctx: &Context<'_>,
        group_id: ApiId<GroupId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<GroupMember>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        groups::list_members(ctx, &group_id.0, paging).await
    }

    /// The caller's groups, most recently joined first.
    async fn list_my_groups(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Group>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let me = &RequestContext::of(ctx)?.caller()?.user_id;
        groups::list_joined_by(ctx, me, paging).await
    }
}
