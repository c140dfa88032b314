//! Groups and memberships: their types, queries, mutations and subscription.

use std::sync::Arc;

use roundtable_domain::{GroupChange, GroupView, LiveEvent, NewGroup, Topic};
use roundtable_execution::{FieldError, Given, SharedValue};
use roundtable_graphql_macros::{fields, input, object};
use roundtable_interface::{ApiError, none_if_hidden};
use roundtable_model::table::Order;
use roundtable_model::{GroupId, GroupRole, JoinPolicy, RequestId, RoomId, Tag, UserId, entities};

use crate::activities::{self, Activity};
use crate::connection::{Connection, PageArguments};
use crate::edits::{edit, edit_non_null, edit_or_default};
use crate::events::{EventStream, subscribe};
use crate::node::node_id;
use crate::objects::{converted, objects, only};
use crate::request::RequestContext;
use crate::rooms::Room;
use crate::users::User;

#[derive(Clone, Debug)]
pub(crate) struct Group {
    group: Arc<entities::Group>,
    /// `None` if it was not read with the group.
    members: Option<MemberSummary>,
}

/// The number of members of a group, and the viewer's role in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemberSummary {
    count: u64,
    viewer_role: Option<GroupRole>,
}

impl From<entities::Group> for Group {
    fn from(group: entities::Group) -> Self {
        Self { group: Arc::new(group), members: None }
    }
}

impl From<GroupView> for Group {
    fn from(view: GroupView) -> Self {
        let (count, viewer_role) = (view.members_count, view.viewer_role());
        let members = Some(MemberSummary { count, viewer_role });
        Self { group: Arc::new(view.group), members }
    }
}

impl Group {
    /// Returns groups in the order of their ids; `None` where one does not exist.
    pub(crate) async fn load(
        context: &RequestContext,
        ids: &[GroupId],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let read = async |ids: &[GroupId]| {
            Ok(converted(context.services().groups().views(context.viewer(), ids).await?))
        };
        context.groups.get(ids, read).await
    }
}

impl SharedValue<Group> for MemberSummary {
    async fn read(groups: &[Group], context: &RequestContext) -> Result<Vec<Self>, FieldError> {
        let unread = groups.iter().filter(|group| group.members.is_none());
        let ids: Vec<GroupId> = unread.map(|group| group.group.id.clone()).collect();
        let mut read = Group::load(context, &ids).await?.into_iter();
        let members = |group: &Group| {
            let members = group.members.or_else(|| read.next().flatten()?.members);
            // A deleted group has no members.
            members.unwrap_or_default()
        };
        Ok(groups.iter().map(members).collect())
    }
}

#[object(of = self.group)]
impl Group {
    fn node_id(&self) -> String {
        node_id("Group", &[&self.group.id])
    }

    fn owner(&self) -> &UserId {
        &self.group.owner_id
    }

    fn is_persistent(&self) -> bool {
        self.group.persists()
    }

    fn join_policy(&self) -> JoinPolicy {
        self.group.join_policy()
    }

    fn members_count(members: &MemberSummary) -> u64 {
        members.count
    }

    fn viewer_role(members: &MemberSummary) -> Option<GroupRole> {
        members.viewer_role
    }

    async fn room(
        groups: &[Self],
        context: &RequestContext,
    ) -> Result<Vec<Option<Room>>, ApiError> {
        let ids: Vec<RoomId> = groups.iter().map(|it| it.group.room_id.clone()).collect();
        let rooms = none_if_hidden(Room::load(context, &ids).await)?;
        Ok(rooms.unwrap_or_else(|| vec![None; groups.len()]))
    }

    async fn members(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<GroupMember>, ApiError> {
        Connection::empty_if_hidden(list_members(context, &self.group.id, paging).await)
    }

    async fn activities(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Activity>, ApiError> {
        let actor = (&self.group.id).into();
        let list = activities::list_by_actor(context, &actor, Order::Descending, paging).await;
        Connection::empty_if_hidden(list)
    }
}

objects! {
    GroupMember of entities::GroupMember;
}

impl GroupMember {
    /// Returns memberships in the order of their keys; `None` where the viewer may not see one.
    pub(crate) async fn load(
        context: &RequestContext,
        keys: &[(GroupId, UserId)],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        Ok(converted(context.services().groups().memberships(context.viewer(), keys).await?))
    }
}

#[object(of = self.0)]
impl GroupMember {
    fn node_id(&self) -> String {
        node_id("GroupMember", &[&self.0.group_id, &self.0.user_id])
    }

    fn group(&self) -> &GroupId {
        &self.0.group_id
    }

    fn user(&self) -> &UserId {
        &self.0.user_id
    }
}

async fn list_members(
    context: &RequestContext,
    group: &GroupId,
    paging: PageArguments,
) -> Result<Connection<GroupMember>, ApiError> {
    let (groups, viewer) = (context.services().groups(), context.viewer());
    let list = format!("members of {group}");
    paging.read(context, &list, async |page| groups.members(viewer, group, page).await).await
}

pub(crate) async fn list_joined_by(
    context: &RequestContext,
    user: &UserId,
    paging: PageArguments,
) -> Result<Connection<Group>, ApiError> {
    let groups = context.services().groups();
    let list = format!("groups of {user}");
    let read = async |page: &_| match context.viewer() {
        Some(caller) if caller.user_id == *user => groups.mine(caller, page).await,
        viewer => groups.of(viewer, user, page).await,
    };
    paging.read(context, &list, read).await
}

pub(crate) struct GroupQueries;

#[fields(Query)]
impl GroupQueries {
    async fn get_group(context: &RequestContext, id: GroupId) -> Result<Option<Group>, ApiError> {
        Ok(only(Group::load(context, &[id]).await?))
    }

    async fn list_group_members(
        context: &RequestContext,
        group_id: GroupId,
        paging: PageArguments,
    ) -> Result<Connection<GroupMember>, ApiError> {
        list_members(context, &group_id, paging).await
    }

    async fn list_my_groups(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Group>, ApiError> {
        list_joined_by(context, &context.caller()?.user_id, paging).await
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct CreateGroupInput {
    name: String,
    description: Option<String>,
    tags: Option<Vec<Tag>>,
    is_persistent: Option<bool>,
    is_private: Option<bool>,
    join_policy: Option<JoinPolicy>,
}

impl From<CreateGroupInput> for NewGroup {
    fn from(input: CreateGroupInput) -> Self {
        Self {
            name: input.name,
            description: input.description,
            tags: input.tags.unwrap_or_default(),
            is_persistent: input.is_persistent,
            is_private: input.is_private.unwrap_or(false),
            join_policy: input.join_policy,
        }
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct UpdateGroupInput {
    group_id: GroupId,
    name: Given<String>,
    description: Given<String>,
    tags: Given<Vec<Tag>>,
    is_persistent: Given<bool>,
    is_private: Given<bool>,
    join_policy: Given<JoinPolicy>,
}

pub(crate) struct GroupMutations;

#[fields(Mutation)]
impl GroupMutations {
    async fn create_group(
        context: &RequestContext,
        input: CreateGroupInput,
        request_id: Option<RequestId>,
    ) -> Result<Group, ApiError> {
        let (groups, caller) = (context.services().groups(), context.caller()?);
        Ok(groups.create(caller, input.into(), request_id.as_ref()).await?.into())
    }

    async fn update_group(
        context: &RequestContext,
        input: UpdateGroupInput,
        request_id: Option<RequestId>,
    ) -> Result<Group, ApiError> {
        let change = GroupChange {
            name: edit_non_null("name", input.name)?,
            description: edit(input.description),
            tags: edit_or_default(input.tags),
            is_persistent: edit_non_null("isPersistent", input.is_persistent)?,
            is_private: edit_non_null("isPrivate", input.is_private)?,
            join_policy: edit_non_null("joinPolicy", input.join_policy)?,
        };
        let (groups, caller) = (context.services().groups(), context.caller()?);
        Ok(groups.update(caller, &input.group_id, change, request_id.as_ref()).await?.into())
    }

    async fn delete_group(
        context: &RequestContext,
        group_id: GroupId,
        request_id: Option<RequestId>,
    ) -> Result<Group, ApiError> {
        let (groups, caller) = (context.services().groups(), context.caller()?);
        Ok(groups.delete(caller, &group_id, request_id.as_ref()).await?.into())
    }

    async fn revive_group(
        context: &RequestContext,
        group_id: GroupId,
        request_id: Option<RequestId>,
    ) -> Result<Group, ApiError> {
        let (groups, caller) = (context.services().groups(), context.caller()?);
        Ok(groups.revive(caller, &group_id, request_id.as_ref()).await?.into())
    }

    async fn join_group(
        context: &RequestContext,
        group_id: GroupId,
        request_id: Option<RequestId>,
    ) -> Result<GroupMember, ApiError> {
        let (groups, caller) = (context.services().groups(), context.caller()?);
        Ok(groups.join(caller, &group_id, request_id.as_ref()).await?.into())
    }

    async fn leave_group(
        context: &RequestContext,
        group_id: GroupId,
        request_id: Option<RequestId>,
    ) -> Result<GroupMember, ApiError> {
        let (groups, caller) = (context.services().groups(), context.caller()?);
        Ok(groups.leave(caller, &group_id, request_id.as_ref()).await?.into())
    }

    async fn set_group_role(
        context: &RequestContext,
        group_id: GroupId,
        user_id: UserId,
        role: GroupRole,
        request_id: Option<RequestId>,
    ) -> Result<GroupMember, ApiError> {
        let (groups, caller) = (context.services().groups(), context.caller()?);
        let member = groups.set_role(caller, &group_id, &user_id, role, request_id.as_ref());
        Ok(member.await?.into())
    }

    async fn invite_to_group(
        context: &RequestContext,
        group_id: GroupId,
        user_id: UserId,
        request_id: Option<RequestId>,
    ) -> Result<GroupMember, ApiError> {
        let (groups, caller) = (context.services().groups(), context.caller()?);
        Ok(groups.invite(caller, &group_id, &user_id, request_id.as_ref()).await?.into())
    }

    async fn approve_member(
        context: &RequestContext,
        group_id: GroupId,
        user_id: UserId,
        request_id: Option<RequestId>,
    ) -> Result<GroupMember, ApiError> {
        let (groups, caller) = (context.services().groups(), context.caller()?);
        Ok(groups.approve(caller, &group_id, &user_id, request_id.as_ref()).await?.into())
    }

    async fn remove_member(
        context: &RequestContext,
        group_id: GroupId,
        user_id: UserId,
        request_id: Option<RequestId>,
    ) -> Result<GroupMember, ApiError> {
        let (groups, caller) = (context.services().groups(), context.caller()?);
        Ok(groups.remove(caller, &group_id, &user_id, request_id.as_ref()).await?.into())
    }
}

pub(crate) struct GroupSubscriptions;

#[fields(Subscription)]
impl GroupSubscriptions {
    async fn on_group_membership(
        context: &RequestContext,
        group_id: GroupId,
    ) -> Result<EventStream<GroupMember>, ApiError> {
        subscribe(context, Topic::Members(group_id), |event| match event {
            LiveEvent::Membership(member) => Some((*member).into()),
            _ => None,
        })
        .await
    }
}
