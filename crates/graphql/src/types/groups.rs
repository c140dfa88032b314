//! GraphQL types of groups and memberships.

use async_graphql::{Context, ID, Object};
use roundtable_domain::GroupView;
use roundtable_model::table::Order;
use roundtable_model::{GroupId, GroupRole, MemberStatus, UserId, entities};

use super::activities::{self, Activity};
use super::rooms::Room;
use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::errors::none_if_hidden;
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime};

/// A group. All users see that a private group exists, but only members see its content.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) group: entities::Group,
    /// The viewer's view of the group, if already loaded.
    view: Option<GroupView>,
}

impl From<entities::Group> for Group {
    fn from(group: entities::Group) -> Self {
        Self { group, view: None }
    }
}

impl From<GroupView> for Group {
    fn from(view: GroupView) -> Self {
        Self { group: view.group.clone(), view: Some(view) }
    }
}

impl Group {
    pub(crate) async fn load(ctx: &Context<'_>, id: &GroupId) -> Result<Option<Self>, ApiError> {
        Ok(RequestContext::of(ctx)?.loaders.load(id.clone()).await?.map(Self::from))
    }

    /// Returns the viewer's view of the group; `None` once it is deleted.
    async fn view(&self, ctx: &Context<'_>) -> Result<Option<GroupView>, ApiError> {
        match &self.view {
            Some(view) => Ok(Some(view.clone())),
            None => RequestContext::of(ctx)?.loaders.load(self.group.id.clone()).await,
        }
    }
}

#[Object]
impl Group {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Group", &[&self.group.id.to_string()])
    }

    async fn id(&self) -> ApiId<&GroupId> {
        ApiId(&self.group.id)
    }

    async fn name(&self) -> &str {
        &self.group.name
    }

    async fn description(&self) -> Option<&str> {
        self.group.description.as_deref()
    }

    async fn owner_id(&self) -> ApiId<&UserId> {
        ApiId(&self.group.owner_id)
    }

    async fn owner(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        User::load(ctx, &self.group.owner_id).await
    }

    async fn tags(&self) -> Vec<String> {
        self.group.tags.iter().map(ToString::to_string).collect()
    }

    /// True if the group outlasts its project.
    async fn is_persistent(&self) -> bool {
        self.group.is_persistent
    }

    /// True if only members see its content.
    async fn is_private(&self) -> bool {
        self.group.is_private
    }

    async fn members_count(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        Ok(self.view(ctx).await?.map_or(0, |view| view.members_count))
    }

    /// The viewer's role; null for non-members.
    async fn viewer_role(
        &self,
        ctx: &Context<'_>,
    ) -> Result<Option<EnumValue<GroupRole>>, ApiError> {
        Ok(self.view(ctx).await?.and_then(|view| view.viewer_role()).map(EnumValue))
    }

    /// The chat room of the group, for members.
    async fn room(&self, ctx: &Context<'_>) -> Result<Option<Room>, ApiError> {
        Ok(none_if_hidden(Room::load(ctx, &self.group.room_id).await)?.flatten())
    }

    async fn members(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<GroupMember>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(list_members(ctx, &self.group.id, paging).await)
    }

    /// The activities in the group, newest first.
    async fn activities(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Activity>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let group = (&self.group.id).into();
        Connection::empty_if_hidden(
            activities::list_by_actor(ctx, &group, Order::Descending, paging).await,
        )
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.group.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.group.updated_at)
    }
}

/// A membership, an invitation or a request to join.
#[derive(Clone, Debug)]
pub(crate) struct GroupMember(pub(crate) entities::GroupMember);

impl From<entities::GroupMember> for GroupMember {
    fn from(member: entities::GroupMember) -> Self {
        Self(member)
    }
}

#[Object]
impl GroupMember {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("GroupMember", &[&self.0.group_id.to_string(), &self.0.user_id.to_string()])
    }

    async fn group_id(&self) -> ApiId<&GroupId> {
        ApiId(&self.0.group_id)
    }

    async fn user_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.user_id)
    }

    async fn group(&self, ctx: &Context<'_>) -> Result<Option<Group>, ApiError> {
        Group::load(ctx, &self.0.group_id).await
    }

    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        User::load(ctx, &self.0.user_id).await
    }

    async fn role(&self) -> EnumValue<GroupRole> {
        EnumValue(self.0.role)
    }

    async fn status(&self) -> EnumValue<MemberStatus> {
        EnumValue(self.0.status)
    }

    /// The time of joining, of the request or of the invitation.
    async fn joined_at(&self) -> DateTime {
        DateTime(self.0.joined_at)
    }
}

pub(crate) async fn list_members(
    ctx: &Context<'_>,
    group: &GroupId,
    paging: PageArguments,
) -> Result<Connection<GroupMember>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let groups = context.services().groups();
    let list = format!("members of {group}");
    paging.read(ctx, &list, async |page| groups.members(context.viewer(), group, page).await).await
}

pub(crate) async fn list_joined_by(
    ctx: &Context<'_>,
    user: &UserId,
    paging: PageArguments,
) -> Result<Connection<Group>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let groups = context.services().groups();
    let list = format!("groups of {user}");
    let read = async |page: &_| match context.viewer() {
        Some(caller) if caller.user_id == *user => groups.mine(caller, page).await,
        viewer => groups.of(viewer, user, page).await,
    };
    paging.read(ctx, &list, read).await
}
