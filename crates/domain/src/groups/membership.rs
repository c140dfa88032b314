//! Who is in a group: joining, asking, inviting, approving, leaving, removing. The members' counter,
//! the circle of whoever comes or goes and their seat in the group's room change in the same transaction.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, GroupMember};
use roundtable_model::{Entity, GroupId, GroupRole, MemberStatus, RequestId, Time, UserId};
use serde::{Deserialize, Serialize};

use super::place::{Place, standing};
use super::{GroupError, Groups, tags, writes};
use crate::access::{Act, Standing, allows};
use crate::follows::active_since;
use crate::once::{Kept, Request, Tried};
use crate::rooms::head_of;
use crate::{Caller, Failure};

/// What a request led to: a membership, or the membership as it was when it was removed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Outcome {
    Member { group: GroupId, user: UserId },
    Removed(Kept<GroupMember>),
}

#[boxed]
impl Groups {
    /// Joins a group, or asks to if it is private and the caller was not invited. Joining twice is
    /// joining once. Whoever the owner has blocked finds no such group.
    pub async fn join(
        &self,
        caller: &Caller,
        group: &GroupId,
        request: Option<&RequestId>,
    ) -> Result<GroupMember, GroupError> {
        let me = self.ground.account(caller).await?.id;
        let request = self.ground.request(&me, request, "joinGroup", group)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed_member(caller, outcome).await,
                async || {
                    let Place { group, mine } = self.place(caller, group).await?;
                    let status = match (&mine, group.is_private) {
                        (Some(mine), _) if mine.status == MemberStatus::Active => mine.status,
                        (Some(mine), true) if mine.status == MemberStatus::Pending => mine.status,
                        (Some(_), _) | (None, false) => MemberStatus::Active,
                        (None, true) => MemberStatus::Pending,
                    };
                    if let Some(mine) = mine.as_ref().filter(|mine| mine.status == status) {
                        return self.nothing_to_do(mine.clone(), request.as_ref()).await;
                    }
                    let allowed = allows(Act::JoinGroup, Standing::SIGNED_IN);
                    if !allowed || self.is_barred(&group, &me).await? {
                        return Err(GroupError::NoSuchGroup);
                    }
                    let request = request.as_ref();
                    let tried =
                        self.let_in(&group, mine.as_ref(), &me, status, None, request).await?;
                    self.unless_gone(caller, tried).await
                },
            )
            .await
    }

    /// Invites somebody whom the caller can see; whoever has asked already is let in. For those who run
    /// the group.
    pub async fn invite(
        &self,
        caller: &Caller,
        group: &GroupId,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<GroupMember, GroupError> {
        let me = self.ground.account(caller).await?.id;
        let request = self.ground.request(&me, request, "inviteToGroup", &(group, user))?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed_member(caller, outcome).await,
                async || {
                    let place = self.place(caller, group).await?;
                    let authority =
                        place.demand(&self.ground, caller, Act::InviteToGroup, "inviteToGroup")?;
                    let known = self.member(group, user).await?;
                    let status = match &known {
                        Some(known) if known.status == MemberStatus::Pending => {
                            MemberStatus::Active
                        }
                        Some(known) => {
                            return self.nothing_to_do(known.clone(), request.as_ref()).await;
                        }
                        None => MemberStatus::Invited,
                    };
                    let group = &place.group;
                    let sight = self.ground.sight(Some(caller), [user], []).await?;
                    let seen = sight.person(user).is_some() && !sight.is_blocked(user);
                    if !seen || self.is_barred(group, user).await? {
                        return Err(GroupError::NoSuchUser);
                    }
                    let authority = Some(("authority", authority));
                    self.let_in(group, known.as_ref(), user, status, authority, request.as_ref())
                        .await
                },
            )
            .await
    }

    /// Lets somebody in who has asked. For those who run the group.
    pub async fn approve(
        &self,
        caller: &Caller,
        group: &GroupId,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<GroupMember, GroupError> {
        let me = self.ground.account(caller).await?.id;
        let request = self.ground.request(&me, request, "approveMember", &(group, user))?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed_member(caller, outcome).await,
                async || {
                    let place = self.place(caller, group).await?;
                    let authority =
                        place.demand(&self.ground, caller, Act::ApproveMember, "approveMember")?;
                    let asked = match self.member(group, user).await? {
                        Some(member) if member.status == MemberStatus::Active => {
                            return self.nothing_to_do(member, request.as_ref()).await;
                        }
                        Some(member) if member.status == MemberStatus::Pending => member,
                        _ => return Err(GroupError::NoSuchRequest),
                    };
                    if self.is_barred(&place.group, user).await? {
                        return Err(GroupError::NoSuchRequest);
                    }
                    let (status, authority) =
                        (MemberStatus::Active, Some(("authority", authority)));
                    self.let_in(
                        &place.group,
                        Some(&asked),
                        user,
                        status,
                        authority,
                        request.as_ref(),
                    )
                    .await
                },
            )
            .await
    }

    /// Leaves a group, takes back the wish to join it, or declines an invitation; answers with the
    /// membership as it was. The owner hands the group over first, unless nobody else is in it: then it
    /// ends.
    pub async fn leave(
        &self,
        caller: &Caller,
        group: &GroupId,
        request: Option<&RequestId>,
    ) -> Result<GroupMember, GroupError> {
        let me = self.ground.account(caller).await?.id;
        let request = self.ground.request(&me, request, "leaveGroup", group)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed_member(caller, outcome).await,
                async || {
                    let Place { group, mine } = self.place(caller, group).await?;
                    let mine = mine.ok_or(GroupError::NotAMember)?;
                    if mine.role == GroupRole::Owner {
                        self.close(group, mine, request.as_ref()).await
                    } else {
                        self.let_go(&group, mine, None, request.as_ref()).await
                    }
                },
            )
            .await
    }

    /// Removes somebody, turns down their wish to join, or takes an invitation back; answers with the
    /// membership as it was. For those who run the group; an admin, whose role the owner gave, only for
    /// the owner and for themselves.
    pub async fn remove(
        &self,
        caller: &Caller,
        group: &GroupId,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<GroupMember, GroupError> {
        let me = self.ground.account(caller).await?.id;
        let request = self.ground.request(&me, request, "removeMember", &(group, user))?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed_member(caller, outcome).await,
                async || {
                    let place = self.place(caller, group).await?;
                    let authority =
                        place.demand(&self.ground, caller, Act::RemoveMember, "removeMember")?;
                    let member = self.member(group, user).await?.ok_or(GroupError::NoSuchMember)?;
                    let standing = place.mine.as_ref().map(standing).unwrap_or_default();
                    let above = standing.is_any(Standing::GROUP_OWNER) || caller.roles.admin;
                    match member.role {
                        GroupRole::Owner => return Err(GroupError::OwnerStays),
                        GroupRole::Admin if !above && me != *user => {
                            return Err(Failure::Forbidden.into());
                        }
                        GroupRole::Admin | GroupRole::Member => {}
                    }
                    // Of oneself, the removal demands what the authority would, and once is enough.
                    let authority = (me != *user).then_some(("authority", authority));
                    self.let_go(&place.group, member, authority, request.as_ref()).await
                },
            )
            .await
    }

    /// Somebody's membership, whatever its status.
    pub(super) async fn member(
        &self,
        group: &GroupId,
        user: &UserId,
    ) -> Result<Option<GroupMember>, Failure> {
        Ok(self.ground.core().member(group, user).get().await?)
    }

    /// Whether the owner has blocked somebody, who then cannot join.
    async fn is_barred(&self, group: &Group, user: &UserId) -> Result<bool, Failure> {
        let blocks = self.ground.core().blocked(&group.owner_id, std::slice::from_ref(user)).get();
        Ok(blocks.await?.iter().any(Option::is_some))
    }

    /// Writes a membership that is new, or changes what was `before`.
    async fn let_in(
        &self,
        group: &Group,
        before: Option<&GroupMember>,
        user: &UserId,
        status: MemberStatus,
        authority: Option<writes::Named>,
        request: Option<&Request>,
    ) -> Result<Tried<GroupMember>, GroupError> {
        let now = self.ground.now();
        let member = self.membership(group, before, user, status, now).await?;
        let outcome = Outcome::Member { group: group.id.clone(), user: user.clone() };
        let said = match status {
            MemberStatus::Active => head_of(&self.ground, &group.room_id).await?,
            MemberStatus::Pending | MemberStatus::Invited => None,
        };
        let said = said.map_or(0, |head| head.seq);
        let writes = writes::arrival(group, before, &member, said, now);
        let mut commit = self.ground.commit();
        for (name, write) in writes.into_iter().chain(authority) {
            commit = commit.with(name, write);
        }
        Ok(commit.remembering(request, &outcome)?.done(member).await?)
    }

    /// What somebody becomes to a group.
    async fn membership(
        &self,
        group: &Group,
        before: Option<&GroupMember>,
        user: &UserId,
        status: MemberStatus,
        now: Time,
    ) -> Result<GroupMember, Failure> {
        let since = match status {
            MemberStatus::Active => {
                Some(active_since(&self.ground, &(&group.id).into(), now).await?)
            }
            MemberStatus::Pending | MemberStatus::Invited => None,
        };
        Ok(GroupMember {
            group_id: group.id.clone(),
            user_id: user.clone(),
            role: GroupRole::Member,
            status,
            // The index lists memberships by it, so it stays what it was first.
            joined_at: before.map_or(now, |before| before.joined_at),
            active_since: since,
        })
    }

    /// Takes a membership away.
    async fn let_go(
        &self,
        group: &Group,
        member: GroupMember,
        authority: Option<writes::Named>,
        request: Option<&Request>,
    ) -> Result<Tried<GroupMember>, GroupError> {
        let outcome = Outcome::Removed(Kept(member.clone()));
        let writes = writes::departure(group, &member, self.ground.now());
        let mut commit = self.ground.commit().with("group", group.key().exists());
        for (name, write) in writes.into_iter().chain(authority) {
            commit = commit.with(name, write);
        }
        Ok(commit.remembering(request, &outcome)?.done(member).await?)
    }

    /// Ends a group with its last member.
    async fn close(
        &self,
        group: Group,
        owner: GroupMember,
        request: Option<&Request>,
    ) -> Result<Tried<GroupMember>, GroupError> {
        let counters = self.ground.core().group_counts(std::slice::from_ref(&group.id));
        let counter = counters.strong().get().await?.into_iter().flatten().next();
        if counter.is_none_or(|counter| counter.count != 1) {
            return Err(GroupError::OwnerStays);
        }
        let (now, outcome) = (self.ground.now(), Outcome::Removed(Kept(owner.clone())));
        let tags = tags::in_step(&self.ground, Some(&group), None).await?;
        let commit = self
            .ground
            .commit()
            .with("group", group.key().delete().when(writes::unchanged(&group)))
            .with("member", writes::removed(&owner))
            .with("members", writes::last_of(&group.id, 1, now))
            .with("circle", crate::circle::circle(&owner.user_id, 0, now))
            .with_any("tag", tags)
            .remembering(request, &outcome)?;
        Ok(commit.done(owner).await?)
    }

    /// A membership that is already as it was asked to be.
    pub(super) async fn nothing_to_do(
        &self,
        member: GroupMember,
        request: Option<&Request>,
    ) -> Result<Tried<GroupMember>, GroupError> {
        let (group, user) = (member.group_id.clone(), member.user_id.clone());
        let outcome = Outcome::Member { group, user };
        Ok(self.ground.nothing_to_do(request, &outcome, member).await?)
    }

    /// A membership as it is now, if the caller may still see it; one that was removed, as it was.
    pub(super) async fn replayed_member(
        &self,
        caller: &Caller,
        outcome: Outcome,
    ) -> Result<GroupMember, GroupError> {
        let (group, user) = match outcome {
            Outcome::Removed(Kept(member)) => return Ok(member),
            Outcome::Member { group, user } => (group, user),
        };
        let sight = self.ground.sight(Some(caller), [], [&group]).await?;
        if sight.group(&group).is_none() {
            return Err(GroupError::NoSuchGroup);
        }
        let member = self.member(&group, &user).await?;
        let mine = caller.user_id == user;
        let shown = |member: &GroupMember| mine || super::reads::shows(&sight, &group, member);
        let missing = if mine { GroupError::NotAMember } else { GroupError::NoSuchMember };
        member.filter(shown).ok_or(missing)
    }
}
