//! Reads of goals by id and by owner (R24).

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Goal;
use roundtable_model::{GoalId, UserId};

use super::{GoalError, Goals, may_see, visible_goal, visible_goals};
use crate::pages::fill_page;
use crate::{Caller, Page, PageInput};

#[boxed]
impl Goals {
    /// Returns the caller's own goal or, for admins, the owner's.
    pub async fn get(
        &self,
        caller: &Caller,
        owner: Option<&UserId>,
        id: &GoalId,
    ) -> Result<Goal, GoalError> {
        let me = self.context.authorize_read(caller).await?;
        visible_goal(&self.context, caller, &me, owner, id).await?.ok_or(GoalError::NoSuchGoal)
    }

    /// Returns goals by owner and id, in the order given; `None` where the caller may not see one.
    pub async fn goals(
        &self,
        caller: &Caller,
        item_keys: &[(UserId, GoalId)],
    ) -> Result<Vec<Option<Goal>>, GoalError> {
        let me = self.context.authorize_read(caller).await?;
        let found = visible_goals(&self.context, caller, &me, item_keys).await?;
        Ok(item_keys.iter().map(|item_key| found.get(item_key).cloned()).collect())
    }

    /// Returns the caller's own goals or, for admins, the owner's, oldest first.
    pub async fn list(
        &self,
        caller: &Caller,
        owner: Option<&UserId>,
        page: &PageInput,
    ) -> Result<Page<Goal>, GoalError> {
        let me = self.context.authorize_read(caller).await?;
        let owner = owner.unwrap_or(&me.id);
        if !may_see(&self.context, caller, &me, owner).await? {
            return Err(GoalError::NoSuchGoal);
        }
        fill_page(
            page,
            async |limit, after| {
                self.context.core().goals(owner).strong().limit(limit).after(after).page().await
            },
            async |goals: Vec<Goal>| Ok(goals.into_iter().map(Some).collect()),
        )
        .await
    }
}
