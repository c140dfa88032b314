//! Goals, tasks and milestones. Only their owner sees them.

use crate::{
    Fields, GoalId, GoalStatus, Json, MilestoneId, Percentage, Shard, Tag, TaskId, Time, UserId,
};

/// Something a user wants to achieve.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Goal {
    pub user_id: UserId,
    pub id: GoalId,
    pub title: String,
    pub description: Option<String>,
    pub tags: Vec<Tag>,
    pub status: GoalStatus,
    /// The time it was completed; quests count by it.
    pub completed_at: Option<Time>,
    pub created_at: Time,
    pub updated_at: Time,
}

/// A step towards a goal.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Task {
    pub goal_id: GoalId,
    pub id: TaskId,
    pub user_id: UserId,
    pub title: String,
    pub due_at: Option<Time>,
    /// A plan made from the title by a language model.
    pub nlp_plan: Option<Json>,
    pub done: bool,
    /// The time it was done; quests count by it.
    pub done_at: Option<Time>,
    /// The shard of its due day it is listed in.
    pub shard: Shard,
    /// Incremented by every change of a key.
    pub version: u64,
    pub created_at: Time,
    pub updated_at: Time,
}

impl Task {
    /// Returns whether the task is still to be done, so that a reminder makes sense.
    pub fn open(done: &bool) -> bool {
        !*done
    }
}

/// A share of a goal's tasks to reach.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Milestone {
    pub user_id: UserId,
    pub goal_id: GoalId,
    pub id: MilestoneId,
    pub name: String,
    /// The share of the goal's tasks that must be done, from 0 to 100.
    pub percentage: Percentage,
    pub achieved: bool,
    pub achieved_at: Option<Time>,
    pub description: Option<String>,
    pub created_at: Time,
    pub updated_at: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_open_until_it_is_done() {
        assert!(Task::open(&false));
        assert!(!Task::open(&true));
    }
}
