//! Group roles. The owner assigns roles; assigning the owner role hands the group over, so there is
//! exactly one owner at any time.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, GroupMember};
use roundtable_model::{GroupId, GroupRole, MemberStatus, RequestId, UserId, UserStatus};

use super::membership::MembershipOutcome;
use super::{GroupError, Groups, writes};
use crate::Caller;
use crate::access::Permission;
use crate::idempotency::{AttemptOutcome, IdempotentRequest};

#[boxed]
impl Groups {
    /// Assigns a role to an active member. Assigning `owner` hands the group over: the caller
    /// becomes an admin.
    pub async fn set_role(
        &self,
        caller: &Caller,
        group: &GroupId,
        user: &UserId,
        role: GroupRole,
        request: Option<&RequestId>,
    ) -> Result<GroupMember, GroupError> {
        let me = self.context.authorize_write(caller).await?.id;
        let request =
            self.context.idempotent_request(&me, request, "setGroupRole", &(group, user, role))?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: MembershipOutcome| self.replayed_member(caller, outcome).await,
                async || {
                    let access = self.load_access(caller, group).await?;
                    let authority = access.authorize(
                        &self.context,
                        caller,
                        Permission::SetGroupRole,
                        "setGroupRole",
                    )?;
                    let member = self.member(group, user).await?;
                    let member = member
                        .filter(|member| member.status == MemberStatus::Active)
                        .ok_or(GroupError::NoSuchMember)?;
                    match (member.role, role, access.membership) {
                        (present, requested, _) if present == requested => {
                            self.finish_unchanged(member, request.as_ref()).await
                        }
                        (GroupRole::Owner, _, _) => Err(GroupError::OwnerRequired),
                        (_, GroupRole::Owner, Some(membership)) => {
                            self.transfer(&access.group, &membership, member, request.as_ref())
                                .await
                        }
                        _ => {
                            let after = GroupMember { role, ..member.clone() };
                            let outcome = MembershipOutcome::Member {
                                group: group.clone(),
                                user: user.clone(),
                            };
                            let commit = self
                                .context
                                .commit()
                                .with("group", Group::at(group).exists())
                                .with("authority", authority)
                                .with("member", writes::update_membership(&member, &after))
                                .recording(request.as_ref(), &outcome)?;
                            Ok(commit.finish(after).await?)
                        }
                    }
                },
            )
            .await
    }

    async fn transfer(
        &self,
        group: &Group,
        owner: &GroupMember,
        successor: GroupMember,
        request: Option<&IdempotentRequest>,
    ) -> Result<AttemptOutcome<GroupMember>, GroupError> {
        // A suspended account could not run the group. One that is deleted concurrently hands it
        // over.
        let profile = self.context.core().profile(&successor.user_id).strong().get().await?;
        if profile.is_none_or(|profile| profile.status != UserStatus::Active) {
            return Err(GroupError::NoSuchMember);
        }
        let after = GroupMember { role: GroupRole::Owner, ..successor.clone() };
        let former = GroupMember { role: GroupRole::Admin, ..owner.clone() };
        let outcome =
            MembershipOutcome::Member { group: group.id.clone(), user: successor.user_id.clone() };
        let commit = self
            .context
            .commit()
            .with("group", writes::set_owner(group, &successor.user_id, self.context.now()))
            .with("owner", writes::update_membership(owner, &former))
            .with("member", writes::update_membership(&successor, &after))
            .recording(request, &outcome)?;
        Ok(commit.finish(after).await?)
    }
}
