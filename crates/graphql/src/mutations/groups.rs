//! Mutations of groups and memberships.

use async_graphql::{Context, InputObject, MaybeUndefined, Object};
use roundtable_domain::{GroupChange, NewGroup};
use roundtable_model::{GroupId, GroupRole, Tag, UserId};

use crate::ApiError;
use crate::edits::{edit, edit_non_null, edit_or_default};
use crate::enums::EnumValue;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::{ApiId, ApiText};
use crate::types::groups::{Group, GroupMember};

#[derive(Debug, Default)]
pub(super) struct GroupMutations;

/// A new group.
#[derive(Debug, InputObject)]
pub(crate) struct CreateGroupInput {
    name: String,
    description: Option<String>,
    tags: Option<Vec<ApiText<Tag>>>,
    /// True if the group outlasts its project.
    is_persistent: Option<bool>,
    /// True if only members see its content, and others must request to join.
    is_private: Option<bool>,
}

impl From<CreateGroupInput> for NewGroup {
    fn from(input: CreateGroupInput) -> Self {
        let CreateGroupInput { name, description, tags, is_persistent, is_private } = input;
        Self {
            description,
            tags: tags.unwrap_or_default().into_iter().map(|tag| tag.0).collect(),
            is_persistent: is_persistent.unwrap_or(false),
            is_private: is_private.unwrap_or(false),
            ..Self::named(name)
        }
    }
}

/// Changes to a group. An absent field keeps its value.
#[derive(Debug, InputObject)]
pub(crate) struct UpdateGroupInput {
    group_id: ApiId<GroupId>,
    name: MaybeUndefined<String>,
    description: MaybeUndefined<String>,
    tags: MaybeUndefined<Vec<ApiText<Tag>>>,
}

impl UpdateGroupInput {
    fn read(self) -> Result<(GroupId, GroupChange), ApiError> {
        let tags = edit_or_default(self.tags);
        let change = GroupChange {
            name: edit_non_null("name", self.name)?,
            description: edit(self.description),
            tags: tags.map(|tags| tags.into_iter().map(|tag| tag.0).collect()),
        };
        Ok((self.group_id.0, change))
    }
}

#[Object]
impl GroupMutations {
    async fn create_group(
        &self,
        ctx: &Context<'_>,
        input: CreateGroupInput,
        request_id: RequestIdArg,
    ) -> Result<Group, ApiError> {
        let context = RequestContext::of(ctx)?;
        let groups = context.services().groups();
        Ok(groups.create(context.caller()?, input.into(), id_ref(&request_id)).await?.into())
    }

    async fn update_group(
        &self,
        ctx: &Context<'_>,
        input: UpdateGroupInput,
        request_id: RequestIdArg,
    ) -> Result<Group, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (group, change) = input.read()?;
        let groups = context.services().groups();
        Ok(groups.update(context.caller()?, &group, change, id_ref(&request_id)).await?.into())
    }

    /// Deletes a group and returns it as it was.
    async fn delete_group(
        &self,
        ctx: &Context<'_>,
        group_id: ApiId<GroupId>,
        request_id: RequestIdArg,
    ) -> Result<Group, ApiError> {
        let context = RequestContext::of(ctx)?;
        let groups = context.services().groups();
        Ok(groups.delete(context.caller()?, &group_id.0, id_ref(&request_id)).await?.into())
    }

    /// Joins a group, or requests to join a private one.
    async fn join_group(
        &self,
        ctx: &Context<'_>,
        group_id: ApiId<GroupId>,
        request_id: RequestIdArg,
    ) -> Result<GroupMember, ApiError> {
        let context = RequestContext::of(ctx)?;
        let groups = context.services().groups();
        Ok(groups.join(context.caller()?, &group_id.0, id_ref(&request_id)).await?.into())
    }

    /// Leaves a group and returns the membership as it was.
    async fn leave_group(
        &self,
        ctx: &Context<'_>,
        group_id: ApiId<GroupId>,
        request_id: RequestIdArg,
    ) -> Result<GroupMember, ApiError> {
        let context = RequestContext::of(ctx)?;
        let groups = context.services().groups();
        Ok(groups.leave(context.caller()?, &group_id.0, id_ref(&request_id)).await?.into())
    }

    /// Changes a member's role. The role `owner` transfers the group.
    async fn set_group_role(
        &self,
        ctx: &Context<'_>,
        group_id: ApiId<GroupId>,
        user_id: ApiId<UserId>,
        role: EnumValue<GroupRole>,
        request_id: RequestIdArg,
    ) -> Result<GroupMember, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (groups, request) = (context.services().groups(), id_ref(&request_id));
        let (group, user) = (&group_id.0, &user_id.0);
        Ok(groups.set_role(context.caller()?, group, user, role.0, request).await?.into())
    }

    async fn invite_to_group(
        &self,
        ctx: &Context<'_>,
        group_id: ApiId<GroupId>,
        user_id: ApiId<UserId>,
        request_id: RequestIdArg,
    ) -> Result<GroupMember, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (groups, request) = (context.services().groups(), id_ref(&request_id));
        Ok(groups.invite(context.caller()?, &group_id.0, &user_id.0, request).await?.into())
    }

    /// Accepts a request to join.
    async fn approve_member(
        &self,
        ctx: &Context<'_>,
        group_id: ApiId<GroupId>,
        user_id: ApiId<UserId>,
        request_id: RequestIdArg,
    ) -> Result<GroupMember, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (groups, request) = (context.services().groups(), id_ref(&request_id));
        Ok(groups.approve(context.caller()?, &group_id.0, &user_id.0, request).await?.into())
    }

    /// Removes a member or rejects a request to join, and returns the membership as it was.
    async fn remove_member(
        &self,
        ctx: &Context<'_>,
        group_id: ApiId<GroupId>,
        user_id: ApiId<UserId>,
        request_id: RequestIdArg,
    ) -> Result<GroupMember, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (groups, request) = (context.services().groups(), id_ref(&request_id));
        Ok(groups.remove(context.caller()?, &group_id.0, &user_id.0, request).await?.into())
    }
}
