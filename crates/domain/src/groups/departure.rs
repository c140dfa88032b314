//! Cleanup of groups and memberships after an account or a group is deleted. Runs in the
//! background, in idempotent steps.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, GroupMember};
use roundtable_model::{Entity, GroupId, GroupRole, MemberStatus, UserId, UserStatus};

use super::{GroupError, Groups, tags, writes};
use crate::mutation::AttemptOutcome;
use crate::rooms::leave_write;
use crate::{Context, ServiceError};

/// Members read and removed at once: with the member counter, a transaction stays under its limit.
const BATCH_ITEMS: usize = 90;

#[boxed]
impl Groups {
    /// Leaves every group of a purged account and hands its own groups over.
    pub async fn leave_all(&self, user: &UserId) -> Result<(), GroupError> {
        Ok(leave_all(&self.context, user).await?)
    }

    /// Removes the members of a purged group, page by page.
    pub async fn disband(&self, group: &GroupId) -> Result<(), GroupError> {
        Ok(disband(&self.context, group).await?)
    }
}

/// Removes a deleted account from every group. A group it owns passes to the oldest admin, else to
/// the oldest member; without either, the group is deleted.
pub(crate) async fn leave_all(context: &Context, user: &UserId) -> Result<(), ServiceError> {
    each_membership(context, user, async |group| {
        transfer_or_delete(context, &group, user).await?;
        remove_member(context, &group, user).await
    })
    .await
}

/// Removes the members of a deleted group, with pending requests and invitations. Circles stay as
/// they are: one that still names the group shows nothing of it.
pub(crate) async fn disband(context: &Context, group: &GroupId) -> Result<(), ServiceError> {
    // Ids are never reused, and a missing group cannot be joined, so this stays true.
    if context.core().group(group).get().await?.is_some() {
        return Ok(());
    }
    while !disband_batch(context, group).await? {}
    Ok(())
}

/// Removes a batch of members with their counts; returns whether none are left.
async fn disband_batch(context: &Context, group: &GroupId) -> Result<bool, ServiceError> {
    context
        .retry(async |attempt| {
            let members = context.core().members(group).strong().limit(BATCH_ITEMS);
            let members = members.page().await?.items;
            if members.is_empty() {
                let commit = attempt.commit().with("members", writes::delete_empty_counter(group));
                // If the condition fails, it is deleted already.
                return commit.finish_or(true, |_| Ok(AttemptOutcome::Done(true))).await;
            }
            let active = |member: &&GroupMember| member.status == MemberStatus::Active;
            let off = i64::try_from(members.iter().filter(active).count()).unwrap_or_default();
            let counter =
                (off > 0).then(|| writes::change_member_count(group, -off, context.now()));
            let commit =
                attempt.commit().with_all("member", members.iter().map(writes::delete_membership));
            commit.with_all("members", counter).finish_unrecorded(false).await
        })
        .await
}

/// Calls `change` for each group that a user belongs to, is invited to or asked to join. The index
/// may be stale, so `change` reads the membership again.
async fn each_membership<Changed: Future<Output = Result<(), ServiceError>>>(
    context: &Context,
    user: &UserId,
    change: impl Fn(GroupId) -> Changed,
) -> Result<(), ServiceError> {
    let mut after = None;
    loop {
        let listing = context.core().groups_of(user).limit(BATCH_ITEMS).after(after);
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

/// Hands a group over, or deletes it, in one transaction; does nothing if the user does not own it.
async fn transfer_or_delete(
    context: &Context,
    group: &GroupId,
    user: &UserId,
) -> Result<(), ServiceError> {
    context
        .retry(async |attempt| {
            let core = context.core();
            let (Some(group), Some(owner)) =
                (core.group(group).get().await?, core.member(group, user).get().await?)
            else {
                return Ok(AttemptOutcome::Done(()));
            };
            if group.owner_id != *user {
                return Ok(AttemptOutcome::Done(()));
            }
            let now = context.now();
            // Read before the members, so that a concurrent join changes it and fails the
            // condition.
            let counters = core.group_counts(std::slice::from_ref(&group.id));
            let counter = counters.strong().get().await?.into_iter().flatten().next();
            let count = counter.map_or(0, |counter| counter.count);
            let commit = attempt.commit().with("owner", writes::delete_membership(&owner));
            let commit = match successor(context, &group).await? {
                Some(successor) => {
                    let after = GroupMember { role: GroupRole::Owner, ..successor.clone() };
                    commit
                        .with("group", writes::set_owner(&group, &successor.user_id, now))
                        .with("member", writes::update_membership(&successor, &after))
                        .with("members", writes::change_member_count(&group.id, -1, now))
                        .with("room member", leave_write(&group, user).1)
                }
                None => commit
                    .with("group", group.key().delete().when(writes::unchanged(&group)))
                    .with("members", writes::remove_last_member(&group.id, count, now))
                    .with_all("tag", tags::reference_writes(context, Some(&group), None).await?),
            };
            commit.finish_unrecorded(()).await
        })
        .await
}

/// Returns the next owner: of the active members with existing accounts the oldest admin, else the
/// oldest member. One that is deleted concurrently hands the group over in turn.
async fn successor(context: &Context, group: &Group) -> Result<Option<GroupMember>, ServiceError> {
    let (mut best, mut after): (Option<GroupMember>, _) = (None, None);
    let rank = |member: &GroupMember| {
        (member.role != GroupRole::Admin, member.joined_at, member.user_id.clone())
    };
    loop {
        let listing = context.core().members(&group.id).strong().limit(BATCH_ITEMS).after(after);
        let page = listing.filter_by(GroupMember::STATUS, &MemberStatus::Active).page().await?;
        let ids: Vec<UserId> = page.items.iter().map(|member| member.user_id.clone()).collect();
        let profiles = context.core().profiles(&ids).strong().get().await?;
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

/// Removes a deleted account from one group that it does not own.
async fn remove_member(
    context: &Context,
    group: &GroupId,
    user: &UserId,
) -> Result<(), ServiceError> {
    context
        .retry(async |attempt| {
            let core = context.core();
            let Some(member) = core.member(group, user).get().await? else {
                return Ok(AttemptOutcome::Done(()));
            };
            let group = core.group(group).get().await?;
            if group.as_ref().is_some_and(|group| group.owner_id == *user) {
                return Ok(AttemptOutcome::Retry);
            }
            let writes =
                writes::leave_writes_without_circle(group.as_ref(), &member, context.now());
            attempt.commit().with_named(writes).finish_unrecorded(()).await
        })
        .await
}
