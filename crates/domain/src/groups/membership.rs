//! Group membership: joining, requesting, inviting, approving, leaving and removing. The member
//! counter, the member's circle and their room membership change in the same transaction.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, GroupMember};
use roundtable_model::{
    Entity, GroupId, GroupRole, JoinPolicy, MemberStatus, RequestId, Time, UserId,
};
use serde::{Deserialize, Serialize};

use super::access::GroupAccess;
use super::{GroupError, Groups, require_writable, tags, writes};
use crate::access::{Permission, Relations, allows};
use crate::follows::active_since;
use crate::idempotency::RemovedEntity;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::rooms::room_head;
use crate::{Caller, ServiceError};

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum MembershipOutcome {
    Member { group: GroupId, user: UserId },
    Removed(RemovedEntity<GroupMember>),
}

impl MembershipOutcome {
    pub(super) fn of(member: &GroupMember) -> Self {
        Self::Member { group: member.group_id.clone(), user: member.user_id.clone() }
    }
}

#[boxed]
impl Groups {
    /// Joins a group, or requests to where its join policy demands that and the caller was not
    /// invited. Repeating it has no effect. For a caller blocked by the owner the group does not
    /// exist.
    pub async fn join(
        &self,
        caller: &Caller,
        group: &GroupId,
        request: Option<&RequestId>,
    ) -> Result<GroupMember, GroupError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("joinGroup", group, request)?
            .replay(|outcome| self.replayed_member(caller, outcome))
            .run(async |me, attempt| {
                let access = self.load_access(caller, &me, group).await?;
                let GroupAccess { group, membership, .. } = access;
                let policy = group.join_policy();
                let status = match membership.as_ref().map(|membership| membership.status) {
                    Some(MemberStatus::Pending) if policy == JoinPolicy::Open => {
                        MemberStatus::Active
                    }
                    Some(MemberStatus::Invited) => MemberStatus::Active,
                    Some(status) => status,
                    None if policy == JoinPolicy::Open => MemberStatus::Active,
                    None => MemberStatus::Pending,
                };
                if let Some(membership) =
                    membership.as_ref().filter(|membership| membership.status == status)
                {
                    return attempt
                        .unchanged(MembershipOutcome::of(membership), membership.clone())
                        .await;
                }
                let allowed = allows(Permission::JoinGroup, Relations::SIGNED_IN);
                if !allowed || self.is_blocked_by_owner(&group, &me.id).await? {
                    return Err(GroupError::NoSuchGroup);
                }
                if membership.is_none() && policy == JoinPolicy::Invitation {
                    return Err(GroupError::InvitationRequired);
                }
                self.write_membership(&group, membership.as_ref(), &me.id, status, None, attempt)
                    .await
            })
            .await
    }

    /// Invites a user visible to the caller; a pending request is approved instead. For the group's
    /// staff.
    pub async fn invite(
        &self,
        caller: &Caller,
        group: &GroupId,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<GroupMember, GroupError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("inviteToGroup", &(group, user), request)?
            .replay(|outcome| self.replayed_member(caller, outcome))
            .run(async |me, attempt| {
                let access = self.load_access(caller, &me, group).await?;
                let authority = access.authorize(
                    &self.context,
                    caller,
                    Permission::InviteToGroup,
                    "inviteToGroup",
                )?;
                let existing = self.member(group, user).await?;
                let status = match &existing {
                    Some(existing) if existing.status == MemberStatus::Pending => {
                        MemberStatus::Active
                    }
                    Some(existing) => {
                        return attempt
                            .unchanged(MembershipOutcome::of(existing), existing.clone())
                            .await;
                    }
                    None => MemberStatus::Invited,
                };
                let group = &access.group;
                let access = self.context.viewer_access(Some(caller), [user], []).await?;
                if access.addressable(user).is_none()
                    || self.is_blocked_by_owner(group, user).await?
                {
                    return Err(GroupError::NoSuchUser);
                }
                let authority = Some(("authority", authority));
                self.write_membership(group, existing.as_ref(), user, status, authority, attempt)
                    .await
            })
            .await
    }

    /// Approves a request to join. For the group's staff.
    pub async fn approve(
        &self,
        caller: &Caller,
        group: &GroupId,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<GroupMember, GroupError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("approveMember", &(group, user), request)?
            .replay(|outcome| self.replayed_member(caller, outcome))
            .run(async |me, attempt| {
                let access = self.load_access(caller, &me, group).await?;
                let authority = access.authorize(
                    &self.context,
                    caller,
                    Permission::ApproveMember,
                    "approveMember",
                )?;
                let pending = match self.member(group, user).await? {
                    Some(member) if member.status == MemberStatus::Active => {
                        return attempt.unchanged(MembershipOutcome::of(&member), member).await;
                    }
                    Some(member) if member.status == MemberStatus::Pending => member,
                    _ => return Err(GroupError::NoSuchRequest),
                };
                if self.is_blocked_by_owner(&access.group, user).await? {
                    return Err(GroupError::NoSuchRequest);
                }
                let (status, authority) = (MemberStatus::Active, Some(("authority", authority)));
                self.write_membership(
                    &access.group,
                    Some(&pending),
                    user,
                    status,
                    authority,
                    attempt,
                )
                .await
            })
            .await
    }

    /// Leaves a group, withdraws a request or declines an invitation; returns the removed
    /// membership. The owner must hand the group over first, unless no other member is left: then
    /// the group is deleted.
    pub async fn leave(
        &self,
        caller: &Caller,
        group: &GroupId,
        request: Option<&RequestId>,
    ) -> Result<GroupMember, GroupError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("leaveGroup", group, request)?
            .replay(|outcome| self.replayed_member(caller, outcome))
            .run(async |me, attempt| {
                let access = self.load_access(caller, &me, group).await?;
                let GroupAccess { group, membership, .. } = access;
                let membership = membership.ok_or(GroupError::NotAMember)?;
                if membership.role == GroupRole::Owner {
                    self.delete_with_last_member(group, membership, attempt).await
                } else {
                    self.remove_membership(&group, membership, None, attempt).await
                }
            })
            .await
    }

    /// Removes a member, declines a request or withdraws an invitation; returns the removed
    /// membership. For the group's staff; only the owner, and admins themselves, can remove an
    /// admin.
    pub async fn remove(
        &self,
        caller: &Caller,
        group: &GroupId,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<GroupMember, GroupError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("removeMember", &(group, user), request)?
            .replay(|outcome| self.replayed_member(caller, outcome))
            .run(async |me, attempt| {
                let access = self.load_access(caller, &me, group).await?;
                let authority = access.authorize(
                    &self.context,
                    caller,
                    Permission::RemoveMember,
                    "removeMember",
                )?;
                let member = self.member(group, user).await?.ok_or(GroupError::NoSuchMember)?;
                let above =
                    access.all_relations().intersects(Relations::GROUP_OWNER | Relations::ADMIN);
                match member.role {
                    GroupRole::Owner => return Err(GroupError::OwnerRequired),
                    GroupRole::Admin if !above && me.id != *user => {
                        return Err(ServiceError::Forbidden.into());
                    }
                    GroupRole::Admin | GroupRole::Member => {}
                }
                // For the caller themselves, the removal carries the same condition as the
                // authority.
                let authority = (me.id != *user).then_some(("authority", authority));
                self.remove_membership(&access.group, member, authority, attempt).await
            })
            .await
    }

    /// The membership in any status.
    pub(super) async fn member(
        &self,
        group: &GroupId,
        user: &UserId,
    ) -> Result<Option<GroupMember>, ServiceError> {
        Ok(self.context.core().member(group, user).get().await?)
    }

    /// Returns whether the owner has blocked a user, who then cannot join.
    async fn is_blocked_by_owner(
        &self,
        group: &Group,
        user: &UserId,
    ) -> Result<bool, ServiceError> {
        let blocks = self.context.core().blocked(&group.owner_id, std::slice::from_ref(user)).get();
        Ok(blocks.await?.iter().any(Option::is_some))
    }

    /// Writes a new membership, or updates the one `before`.
    async fn write_membership(
        &self,
        group: &Group,
        before: Option<&GroupMember>,
        user: &UserId,
        status: MemberStatus,
        authority: Option<writes::GroupWrite>,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<GroupMember>, GroupError> {
        require_writable(group)?;
        let now = self.context.now();
        let member = self.new_membership(group, before, user, status, now).await?;
        let outcome = MembershipOutcome::of(&member);
        let seq = match status {
            MemberStatus::Active => room_head(&self.context, &group.room_id).await?,
            MemberStatus::Pending | MemberStatus::Invited => None,
        };
        let seq = seq.map_or(0, |head| head.seq);
        let writes = writes::join_writes(group, before, &member, seq, now);
        attempt.commit().with_named(writes).with_named(authority).finish(outcome, member).await
    }

    async fn new_membership(
        &self,
        group: &Group,
        before: Option<&GroupMember>,
        user: &UserId,
        status: MemberStatus,
        now: Time,
    ) -> Result<GroupMember, ServiceError> {
        let since = match status {
            MemberStatus::Active => {
                Some(active_since(&self.context, &(&group.id).into(), now).await?)
            }
            MemberStatus::Pending | MemberStatus::Invited => None,
        };
        Ok(GroupMember {
            group_id: group.id.clone(),
            user_id: user.clone(),
            role: GroupRole::Member,
            status,
            // The index is ordered by this time, so it must not change.
            joined_at: before.map_or(now, |before| before.joined_at),
            active_since: since,
        })
    }

    async fn remove_membership(
        &self,
        group: &Group,
        member: GroupMember,
        authority: Option<writes::GroupWrite>,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<GroupMember>, GroupError> {
        let outcome = MembershipOutcome::Removed(RemovedEntity(member.clone()));
        let writes = writes::leave_writes(group, &member, self.context.now());
        attempt
            .commit()
            .with("group", group.key().exists())
            .with_named(writes)
            .with_named(authority)
            .finish(outcome, member)
            .await
    }

    /// Deletes a group together with its last member.
    async fn delete_with_last_member(
        &self,
        group: Group,
        owner: GroupMember,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<GroupMember>, GroupError> {
        let counters = self.context.core().group_counts(std::slice::from_ref(&group.id));
        let counter = counters.strong().get().await?.into_iter().flatten().next();
        if counter.is_none_or(|counter| counter.count != 1) {
            return Err(GroupError::OwnerRequired);
        }
        let (now, outcome) =
            (self.context.now(), MembershipOutcome::Removed(RemovedEntity(owner.clone())));
        let tags = tags::reference_writes(&self.context, Some(&group), None).await?;
        attempt
            .commit()
            .with("group", group.key().delete().when(writes::unchanged(&group)))
            .with("member", writes::delete_membership(&owner))
            .with("members", writes::remove_last_member(&group.id, 1, now))
            .with("circle", crate::circle::raise_circle_version(&owner.user_id, 0, now))
            .with_all("tag", tags)
            .finish(outcome, owner)
            .await
    }

    /// Returns the membership as it is now, if the caller may still see it; a removed one as it
    /// was.
    pub(super) async fn replayed_member(
        &self,
        caller: &Caller,
        outcome: MembershipOutcome,
    ) -> Result<GroupMember, GroupError> {
        let (group, user) = match outcome {
            MembershipOutcome::Removed(RemovedEntity(member)) => return Ok(member),
            MembershipOutcome::Member { group, user } => (group, user),
        };
        let access = self.context.viewer_relations(Some(caller), [], [&group]).await?;
        if access.visible_group(&group).is_none() {
            return Err(GroupError::NoSuchGroup);
        }
        let member = self.member(&group, &user).await?;
        let membership = caller.user_id == user;
        let is_visible = |member: &GroupMember| {
            membership || super::reads::is_membership_visible(&access, &group, member)
        };
        let missing = if membership { GroupError::NotAMember } else { GroupError::NoSuchMember };
        member.filter(is_visible).ok_or(missing)
    }
}
