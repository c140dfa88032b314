//! Whose goals are whose, and who else may look at them. Tasks and milestones ask here, too: they are
//! there as long as their goal is.

use std::collections::{BTreeMap, HashSet};

use futures::future::try_join_all;
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
    let standing = Standing::SIGNED_IN
        .and_if(me.id == *owner, Standing::OWNER)
        .and_if(is_admin(caller, me), Standing::ADMIN);
    if !allows(Act::SeeGoals, standing) {
        return Ok(false);
    }
    Ok(me.id == *owner || ground.sight_of(caller, me, [owner], []).await?.person(owner).is_some())
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
    let mut by_owner: BTreeMap<&UserId, Vec<GoalId>> = BTreeMap::new();
    for (owner, goal) in goals {
        let ids = by_owner.entry(owner).or_default();
        if !ids.contains(goal) {
            ids.push(goal.clone());
        }
    }
    let core = ground.core();
    let reads = by_owner.iter().map(|(owner, ids)| core.goals_among(owner, ids).get());
    let found = try_join_all(reads).await?.into_iter().flatten().flatten();
    Ok(found.map(|goal| goal.id).collect())
}
