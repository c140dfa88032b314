//! Who runs a group. The owner gives and takes roles; giving away one's own makes another the owner,
//! so that there is exactly one at every moment.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, GroupMember};
use roundtable_model::{GroupId, GroupRole, MemberStatus, RequestId, UserId, UserStatus};

use super::membership::Outcome;
use super::{GroupError, Groups, writes};
use crate::Caller;
use crate::access::Act;
use crate::once::{Request, Tried};

#[boxed]
impl Groups {
    /// Gives an active member a role. Giving `owner` hands the group over: the caller becomes an admin.
    pub async fn set_role(
        &self,
        caller: &Caller,
        group: &GroupId,
        user: &UserId,
        role: GroupRole,
        request: Option<&RequestId>,
    ) -> Result<GroupMember, GroupError> {
        let me = self.ground.account(caller).await?.id;
        let request = self.ground.request(&me, request, "setGroupRole", &(group, user, role))?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed_member(caller, outcome).await,
                async || {
                    let place = self.place(caller, group).await?;
                    let authority =
                        place.demand(&self.ground, caller, Act::SetGroupRole, "setGroupRole")?;
                    let member = self.member(group, user).await?;
                    let member = member
                        .filter(|member| member.status == MemberStatus::Active)
                        .ok_or(GroupError::NoSuchMember)?;
                    match (member.role, role, place.mine) {
                        (present, wanted, _) if present == wanted => {
                            self.nothing_to_do(member, request.as_ref()).await
                        }
                        (GroupRole::Owner, _, _) => Err(GroupError::OwnerStays),
                        (_, GroupRole::Owner, Some(mine)) => {
                            self.transfer(&place.group, &mine, member, request.as_ref()).await
                        }
                        _ => {
                            let after = GroupMember { role, ..member.clone() };
                            let outcome =
                                Outcome::Member { group: group.clone(), user: user.clone() };
                            let commit = self
                                .ground
                                .commit()
                                .with("group", Group::at(group).exists())
                                .with("authority", authority)
                                .with("member", writes::become_of(&member, &after))
                                .remembering(request.as_ref(), &outcome)?;
                            Ok(commit.done(after).await?)
                        }
                    }
                },
            )
            .await
    }

    /// Makes another member the owner.
    async fn transfer(
        &self,
        group: &Group,
        owner: &GroupMember,
        heir: GroupMember,
        request: Option<&Request>,
    ) -> Result<Tried<GroupMember>, GroupError> {
        // An account that cannot be used could not run the group. One that goes meanwhile hands it on.
        let profile = self.ground.core().profile(&heir.user_id).strong().get().await?;
        if profile.is_none_or(|profile| profile.status != UserStatus::Active) {
            return Err(GroupError::NoSuchMember);
        }
        let after = GroupMember { role: GroupRole::Owner, ..heir.clone() };
        let former = GroupMember { role: GroupRole::Admin, ..owner.clone() };
        let outcome = Outcome::Member { group: group.id.clone(), user: heir.user_id.clone() };
        let commit = self
            .ground
            .commit()
            .with("group", writes::owned_by(group, &heir.user_id, self.ground.now()))
            .with("owner", writes::become_of(owner, &former))
            .with("member", writes::become_of(&heir, &after))
            .remembering(request, &outcome)?;
        Ok(commit.done(after).await?)
    }
}
