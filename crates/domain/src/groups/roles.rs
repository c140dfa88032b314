//! Group roles. The owner assigns roles; assigning the owner role hands the group over, so there is
//! exactly one owner at any time.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, GroupMember};
use roundtable_model::{GroupId, GroupRole, MemberStatus, RequestId, UserId};

use super::membership::MembershipOutcome;
use super::{GroupError, Groups, writes};
use crate::Caller;
use crate::access::Permission;
use crate::mutation::{Attempt, AttemptOutcome};

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
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("setGroupRole", &(group, user, role), request)?
            .replay(|outcome| self.replayed_member(caller, outcome))
            .run(async |me, attempt| {
                let access = self.load_access(caller, &me, group).await?;
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
                        attempt.unchanged(MembershipOutcome::of(&member), member).await
                    }
                    (GroupRole::Owner, _, _) => Err(GroupError::OwnerRequired),
                    (_, GroupRole::Owner, Some(membership)) => {
                        self.transfer(&access.group, &membership, member, attempt).await
                    }
                    _ => {
                        let after = GroupMember { role, ..member.clone() };
                        attempt
                            .commit()
                            .with("group", Group::at(group).exists())
                            .with("authority", authority)
                            .with("member", writes::update_membership(&member, &after))
                            .finish(MembershipOutcome::of(&after), after)
                            .await
                    }
                }
            })
            .await
    }

    async fn transfer(
        &self,
        group: &Group,
        owner: &GroupMember,
        successor: GroupMember,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<GroupMember>, GroupError> {
        // A suspended account could not run the group. One that is deleted concurrently hands it
        // over.
        let account = self.context.active_account(&successor.user_id).await?;
        let account = account.ok_or(GroupError::NoSuchMember)?;
        let circle = self.circle_of_new_owner(&account).await?;
        let after = GroupMember { role: GroupRole::Owner, ..successor.clone() };
        let former = GroupMember { role: GroupRole::Admin, ..owner.clone() };
        attempt
            .commit()
            .with("group", writes::set_owner(group, &successor.user_id, self.context.now()))
            .with("owner", writes::update_membership(owner, &former))
            .with("member", writes::update_membership(&successor, &after))
            .with("circle", circle)
            .finish(MembershipOutcome::of(&after), after)
            .await
    }
}
