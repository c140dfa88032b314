//! Reads of milestones by id, goal and time (R24).

use std::collections::HashSet;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Milestone;
use roundtable_model::{Entity, GoalId, MilestoneId, Result as Found, UserId};

use super::{MilestoneError, Milestones};
use crate::goals::{existing_goals, may_see, visible_goal, visible_goals};
use crate::pages::fill_page;
use crate::{Caller, Context, Page, PageInput, ServiceError};

#[boxed]
impl Milestones {
    /// Returns a milestone of the caller's own goal or, for admins, of the owner's.
    pub async fn get(
        &self,
        caller: &Caller,
        owner: Option<&UserId>,
        goal: &GoalId,
        id: &MilestoneId,
    ) -> Result<Milestone, MilestoneError> {
        let me = self.context.authorize_read(caller).await?;
        let goal = visible_goal(&self.context, caller, &me, owner, goal).await?;
        let goal = goal.ok_or(MilestoneError::NoSuchMilestone)?;
        let milestone = self.context.core().milestone(&goal.user_id, &goal.id, id).get().await?;
        milestone.ok_or(MilestoneError::NoSuchMilestone)
    }

    /// Returns milestones by owner, goal and id, in the order given; `None` where the caller may
    /// not see one.
    pub async fn milestones(
        &self,
        caller: &Caller,
        item_keys: &[(UserId, GoalId, MilestoneId)],
    ) -> Result<Vec<Option<Milestone>>, MilestoneError> {
        let me = self.context.authorize_read(caller).await?;
        let goal = |(owner, goal, _): &(UserId, GoalId, _)| (owner.clone(), goal.clone());
        let goals: Vec<_> = item_keys.iter().map(goal).collect();
        let goals = visible_goals(&self.context, caller, &me, &goals).await?;
        let at = item_keys.iter().map(|(owner, goal, id)| Milestone::at(owner, goal, id));
        let found = self.context.items_at("milestone", at).await?;
        let visible = item_keys
            .iter()
            .zip(found)
            .map(|(item_key, milestone)| milestone.filter(|_| goals.contains_key(&goal(item_key))));
        Ok(visible.collect())
    }

    /// Returns the milestones of a goal, oldest first.
    pub async fn list(
        &self,
        caller: &Caller,
        owner: Option<&UserId>,
        goal: &GoalId,
        page: &PageInput,
    ) -> Result<Page<Milestone>, MilestoneError> {
        let me = self.context.authorize_read(caller).await?;
        let goal = visible_goal(&self.context, caller, &me, owner, goal).await?;
        let goal = goal.ok_or(MilestoneError::NoSuchGoal)?;
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().milestones(&goal.user_id, &goal.id).strong();
                listing.limit(limit).after(after).page().await
            },
            async |milestones: Vec<Milestone>| Ok(milestones.into_iter().map(Some).collect()),
        )
        .await
    }

    /// Returns a user's milestones of all goals, newest first.
    pub async fn timeline(
        &self,
        caller: &Caller,
        owner: Option<&UserId>,
        page: &PageInput,
    ) -> Result<Page<Milestone>, MilestoneError> {
        let me = self.context.authorize_read(caller).await?;
        let owner = owner.unwrap_or(&me.id);
        if !may_see(&self.context, caller, &me, owner).await? {
            return Err(MilestoneError::NoSuchGoal);
        }
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().milestone_timeline(owner);
                listing.limit(limit).after(after).page().await
            },
            async |found: Vec<Milestone>| Ok(with_existing_goals(&self.context, found).await?),
        )
        .await
    }
}

/// Re-reads milestones found through an index, and keeps those whose goal exists.
pub(crate) async fn with_existing_goals(
    context: &Context,
    found: Vec<Milestone>,
) -> Result<Vec<Option<Milestone>>, ServiceError> {
    let of = found.iter().map(|milestone| (&milestone.user_id, &milestone.goal_id));
    let goals: HashSet<GoalId> = existing_goals(context, of).await?;
    let found = reread(context, found).await?;
    let is_listed = |milestone: &Milestone| goals.contains(&milestone.goal_id);
    Ok(found.into_iter().map(|milestone| milestone.filter(is_listed)).collect())
}

/// Re-reads milestones found through an index that may be stale.
async fn reread(context: &Context, found: Vec<Milestone>) -> Found<Vec<Option<Milestone>>> {
    if context.store().capabilities().strong_index_reads {
        return Ok(found.into_iter().map(Some).collect());
    }
    context.items_at("milestone", found.iter().map(Entity::key)).await
}
