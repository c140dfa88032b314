//! What becomes of groups and memberships when an account or a group goes. All of it is done in the
//! background, in steps that can be repeated: what has been done already is found done.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, GroupMember};
use roundtable_model::{Entity, GroupId, GroupRole, MemberStatus, UserId, UserStatus};

use super::{GroupError, Groups, tags, writes};
use crate::commit::Rejected;
use crate::once::Tried;
use crate::rooms::left;
use crate::{Failure, Ground};

/// How many people are looked at, and memberships removed, at once: with the members' counter, a
/// transaction stays under its limit.
const STEP_ITEMS: usize = 90;

#[boxed]
impl Groups {
    /// For the purge of an account, which hands its groups on and leaves every other one.
    pub async fn leave_all(&self, user: &UserId) -> Result<(), GroupError> {
        Ok(leave_all(&self.ground, user).await?)
    }

    /// For the purge of a group, whose members go page by page.
    pub async fn disband(&self, group: &GroupId) -> Result<(), GroupError> {
        Ok(disband(&self.ground, group).await?)
    }
}

/// Takes somebody whose account is gone out of every group. Each that they own goes to its oldest
/// admin, else to its oldest member; one without either ends.
pub(crate) async fn leave_all(ground: &Ground, user: &UserId) -> Result<(), Failure> {
    each_membership(ground, user, async |group| {
        pass_on(ground, &group, user).await?;
        forget(ground, &group, user).await
    })
    .await
}

/// Lets the members of a group go that is no longer there, and whoever asked or was invited. Their
/// circles stay as they are: one that still names the group shows nothing of it.
pub(crate) async fn disband(ground: &Ground, group: &GroupId) -> Result<(), Failure> {
    // Ids are not given twice, and nobody joins a group that is not there: it stays so.
    if ground.core().group(group).get().await?.is_some() {
        return Ok(());
    }
    while !a_step_of_disbanding(ground, group).await? {}
    Ok(())
}

/// Lets some members go, with what they count for; tells whether none are left.
async fn a_step_of_disbanding(ground: &Ground, group: &GroupId) -> Result<bool, Failure> {
    ground
        .once(
            None,
            async |(): ()| Ok(true),
            async || {
                let members = ground.core().members(group).strong().limit(STEP_ITEMS);
                let members = members.page().await?.items;
                if members.is_empty() {
                    let counter = ground.commit().with("members", writes::counter_of_none(group));
                    return match counter.run().await {
                        // It has been taken away before.
                        Ok(()) | Err(Rejected::Refused(_)) => Ok(Tried::Done(true)),
                        Err(Rejected::Failed(failure)) => Err(failure),
                    };
                }
                let active = |member: &&GroupMember| member.status == MemberStatus::Active;
                let off = i64::try_from(members.iter().filter(active).count()).unwrap_or_default();
                let counter = (off > 0).then(|| writes::members(group, -off, ground.now()));
                let commit =
                    ground.commit().with_any("member", members.iter().map(writes::removed));
                commit.with_any("members", counter).done(false).await
            },
        )
        .await
}

/// Does something about each group that a person is in, invited to or asking to join. The index may be
/// behind: it tells which groups, and what they are in them is read again.
async fn each_membership<Changed: Future<Output = Result<(), Failure>>>(
    ground: &Ground,
    user: &UserId,
    change: impl Fn(GroupId) -> Changed,
) -> Result<(), Failure> {
    let mut after = None;
    loop {
        let listing = ground.core().groups_of(user).limit(STEP_ITEMS).after(after);
        let page = listing.page().await?;
        for member in page.items {
            change(member.group_id).await?;
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}

/// Gives a group to whoever is next, or ends it, in one transaction; nothing if it is not theirs.
async fn pass_on(ground: &Ground, group: &GroupId, user: &UserId) -> Result<(), Failure> {
    ground
        .once(
            None,
            async |(): ()| Ok(()),
            async || {
                let core = ground.core();
                let (Some(group), Some(owner)) =
                    (core.group(group).get().await?, core.member(group, user).get().await?)
                else {
                    return Ok(Tried::Done(()));
                };
                if group.owner_id != *user {
                    return Ok(Tried::Done(()));
                }
                let now = ground.now();
                // Read before the members: whoever joins afterwards makes it another one.
                let counters = core.group_counts(std::slice::from_ref(&group.id));
                let counter = counters.strong().get().await?.into_iter().flatten().next();
                let count = counter.map_or(0, |counter| counter.count);
                let commit = ground.commit().with("owner", writes::removed(&owner));
                let commit = match heir(ground, &group).await? {
                    Some(heir) => {
                        let after = GroupMember { role: GroupRole::Owner, ..heir.clone() };
                        commit
                            .with("group", writes::owned_by(&group, &heir.user_id, now))
                            .with("member", writes::become_of(&heir, &after))
                            .with("members", writes::members(&group.id, -1, now))
                            .with("seat", left(&group, user).1)
                    }
                    None => commit
                        .with("group", group.key().delete().when(writes::unchanged(&group)))
                        .with("members", writes::last_of(&group.id, count, now))
                        .with_any("tag", tags::in_step(ground, Some(&group), None).await?),
                };
                commit.done(()).await
            },
        )
        .await
}

/// Who is next: of the active members whose accounts are not gone the oldest admin, else the oldest.
/// Whoever goes meanwhile hands it over in turn.
async fn heir(ground: &Ground, group: &Group) -> Result<Option<GroupMember>, Failure> {
    let (mut best, mut after): (Option<GroupMember>, _) = (None, None);
    let rank = |member: &GroupMember| {
        (member.role != GroupRole::Admin, member.joined_at, member.user_id.clone())
    };
    loop {
        let listing = ground.core().members(&group.id).strong().limit(STEP_ITEMS).after(after);
        let page = listing.with(GroupMember::STATUS, &MemberStatus::Active).page().await?;
        let ids: Vec<UserId> = page.items.iter().map(|member| member.user_id.clone()).collect();
        let profiles = ground.core().profiles(&ids).strong().get().await?;
        let candidates = page.items.into_iter().zip(profiles).filter_map(|(member, profile)| {
            let here = profile.is_some_and(|profile| profile.status != UserStatus::Deleted);
            (here && member.user_id != group.owner_id).then_some(member)
        });
        best = candidates.chain(best).min_by_key(rank);
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(best),
        }
    }
}

/// Takes somebody whose account is gone out of one group, which they do not own.
async fn forget(ground: &Ground, group: &GroupId, user: &UserId) -> Result<(), Failure> {
    ground
        .once(
            None,
            async |(): ()| Ok(()),
            async || {
                let core = ground.core();
                let Some(member) = core.member(group, user).get().await? else {
                    return Ok(Tried::Done(()));
                };
                let group = core.group(group).get().await?;
                if group.as_ref().is_some_and(|group| group.owner_id == *user) {
                    return Ok(Tried::Again);
                }
                let mut commit = ground.commit();
                for (name, write) in writes::forgotten(group.as_ref(), &member, ground.now()) {
                    commit = commit.with(name, write);
                }
                commit.done(()).await
            },
        )
        .await
}
