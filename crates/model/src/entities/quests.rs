//! Challenges, what counted for them, and what they earned. After its creation only a quest's
//! status and progress change.

use crate::{
    CountScope, Fields, GoalId, ObjectType, QuestDifficulty, QuestId, QuestKind, QuestStatus,
    SubjectId, Tag, TaskId, Time, UserId,
};

/// A challenge with a reward.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Quest {
    /// Whose quest.
    pub user_id: UserId,
    /// Which quest.
    pub id: QuestId,
    /// What is to be achieved.
    pub title: String,
    /// More about it.
    pub description: Option<String>,
    /// How hard it is; caps the reward.
    pub difficulty: QuestDifficulty,
    /// What completing it earns.
    pub reward_xp: u64,
    /// How it stands.
    pub status: QuestStatus,
    /// What it is about, in a word each.
    pub tags: Vec<Tag>,
    /// When it is over, completed or not.
    pub deadline: Option<Time>,
    /// Whether it names what must be done, or how many.
    pub kind: QuestKind,
    /// The goals it names.
    pub linked_goal_ids: Option<Vec<GoalId>>,
    /// The tasks it names.
    pub linked_task_ids: Option<Vec<TaskId>>,
    /// How many must be done.
    pub target_count: Option<u64>,
    /// Whether any task counts, or only those it names.
    pub count_scope: Option<CountScope>,
    /// From when tasks count; otherwise from its creation.
    pub start_at: Option<Time>,
    /// For how long after that they do.
    pub period_seconds: Option<u64>,
    /// How many have counted so far.
    pub progress_count: u64,
    /// Why it was cancelled; `expired` at its deadline.
    pub cancel_reason: Option<String>,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

/// One task or goal that counts for a quest. Being an item of its own, it cannot count twice.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct QuestStep {
    /// Whose quest.
    pub user_id: UserId,
    /// The quest.
    pub quest_id: QuestId,
    /// The task or goal.
    pub subject_id: SubjectId,
    /// The goal: of the task, or that it is.
    pub goal_id: GoalId,
    /// Which of the two it is.
    pub object_type: ObjectType,
    /// When it was done.
    pub done_at: Time,
}

/// The reward of a completed quest, kept when the quest is deleted.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct XpEntry {
    /// Whose reward.
    pub user_id: UserId,
    /// The quest.
    pub quest_id: QuestId,
    /// How much.
    pub reward_xp: u64,
    /// When it was earned.
    pub created_at: Time,
}
