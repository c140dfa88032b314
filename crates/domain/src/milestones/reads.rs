//! Milestones by id, by goal, and by time (R24).

use std::collections::HashSet;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Milestone;
use roundtable_model::{Entity, GoalId, MilestoneId, Result as Found, UserId};

use super::{MilestoneError, Milestones};
use crate::goals::{all_found, found, may_see, present};
use crate::pages::fill;
use crate::{Caller, Failure, Ground, Page, PageInput};

#[boxed]
impl Milestones {
    /// A milestone: on one's own way, or, for admins, on that of this owner.
    pub async fn get(
        &self,
        caller: &Caller,
        owner: Option<&UserId>,
        goal: &GoalId,
        id: &MilestoneId,
    ) -> Result<Milestone, MilestoneError> {
        let me = self.ground.reader(caller).await?;
        let goal = found(&self.ground, caller, &me, owner, goal).await?;
        let goal = goal.ok_or(MilestoneError::NoSuchMilestone)?;
        let milestone = self.ground.core().milestone(&goal.user_id, &goal.id, id).get().await?;
        milestone.ok_or(MilestoneError::NoSuchMilestone)
    }

    /// Milestones by whose they are, their goals and ids, each in its place; `None` where there is none
    /// for the caller.
    pub async fn milestones(
        &self,
        caller: &Caller,
        places: &[(UserId, GoalId, MilestoneId)],
    ) -> Result<Vec<Option<Milestone>>, MilestoneError> {
        let me = self.ground.reader(caller).await?;
        let goal = |(owner, goal, _): &(UserId, GoalId, _)| (owner.clone(), goal.clone());
        let goals: Vec<_> = places.iter().map(goal).collect();
        let goals = all_found(&self.ground, caller, &me, &goals).await?;
        let at = places.iter().map(|(owner, goal, id)| Milestone::at(owner, goal, id));
        let found = self.ground.at("milestone", at).await?;
        let shown = places
            .iter()
            .zip(found)
            .map(|(place, milestone)| milestone.filter(|_| goals.contains_key(&goal(place))));
        Ok(shown.collect())
    }

    /// The milestones on the way to a goal, in the order they were set.
    pub async fn list(
        &self,
        caller: &Caller,
        owner: Option<&UserId>,
        goal: &GoalId,
        page: &PageInput,
    ) -> Result<Page<Milestone>, MilestoneError> {
        let me = self.ground.reader(caller).await?;
        let goal = found(&self.ground, caller, &me, owner, goal).await?;
        let goal = goal.ok_or(MilestoneError::NoSuchGoal)?;
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().milestones(&goal.user_id, &goal.id).strong();
                listing.limit(limit).after(after).page().await
            },
            async |milestones: Vec<Milestone>| Ok(milestones.into_iter().map(Some).collect()),
        )
        .await
    }

    /// All milestones of a person, whatever the goal, the newest first.
    pub async fn timeline(
        &self,
        caller: &Caller,
        owner: Option<&UserId>,
        page: &PageInput,
    ) -> Result<Page<Milestone>, MilestoneError> {
        let me = self.ground.reader(caller).await?;
        let owner = owner.unwrap_or(&me.id);
        if !may_see(&self.ground, caller, &me, owner).await? {
            return Err(MilestoneError::NoSuchGoal);
        }
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().milestone_timeline(owner);
                listing.limit(limit).after(after).page().await
            },
            async |found: Vec<Milestone>| Ok(shown(&self.ground, found).await?),
        )
        .await
    }
}

/// Milestones that an index told of, as they are now, each in its place: those whose goal is there.
pub(crate) async fn shown(
    ground: &Ground,
    found: Vec<Milestone>,
) -> Result<Vec<Option<Milestone>>, Failure> {
    let of = found.iter().map(|milestone| (&milestone.user_id, &milestone.goal_id));
    let goals: HashSet<GoalId> = present(ground, of).await?;
    let found = current(ground, found).await?;
    let there = |milestone: &Milestone| goals.contains(&milestone.goal_id);
    Ok(found.into_iter().map(|milestone| milestone.filter(there)).collect())
}

/// Milestones that an index told of, as they are now. Where indexes are never behind, they are already.
async fn current(ground: &Ground, found: Vec<Milestone>) -> Found<Vec<Option<Milestone>>> {
    if ground.store().capabilities().strong_index_reads {
        return Ok(found.into_iter().map(Some).collect());
    }
    ground.at("milestone", found.iter().map(Entity::key)).await
}
