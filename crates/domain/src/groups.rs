//! Groups: creating, updating and deleting them. Memberships are in `groups/membership`, reads in
//! `groups/reads`, and the cleanup after deleted accounts and groups in `groups/departure`.

mod access;
mod departure;
mod input;
mod membership;
mod reads;
mod roles;
mod tags;
mod writes;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, GroupCounter, GroupMember};
use roundtable_model::{Entity, GroupId, GroupRole, MemberStatus, RequestId, RoomId, UserId};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, allows};
use crate::circle::raise_circle_version;
use crate::idempotency::{AttemptOutcome, RemovedEntity};
use crate::rooms::{group_room, new_room_writes};
use crate::{Caller, Context, ServiceError, refusals};

pub use input::{GroupChange, NewGroup};
pub use reads::GroupView;

refusals! {
    GroupError {
        NoSuchGroup: NotFound = "there is no such group",
        NoSuchUser: NotFound = "there is no such user",
        NoSuchMember: NotFound = "this user is not a member of the group",
        NoSuchRequest: NotFound = "this user has not requested to join the group",
        NotAMember: NotFound = "you are not a member of this group",
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
        let me = self.context.authorize_write(caller).await?.id;
        if !allows(Permission::CreateGroup, Relations::SIGNED_IN) {
            return Err(ServiceError::Forbidden.into());
        }
        let new = group.checked()?;
        let request = self.context.idempotent_request(&me, request, "createGroup", &new)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: GroupOutcome| self.replayed(outcome).await,
                async || {
                    let (group, owner) = self.new_group(&me, &new);
                    let now = group.created_at;
                    let counter =
                        GroupCounter { group_id: group.id.clone(), count: 1, updated_at: now };
                    let commit = self
                        .context
                        .commit()
                        .with("user", writes::active_account_check(&me))
                        .with("group", group.create())
                        .with("member", owner.create())
                        .with("members", counter.create())
                        .with("circle", raise_circle_version(&me, 0, now))
                        .with_all(
                            "tag",
                            tags::reference_writes(&self.context, None, Some(&group)).await?,
                        );
                    let commit = new_room_writes(&group_room(&group, now), [&me])
                        .into_iter()
                        .fold(commit, |commit, (name, write)| commit.with(name, write))
                        .recording(request.as_ref(), &GroupOutcome::Group(group.id.clone()))?;
                    self.recheck_caller(caller, commit.finish(group).await?).await
                },
            )
            .await
    }

    /// Updates a group's name, description and tags. For the group's staff.
    pub async fn update(
        &self,
        caller: &Caller,
        group: &GroupId,
        change: GroupChange,
        request: Option<&RequestId>,
    ) -> Result<Group, GroupError> {
        let me = self.context.authorize_write(caller).await?.id;
        let change = change.checked()?;
        let request =
            self.context.idempotent_request(&me, request, "updateGroup", &(group, &change))?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: GroupOutcome| self.replayed(outcome).await,
                async || {
                    let access = self.load_access(caller, group).await?;
                    let authority = access.authorize(
                        &self.context,
                        caller,
                        Permission::UpdateGroup,
                        "updateGroup",
                    )?;
                    let (before, now) = (&access.group, self.context.now());
                    let after = change.applied_to(before, now);
                    let tags =
                        tags::reference_writes(&self.context, Some(before), Some(&after)).await?;
                    let mut patch = before
                        .key()
                        .patch()
                        .set(Group::NAME, &after.name)
                        .set(Group::TAGS, &after.tags)
                        .set(Group::UPDATED_AT, &now)
                        .when(writes::unchanged(before));
                    if after.description != before.description {
                        patch = patch.set(Group::DESCRIPTION, &after.description);
                    }
                    let commit = self
                        .context
                        .commit()
                        .with("group", patch)
                        .with("authority", authority)
                        .with_all("tag", tags)
                        .recording(request.as_ref(), &GroupOutcome::Group(group.clone()))?;
                    Ok(commit.finish(after).await?)
                },
            )
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
        let me = self.context.authorize_write(caller).await?.id;
        let request = self.context.idempotent_request(&me, request, "deleteGroup", group)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: GroupOutcome| self.replayed(outcome).await,
                async || {
                    let access = self.load_access(caller, group).await?;
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
                    let commit = self
                        .context
                        .commit()
                        .with("group", group.key().delete().when(writes::unchanged(&group)))
                        .with("authority", authority)
                        .with_all(
                            "tag",
                            tags::reference_writes(&self.context, Some(&group), None).await?,
                        )
                        .recording(request.as_ref(), &outcome)?;
                    Ok(commit.finish(group).await?)
                },
            )
            .await
    }

    /// Before a retry, refuses a caller whose account has become unusable.
    async fn recheck_caller<T>(
        &self,
        caller: &Caller,
        attempt: AttemptOutcome<T>,
    ) -> Result<AttemptOutcome<T>, GroupError> {
        if matches!(attempt, AttemptOutcome::Retry) {
            self.context.authorize_read(caller).await?;
        }
        Ok(attempt)
    }

    fn new_group(&self, owner: &UserId, new: &NewGroup) -> (Group, GroupMember) {
        let now = self.context.now();
        let group = Group {
            id: self.context.ids().next(),
            name: new.name.clone(),
            description: new.description.clone(),
            owner_id: owner.clone(),
            tags: new.tags.clone(),
            is_persistent: new.is_persistent,
            is_private: new.is_private,
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
