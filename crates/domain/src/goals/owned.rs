//! Whose goals are whose, and who else may look at them. Tasks and milestones ask here, too: they are
//! there as long as their goal is.

use std::collections::{HashMap, HashSet};

use roundtable_model::entities::{Goal, User};
use roundtable_model::{GoalId, Role, UserId};

use crate::access::{Act, Standing, allows};
use crate::{Caller, Failure, Ground};

/// Whether the caller is an admin: their token says so, and the profile still does.
pub(crate) fn is_admin(caller: &Caller, me: &User) -> bool {
    caller.roles.admin && me.roles.contains(&Role::Admin)
}

/// Whether the caller may see the goals of this person, with what belongs to them. Of somebody whose
/// account is gone nobody does.
pub(crate) async fn may_see(
    ground: &Ground,
    caller: &Caller,
    me: &User,
    owner: &UserId,
) -> Result<bool, Failure> {
    Ok(!owners_seen(ground, caller, me, [owner]).await?.is_empty())
}

/// Those of the people whose goals the caller may see, by one look at them all.
async fn owners_seen<'a>(
    ground: &Ground,
    caller: &Caller,
    me: &User,
    owners: impl IntoIterator<Item = &'a UserId>,
) -> Result<HashSet<&'a UserId>, Failure> {
    let allowed = |owner: &&UserId| {
        let standing = Standing::SIGNED_IN
            .and_if(me.id == **owner, Standing::OWNER)
            .and_if(is_admin(caller, me), Standing::ADMIN);
        allows(Act::SeeGoals, standing)
    };
    let mut owners: HashSet<&UserId> = owners.into_iter().filter(allowed).collect();
    if owners.iter().any(|owner| **owner != me.id) {
        let sight = ground.sight_of(caller, me, owners.iter().copied(), []).await?;
        owners.retain(|owner| **owner == me.id || sight.person(owner).is_some());
    }
    Ok(owners)
}

/// Those of the goals that the caller may see, by whose they are and which: all are asked for at once.
pub(crate) async fn all_found(
    ground: &Ground,
    caller: &Caller,
    me: &User,
    goals: &[(UserId, GoalId)],
) -> Result<HashMap<(UserId, GoalId), Goal>, Failure> {
    let owners = owners_seen(ground, caller, me, goals.iter().map(|(owner, _)| owner)).await?;
    let shown = goals.iter().filter(|(owner, _)| owners.contains(owner));
    let found = read(ground, shown.map(|(owner, id)| (owner, id))).await?;
    let by_place = |goal: Goal| ((goal.user_id.clone(), goal.id.clone()), goal);
    Ok(found.into_iter().map(by_place).collect())
}

/// Those of the goals that are there.
async fn read<'a>(
    ground: &Ground,
    goals: impl IntoIterator<Item = (&'a UserId, &'a GoalId)>,
) -> Result<Vec<Goal>, Failure> {
    let places = goals.into_iter().map(|(owner, id)| Goal::at(owner, id));
    Ok(ground.at("goals_among", places).await?.into_iter().flatten().collect())
}

/// A goal that the caller may see: their own, or, for admins, of the owner given. Without one, an admin
/// is led to the owner by a task.
pub(crate) async fn found(
    ground: &Ground,
    caller: &Caller,
    me: &User,
    owner: Option<&UserId>,
    id: &GoalId,
) -> Result<Option<Goal>, Failure> {
    let core = ground.core();
    let asked = owner.unwrap_or(&me.id);
    if !may_see(ground, caller, me, asked).await? {
        return Ok(None);
    }
    let goal = core.goal(asked, id).get().await?;
    if goal.is_some() || owner.is_some() || !is_admin(caller, me) {
        return Ok(goal);
    }
    let task = core.tasks(id).strong().limit(1).page().await?.items.into_iter().next();
    let Some(task) = task else { return Ok(None) };
    if !may_see(ground, caller, me, &task.user_id).await? {
        return Ok(None);
    }
    Ok(core.goal(&task.user_id, id).get().await?)
}

/// Those of the goals that are there: what belongs to others is of no goal any more.
pub(crate) async fn present<'a>(
    ground: &Ground,
    goals: impl IntoIterator<Item = (&'a UserId, &'a GoalId)>,
) -> Result<HashSet<GoalId>, Failure> {
    Ok(read(ground, goals).await?.into_iter().map(|goal| goal.id).collect())
}
