//! Groups: creating, updating and deleting them. Memberships are in `groups/membership`, reads in
//! `groups/reads`, and the cleanup after deleted accounts and groups in `groups/departure`.

mod access;
mod archival;
mod departure;
mod input;
mod membership;
mod ownership;
mod reads;
mod roles;
mod tags;
mod writes;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, GroupCounter, GroupMember};
use roundtable_model::{
    Entity, GroupId, GroupRole, JoinPolicy, MemberStatus, RequestId, RoomId, UserId,
};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, require};
use crate::account::active_account_check;
use crate::idempotency::RemovedEntity;
use crate::rooms::{group_room, new_room_writes};
use crate::{Caller, Context, refusals};

pub(crate) use access::member_relations;
pub(crate) use archival::require_writable;
pub use archival::{ARCHIVAL_NOTICE_MS, ArchivalStep, archival_due_at};
pub use input::{GroupChange, NewGroup};
pub use reads::GroupView;
pub(crate) use writes::{active_member_check, unchanged_member_check};

refusals! {
    GroupError {
        NoSuchGroup: NotFound = "there is no such group",
        NoSuchUser: NotFound = "there is no such user",
        NoSuchMember: NotFound = "this user is not a member of the group",
        NoSuchRequest: NotFound = "this user has not requested to join the group",
        NotAMember: NotFound = "you are not a member of this group",
        InvitationRequired: Forbidden = "this group takes invited users only; ask its owner or an admin for an invitation",
        OpenWhilePrivate: BadRequest = "a private group cannot be open to all; choose the join policy request or invitation",
        OwnerRequired: Conflict = "a group must have an owner; transfer it to another member first",
    }
}

#[derive(Clone, Debug)]
pub struct Groups {
    context: Context,
}

#[derive(Debug, Serialize, Deserialize)]
enum GroupOutcome {
    Group(GroupId),
    Deleted(RemovedEntity<Group>),
}

#[boxed]
impl Groups {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Creates a group: the caller is its owner and first member.
    pub async fn create(
        &self,
        caller: &Caller,
        group: NewGroup,
        request: Option<&RequestId>,
    ) -> Result<Group, GroupError> {
        let mutation = self.context.mutation(caller).await?;
        require(Permission::CreateGroup, Relations::SIGNED_IN)?;
        let new = group.checked()?;
        if new.is_private && new.join_policy == Some(JoinPolicy::Open) {
            return Err(GroupError::OpenWhilePrivate);
        }
        mutation
            .once("createGroup", &new, request)?
            .replay(|outcome| self.replayed(outcome))
            .run(async |me, attempt| {
                let (group, owner) = self.new_group(&me.id, &new);
                let now = group.created_at;
                let circle = self.circle_of_new_owner(&me).await?;
                let counter =
                    GroupCounter { group_id: group.id.clone(), count: 1, updated_at: now };
                attempt
                    .commit()
                    .with("user", active_account_check(&me.id))
                    .with("group", group.create())
                    .with("member", owner.create())
                    .with("members", counter.create())
                    .with("circle", circle)
                    .with_all(
                        "tag",
                        tags::reference_writes(&self.context, None, Some(&group)).await?,
                    )
                    .with_named(new_room_writes(&group_room(&group, now), [&me.id]))
                    .finish(GroupOutcome::Group(group.id.clone()), group)
                    .await
            })
            .await
    }

    /// Updates a group's name, description and tags. For the group's staff; privacy, join policy and
    /// persistence for its owner. What was written, and who joined, while the group was private stays
    /// visible to members only when it becomes public.
    pub async fn update(
        &self,
        caller: &Caller,
        group: &GroupId,
        change: GroupChange,
        request: Option<&RequestId>,
    ) -> Result<Group, GroupError> {
        let mutation = self.context.mutation(caller).await?;
        let change = change.checked()?;
        mutation
            .once("updateGroup", &(group, &change), request)?
            .replay(|outcome| self.replayed(outcome))
            .run(async |me, attempt| {
                let access = self.load_access(caller, &me, group).await?;
                let permission = change.permission();
                let authority =
                    access.authorize(&self.context, caller, permission, "updateGroup")?;
                let before = &access.group;
                require_writable(before)?;
                let after = change.applied_to(before, self.context.now());
                if after.is_private && after.join_policy() == JoinPolicy::Open {
                    return Err(GroupError::OpenWhilePrivate);
                }
                let tags =
                    tags::reference_writes(&self.context, Some(before), Some(&after)).await?;
                attempt
                    .commit()
                    .with("group", writes::update_group(before, &after))
                    .with("authority", authority)
                    .with_all("tag", tags)
                    .finish(GroupOutcome::Group(group.clone()), after)
                    .await
            })
            .await
    }

    /// Deletes a group and returns it as it was. Memberships are removed in the background; until
    /// then they are hidden, because their group does not exist.
    pub async fn delete(
        &self,
        caller: &Caller,
        group: &GroupId,
        request: Option<&RequestId>,
    ) -> Result<Group, GroupError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("deleteGroup", group, request)?
            .replay(|outcome| self.replayed(outcome))
            .run(async |me, attempt| {
                let access = self.load_access(caller, &me, group).await?;
                let authority = access.authorize(
                    &self.context,
                    caller,
                    Permission::DeleteGroup,
                    "deleteGroup",
                )?;
                let group = access.group;
                // A replay returns which group it was, without its content.
                let (description, tags) = (None, Vec::new());
                let outcome = GroupOutcome::Deleted(RemovedEntity(Group {
                    description,
                    tags,
                    ..group.clone()
                }));
                attempt
                    .commit()
                    .with("group", group.key().delete().when(writes::unchanged(&group)))
                    .with("authority", authority)
                    .with_all(
                        "tag",
                        tags::reference_writes(&self.context, Some(&group), None).await?,
                    )
                    .finish(outcome, group)
                    .await
            })
            .await
    }

    fn new_group(&self, owner: &UserId, new: &NewGroup) -> (Group, GroupMember) {
        let now = self.context.now();
        let group = Group {
            id: self.context.ids().next(),
            name: new.name.clone(),
            description: new.description.clone(),
            owner_id: owner.clone(),
            tags: new.tags.clone(),
            is_persistent: new.is_persistent.unwrap_or(true),
            is_private: new.is_private,
            join_policy: new.join_policy,
            public_since: None,
            idle_from: (new.is_persistent == Some(false)).then_some(now),
            archives_at: None,
            archived_at: None,
            room_id: self.context.ids().next::<RoomId>(),
            created_at: now,
            updated_at: now,
        };
        let member = GroupMember {
            group_id: group.id.clone(),
            user_id: owner.clone(),
            role: GroupRole::Owner,
            status: MemberStatus::Active,
            joined_at: now,
            // No activity exists yet, so none can be later than now.
            active_since: Some(now),
        };
        (group, member)
    }

    /// Returns the group as it is now; a deleted one as it was.
    async fn replayed(&self, outcome: GroupOutcome) -> Result<Group, GroupError> {
        match outcome {
            GroupOutcome::Deleted(RemovedEntity(group)) => Ok(group),
            GroupOutcome::Group(id) => {
                self.context.core().group(&id).get().await?.ok_or(GroupError::NoSuchGroup)
            }
        }
    }
}
