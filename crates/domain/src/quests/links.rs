//! Ownership checks of the goals and tasks that a quest links.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use roundtable_model::entities::{Goal, Task};
use roundtable_model::table::Check;
use roundtable_model::{GoalId, UserId};

use super::{NewQuest, QuestError, Quests};
use crate::tasks::find;

impl Quests {
    /// Returns checks that all linked goals and tasks belong to this user. An index finds the
    /// tasks; the transaction decides their owner.
    pub(super) async fn link_checks(
        &self,
        user: &UserId,
        new: &NewQuest,
    ) -> Result<Vec<Check>, QuestError> {
        let core = self.context.core();
        let tasks = new.linked_task_ids.iter().map(|id| find(&self.context, id));
        let mut goals: BTreeSet<GoalId> = new.linked_goal_ids.iter().cloned().collect();
        let mut checks = Vec::new();
        for task in try_join_all(tasks).await? {
            let task = task.filter(|task| task.user_id == *user).ok_or(QuestError::NoSuchLink)?;
            let owned = Task::USER_ID.is(user);
            checks.push(Task::at(&task.goal_id, &task.id).check(owned));
            // A task exists as long as its goal does.
            goals.insert(task.goal_id);
        }
        let all: Vec<GoalId> = goals.into_iter().collect();
        let existing = core.goals_among(user, &all).get().await?;
        if existing.into_iter().flatten().count() < all.len() {
            return Err(QuestError::NoSuchLink);
        }
        checks.extend(all.iter().map(|id| Goal::at(user, id).exists()));
        Ok(checks)
    }
}
