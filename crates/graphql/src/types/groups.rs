//! Communities and who is in them, as the API shows them.

use async_graphql::{Context, ID, Object};
use roundtable_domain::GroupView;
use roundtable_model::table::Order;
use roundtable_model::{GroupId, GroupRole, MemberStatus, UserId, entities};

use super::activities::{self, Activity};
use super::rooms::Room;
use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::node::node_id;
use crate::refusal::if_seen;
use crate::request::Asked;
use crate::scalars::{DateTime, Id};
use crate::words::Word;

/// A community. Every group shows that it is there; of a private one, only members see what is inside.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) group: entities::Group,
    /// As the viewer sees it, where that is known already.
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
    /// A group, if there is one.
    pub(crate) async fn load(ctx: &Context<'_>, id: &GroupId) -> Result<Option<Self>, Refused> {
        Ok(Asked::of(ctx)?.load.one(id.clone()).await?.map(Self::from))
    }

    /// As the viewer sees it; `None` once it is gone.
    async fn view(&self, ctx: &Context<'_>) -> Result<Option<GroupView>, Refused> {
        match &self.view {
            Some(view) => Ok(Some(view.clone())),
            None => Asked::of(ctx)?.load.one(self.group.id.clone()).await,
        }
    }
}

#[Object]
impl Group {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Group", &[&self.group.id.to_string()])
    }

    async fn id(&self) -> Id<&GroupId> {
        Id(&self.group.id)
    }

    async fn name(&self) -> &str {
        &self.group.name
    }

    async fn description(&self) -> Option<&str> {
        self.group.description.as_deref()
    }

    async fn owner_id(&self) -> Id<&UserId> {
        Id(&self.group.owner_id)
    }

    async fn owner(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        User::load(ctx, &self.group.owner_id).await
    }

    async fn tags(&self) -> Vec<String> {
        self.group.tags.iter().map(ToString::to_string).collect()
    }

    /// Whether it stays when its project is over.
    async fn is_persistent(&self) -> bool {
        self.group.is_persistent
    }

    /// Whether only members see what is in it.
    async fn is_private(&self) -> bool {
        self.group.is_private
    }

    async fn members_count(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        Ok(self.view(ctx).await?.map_or(0, |view| view.members_count))
    }

    /// What the viewer may do in it; null while they are not in.
    async fn viewer_role(&self, ctx: &Context<'_>) -> Result<Option<Word<GroupRole>>, Refused> {
        Ok(self.view(ctx).await?.and_then(|view| view.viewer_role()).map(Word))
    }

    /// Where its members talk, for them.
    async fn room(&self, ctx: &Context<'_>) -> Result<Option<Room>, Refused> {
        Ok(if_seen(Room::load(ctx, &self.group.room_id).await)?.flatten())
    }

    async fn members(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<GroupMember>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(members(ctx, &self.group.id, paging).await)
    }

    /// What members did in it, the newest first.
    async fn activities(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Activity>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let group = (&self.group.id).into();
        Connection::if_seen(activities::of(ctx, &group, Order::Descending, paging).await)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.group.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.group.updated_at)
    }
}

/// Somebody in a group, invited to it, or asking to join.
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

    async fn group_id(&self) -> Id<&GroupId> {
        Id(&self.0.group_id)
    }

    async fn user_id(&self) -> Id<&UserId> {
        Id(&self.0.user_id)
    }

    async fn group(&self, ctx: &Context<'_>) -> Result<Option<Group>, Refused> {
        Group::load(ctx, &self.0.group_id).await
    }

    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        User::load(ctx, &self.0.user_id).await
    }

    async fn role(&self) -> Word<GroupRole> {
        Word(self.0.role)
    }

    async fn status(&self) -> Word<MemberStatus> {
        Word(self.0.status)
    }

    /// When they joined, asked to, or were invited.
    async fn joined_at(&self) -> DateTime {
        DateTime(self.0.joined_at)
    }
}

/// Who is in a group.
pub(crate) async fn members(
    ctx: &Context<'_>,
    group: &GroupId,
    paging: Paging,
) -> Result<Connection<GroupMember>, Refused> {
    let asked = Asked::of(ctx)?;
    let groups = asked.services().groups();
    let list = format!("members of {group}");
    paging.read(ctx, &list, async |page| groups.members(asked.viewer(), group, page).await).await
}

/// The groups somebody is in.
pub(crate) async fn joined_by(
    ctx: &Context<'_>,
    user: &UserId,
    paging: Paging,
) -> Result<Connection<Group>, Refused> {
    let asked = Asked::of(ctx)?;
    let groups = asked.services().groups();
    let list = format!("groups of {user}");
    let read = async |page: &_| match asked.viewer() {
        Some(caller) if caller.user_id == *user => groups.mine(caller, page).await,
        viewer => groups.of(viewer, user, page).await,
    };
    paging.read(ctx, &list, read).await
}
