//! What counts for a quest, and how much is enough.
//!
//! A task counts by when it was done, a goal by when it was reached: from the quest's `start_at` on, or,
//! if it has none, from its creation; what it names itself counts however early it was done. Nothing
//! counts that was done after the period or the deadline.

use roundtable_model::entities::{Quest, QuestStep};
use roundtable_model::{CountScope, GoalId, ObjectType, QuestKind, SubjectId, TaskId, Time};
use serde::{Deserialize, Serialize};

/// Something that may count for a quest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QuestSubject {
    /// A task, by the goal it is a step to.
    Task(GoalId, TaskId),
    /// A goal.
    Goal(GoalId),
}

impl QuestSubject {
    /// What it is known by.
    pub fn id(&self) -> SubjectId {
        match self {
            Self::Task(_, task) => task.into(),
            Self::Goal(goal) => goal.into(),
        }
    }

    /// What a step stands for.
    pub(super) fn of(step: &QuestStep) -> Self {
        match step.object_type {
            ObjectType::Goal => Self::Goal(step.goal_id.clone()),
            _ => Self::Task(step.goal_id.clone(), step.subject_id.recast()),
        }
    }

    pub(super) const fn goal(&self) -> &GoalId {
        match self {
            Self::Task(goal, _) | Self::Goal(goal) => goal,
        }
    }

    pub(super) const fn object_type(&self) -> ObjectType {
        match self {
            Self::Task(..) => ObjectType::Task,
            Self::Goal(_) => ObjectType::Goal,
        }
    }
}

/// Whether something counts for a quest at all, whenever it is done.
pub(super) fn concerns(quest: &Quest, subject: &QuestSubject) -> bool {
    match (quest.kind, subject) {
        (QuestKind::Linked, _) => names(quest, subject),
        (QuestKind::Quantitative, QuestSubject::Goal(_)) => false,
        (QuestKind::Quantitative, QuestSubject::Task(..)) => {
            quest.count_scope != Some(CountScope::Linked) || names(quest, subject)
        }
    }
}

/// Whether something that concerns a quest counts for it, done then.
pub(super) fn counts(quest: &Quest, done_at: Time) -> bool {
    let names_them = quest.linked_goal_ids.is_some() || quest.linked_task_ids.is_some();
    let from = quest.start_at.or((!names_them).then_some(quest.created_at));
    let period = quest.period_seconds.map(|seconds| {
        let start = quest.start_at.unwrap_or(quest.created_at);
        start.plus_ms(seconds.saturating_mul(1_000))
    });
    from.is_none_or(|from| from <= done_at)
        && period.is_none_or(|end| done_at <= end)
        && quest.deadline.is_none_or(|deadline| done_at <= deadline)
}

/// How many must count for a quest to be completed.
pub(super) fn target(quest: &Quest) -> u64 {
    match quest.kind {
        QuestKind::Quantitative => quest.target_count.unwrap_or(u64::MAX),
        QuestKind::Linked => {
            let goals = quest.linked_goal_ids.as_ref().map_or(0, Vec::len);
            let tasks = quest.linked_task_ids.as_ref().map_or(0, Vec::len);
            u64::try_from(goals + tasks).unwrap_or(u64::MAX)
        }
    }
}

fn names(quest: &Quest, subject: &QuestSubject) -> bool {
    match subject {
        QuestSubject::Task(_, task) => {
            quest.linked_task_ids.as_ref().is_some_and(|tasks| tasks.contains(task))
        }
        QuestSubject::Goal(goal) => {
            quest.linked_goal_ids.as_ref().is_some_and(|goals| goals.contains(goal))
        }
    }
}
