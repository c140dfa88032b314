//! Founding, changing, joining and leaving groups.

use async_graphql::{Context, InputObject, MaybeUndefined, Object};
use roundtable_domain::{GroupChange, NewGroup};
use roundtable_model::{GroupId, GroupRole, Tag, UserId};

use crate::Refused;
use crate::edits::{cleared, edit, kept};
use crate::request::{Asked, Once, once};
use crate::scalars::{Id, Text};
use crate::types::groups::{Group, GroupMember};
use crate::words::Word;

/// Mutations of groups.
#[derive(Debug, Default)]
pub(super) struct Grouping;

/// A group to be founded.
#[derive(Debug, InputObject)]
pub(crate) struct CreateGroupInput {
    name: String,
    description: Option<String>,
    tags: Option<Vec<Text<Tag>>>,
    /// Whether it stays when its project is over.
    is_persistent: Option<bool>,
    /// Whether only members see what is in it, and others must ask to join.
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

/// What is to change about a group; what is not mentioned stays.
#[derive(Debug, InputObject)]
pub(crate) struct UpdateGroupInput {
    group_id: Id<GroupId>,
    name: MaybeUndefined<String>,
    description: MaybeUndefined<String>,
    tags: MaybeUndefined<Vec<Text<Tag>>>,
}

impl UpdateGroupInput {
    fn read(self) -> Result<(GroupId, GroupChange), Refused> {
        let tags = cleared(self.tags);
        let change = GroupChange {
            name: kept("name", self.name)?,
            description: edit(self.description),
            tags: tags.map(|tags| tags.into_iter().map(|tag| tag.0).collect()),
        };
        Ok((self.group_id.0, change))
    }
}

#[Object]
impl Grouping {
    async fn create_group(
        &self,
        ctx: &Context<'_>,
        input: CreateGroupInput,
        request_id: Once,
    ) -> Result<Group, Refused> {
        let asked = Asked::of(ctx)?;
        let groups = asked.services().groups();
        Ok(groups.create(asked.caller()?, input.into(), once(&request_id)).await?.into())
    }

    async fn update_group(
        &self,
        ctx: &Context<'_>,
        input: UpdateGroupInput,
        request_id: Once,
    ) -> Result<Group, Refused> {
        let asked = Asked::of(ctx)?;
        let (group, change) = input.read()?;
        let groups = asked.services().groups();
        Ok(groups.update(asked.caller()?, &group, change, once(&request_id)).await?.into())
    }

    /// Ends a group; answers with it as it was.
    async fn delete_group(
        &self,
        ctx: &Context<'_>,
        group_id: Id<GroupId>,
        request_id: Once,
    ) -> Result<Group, Refused> {
        let asked = Asked::of(ctx)?;
        let groups = asked.services().groups();
        Ok(groups.delete(asked.caller()?, &group_id.0, once(&request_id)).await?.into())
    }

    /// Joins a group, or asks to if it is private.
    async fn join_group(
        &self,
        ctx: &Context<'_>,
        group_id: Id<GroupId>,
        request_id: Once,
    ) -> Result<GroupMember, Refused> {
        let asked = Asked::of(ctx)?;
        let groups = asked.services().groups();
        Ok(groups.join(asked.caller()?, &group_id.0, once(&request_id)).await?.into())
    }

    /// Leaves a group; answers with the membership as it was.
    async fn leave_group(
        &self,
        ctx: &Context<'_>,
        group_id: Id<GroupId>,
        request_id: Once,
    ) -> Result<GroupMember, Refused> {
        let asked = Asked::of(ctx)?;
        let groups = asked.services().groups();
        Ok(groups.leave(asked.caller()?, &group_id.0, once(&request_id)).await?.into())
    }

    /// Gives a member a role. Giving `owner` hands the group over.
    async fn set_group_role(
        &self,
        ctx: &Context<'_>,
        group_id: Id<GroupId>,
        user_id: Id<UserId>,
        role: Word<GroupRole>,
        request_id: Once,
    ) -> Result<GroupMember, Refused> {
        let asked = Asked::of(ctx)?;
        let (groups, request) = (asked.services().groups(), once(&request_id));
        let (group, user) = (&group_id.0, &user_id.0);
        Ok(groups.set_role(asked.caller()?, group, user, role.0, request).await?.into())
    }

    async fn invite_to_group(
        &self,
        ctx: &Context<'_>,
        group_id: Id<GroupId>,
        user_id: Id<UserId>,
        request_id: Once,
    ) -> Result<GroupMember, Refused> {
        let asked = Asked::of(ctx)?;
        let (groups, request) = (asked.services().groups(), once(&request_id));
        Ok(groups.invite(asked.caller()?, &group_id.0, &user_id.0, request).await?.into())
    }

    /// Lets somebody in who asked to join.
    async fn approve_member(
        &self,
        ctx: &Context<'_>,
        group_id: Id<GroupId>,
        user_id: Id<UserId>,
        request_id: Once,
    ) -> Result<GroupMember, Refused> {
        let asked = Asked::of(ctx)?;
        let (groups, request) = (asked.services().groups(), once(&request_id));
        Ok(groups.approve(asked.caller()?, &group_id.0, &user_id.0, request).await?.into())
    }

    /// Puts somebody out, or turns their request down; answers with the membership as it was.
    async fn remove_member(
        &self,
        ctx: &Context<'_>,
        group_id: Id<GroupId>,
        user_id: Id<UserId>,
        request_id: Once,
    ) -> Result<GroupMember, Refused> {
        let asked = Asked::of(ctx)?;
        let (groups, request) = (asked.services().groups(), once(&request_id));
        Ok(groups.remove(asked.caller()?, &group_id.0, &user_id.0, request).await?.into())
    }
}
