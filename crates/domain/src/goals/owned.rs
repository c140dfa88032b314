//! Ownership and visibility of goals. Tasks and milestones are checked here, too: they exist as
//! long as their goal does.

use std::collections::{HashMap, HashSet};

use roundtable_model::entities::{Goal, User};
use roundtable_model::{GoalId, UserId};

use crate::access::{Permission, allows};
use crate::{Caller, Context, ServiceError};

/// Returns whether the caller may see this user's goals and what belongs to them. Goals of deleted
/// accounts are hidden from all.
pub(crate) async fn may_see(
    context: &Context,
    caller: &Caller,
    me: &User,
    owner: &UserId,
) -> Result<bool, ServiceError> {
    Ok(!visible_owners(context, caller, me, [owner]).await?.is_empty())
}

/// Returns the users whose goals the caller may see, with a single read.
async fn visible_owners<'a>(
    context: &Context,
    caller: &Caller,
    me: &User,
    owners: impl IntoIterator<Item = &'a UserId>,
) -> Result<HashSet<&'a UserId>, ServiceError> {
    let allowed = |owner: &&UserId| allows(Permission::SeeGoals, caller.relations_to(me, owner));
    let mut owners: HashSet<&UserId> = owners.into_iter().filter(allowed).collect();
    if owners.iter().any(|owner| **owner != me.id) {
        let access = context.viewer_access_of(caller, me, owners.iter().copied(), []).await?;
        owners.retain(|owner| **owner == me.id || access.visible_user(owner).is_some());
    }
    Ok(owners)
}

/// Returns the goals the caller may see, by owner and id, read in one batch.
pub(crate) async fn visible_goals(
    context: &Context,
    caller: &Caller,
    me: &User,
    goals: &[(UserId, GoalId)],
) -> Result<HashMap<(UserId, GoalId), Goal>, ServiceError> {
    let owners = visible_owners(context, caller, me, goals.iter().map(|(owner, _)| owner)).await?;
    let visible = goals.iter().filter(|(owner, _)| owners.contains(owner));
    let found = read(context, visible.map(|(owner, id)| (owner, id))).await?;
    let by_key = |goal: Goal| ((goal.user_id.clone(), goal.id.clone()), goal);
    Ok(found.into_iter().map(by_key).collect())
}

async fn read<'a>(
    context: &Context,
    goals: impl IntoIterator<Item = (&'a UserId, &'a GoalId)>,
) -> Result<Vec<Goal>, ServiceError> {
    let item_keys = goals.into_iter().map(|(owner, id)| Goal::at(owner, id));
    Ok(context.items_at("goals_among", item_keys).await?.into_iter().flatten().collect())
}

/// Returns a goal the caller may see: their own or, for admins, of the given owner. Without an
/// owner, an admin finds it through one of its tasks.
pub(crate) async fn visible_goal(
    context: &Context,
    caller: &Caller,
    me: &User,
    owner: Option<&UserId>,
    id: &GoalId,
) -> Result<Option<Goal>, ServiceError> {
    let core = context.core();
    let requested_owner = owner.unwrap_or(&me.id);
    if !may_see(context, caller, me, requested_owner).await? {
        return Ok(None);
    }
    let goal = core.goal(requested_owner, id).get().await?;
    if goal.is_some() || owner.is_some() || !caller.current_roles(me).admin {
        return Ok(goal);
    }
    let task = core.tasks(id).strong().limit(1).page().await?.items.into_iter().next();
    let Some(task) = task else { return Ok(None) };
    if !may_see(context, caller, me, &task.user_id).await? {
        return Ok(None);
    }
    Ok(core.goal(&task.user_id, id).get().await?)
}

/// Returns the goals that exist; what belongs to others is orphaned.
pub(crate) async fn existing_goals<'a>(
    context: &Context,
    goals: impl IntoIterator<Item = (&'a UserId, &'a GoalId)>,
) -> Result<HashSet<GoalId>, ServiceError> {
    Ok(read(context, goals).await?.into_iter().map(|goal| goal.id).collect())
}
