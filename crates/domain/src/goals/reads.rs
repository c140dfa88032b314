//! Goals by id and by owner (R24).

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Goal;
use roundtable_model::{GoalId, UserId};

use super::{GoalError, Goals, all_found, found, may_see};
use crate::pages::fill;
use crate::{Caller, Page, PageInput};

#[boxed]
impl Goals {
    /// A goal: one's own, or, for admins, of this owner.
    pub async fn get(
        &self,
        caller: &Caller,
        owner: Option<&UserId>,
        id: &GoalId,
    ) -> Result<Goal, GoalError> {
        let me = self.ground.reader(caller).await?;
        found(&self.ground, caller, &me, owner, id).await?.ok_or(GoalError::NoSuchGoal)
    }

    /// Goals by owner and id, each in its place; `None` where there is none for the caller.
    pub async fn goals(
        &self,
        caller: &Caller,
        places: &[(UserId, GoalId)],
    ) -> Result<Vec<Option<Goal>>, GoalError> {
        let me = self.ground.reader(caller).await?;
        let found = all_found(&self.ground, caller, &me, places).await?;
        Ok(places.iter().map(|place| found.get(place).cloned()).collect())
    }

    /// The goals of a person, in the order they were set: one's own, or, for admins, of this owner.
    pub async fn list(
        &self,
        caller: &Caller,
        owner: Option<&UserId>,
        page: &PageInput,
    ) -> Result<Page<Goal>, GoalError> {
        let me = self.ground.reader(caller).await?;
        let owner = owner.unwrap_or(&me.id);
        if !may_see(&self.ground, caller, &me, owner).await? {
            return Err(GoalError::NoSuchGoal);
        }
        fill(
            page,
            async |limit, after| {
                self.ground.core().goals(owner).strong().limit(limit).after(after).page().await
            },
            async |goals: Vec<Goal>| Ok(goals.into_iter().map(Some).collect()),
        )
        .await
    }
}
