//! Quests, the steps counted for them, and their rewards. After creation, only a quest's status and
//! progress change.

use crate::{
    CountScope, Fields, GoalId, ObjectType, QuestDifficulty, QuestId, QuestKind, QuestStatus,
    SubjectId, Tag, TaskId, Time, UserId,
};

/// A challenge with a reward.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Quest {
    pub user_id: UserId,
    pub id: QuestId,
    pub title: String,
    pub description: Option<String>,
    /// The difficulty caps the reward.
    pub difficulty: QuestDifficulty,
    /// The reward for completing it.
    pub reward_xp: u64,
    pub status: QuestStatus,
    pub tags: Vec<Tag>,
    /// The time it ends, completed or not.
    pub deadline: Option<Time>,
    /// Completed by given tasks and goals, or by a number of them.
    pub kind: QuestKind,
    pub linked_goal_ids: Option<Vec<GoalId>>,
    pub linked_task_ids: Option<Vec<TaskId>>,
    /// The number of tasks that must be done.
    pub target_count: Option<u64>,
    /// Any task counts, or only the linked ones.
    pub count_scope: Option<CountScope>,
    /// The time from which tasks count; its creation if absent.
    pub start_at: Option<Time>,
    /// The length of the period in which tasks count.
    pub period_seconds: Option<u64>,
    /// The number of tasks counted so far.
    pub progress_count: u64,
    /// The reason it was cancelled; `expired` at its deadline.
    pub cancel_reason: Option<String>,
    pub created_at: Time,
    pub updated_at: Time,
}

/// One task or goal that counts for a quest; an item of its own, so that it cannot count twice.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct QuestStep {
    pub user_id: UserId,
    pub quest_id: QuestId,
    pub subject_id: SubjectId,
    /// The goal of the task, or the goal itself.
    pub goal_id: GoalId,
    /// A task or a goal.
    pub object_type: ObjectType,
    pub done_at: Time,
}

/// The reward of a completed quest, kept when the quest is deleted.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct XpEntry {
    pub user_id: UserId,
    pub quest_id: QuestId,
    pub reward_xp: u64,
    pub created_at: Time,
}
