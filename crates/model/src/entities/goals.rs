//! What people want to reach, and the steps towards it. All of it is for its owner.

use crate::{
    Fields, GoalId, GoalStatus, Json, MilestoneId, Percentage, Shard, Tag, TaskId, Time, UserId,
};

/// Something a person wants to reach.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Goal {
    /// Whose goal.
    pub user_id: UserId,
    /// Which goal.
    pub id: GoalId,
    /// What is to be reached.
    pub title: String,
    /// More about it.
    pub description: Option<String>,
    /// What it is about, in a word each.
    pub tags: Vec<Tag>,
    /// How it stands.
    pub status: GoalStatus,
    /// When it was reached; quests count by it.
    pub completed_at: Option<Time>,
    /// When it was set.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

/// A step towards a goal.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Task {
    /// The goal.
    pub goal_id: GoalId,
    /// Which task.
    pub id: TaskId,
    /// Whose it is.
    pub user_id: UserId,
    /// What is to be done.
    pub title: String,
    /// By when.
    pub due_at: Option<Time>,
    /// A plan made from the title by a language model.
    pub nlp_plan: Option<Json>,
    /// Whether it is done.
    pub done: bool,
    /// When it was done; quests count by it.
    pub done_at: Option<Time>,
    /// The part of its due day it is listed under.
    pub shard: Shard,
    /// Raised by every change of a key.
    pub version: u64,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

impl Task {
    /// Whether it is still to be done, so that a reminder makes sense.
    pub fn open(done: &bool) -> bool {
        !*done
    }
}

/// A part of the way to a goal.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Milestone {
    /// Whose it is.
    pub user_id: UserId,
    /// The goal.
    pub goal_id: GoalId,
    /// Which milestone.
    pub id: MilestoneId,
    /// What it is called.
    pub name: String,
    /// Which share of the goal's tasks must be done, from 0 to 100.
    pub percentage: Percentage,
    /// Whether it is reached.
    pub achieved: bool,
    /// When it was reached.
    pub achieved_at: Option<Time>,
    /// More about it.
    pub description: Option<String>,
    /// When it was set.
    pub created_at: Time,
    /// When it last changed.
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
