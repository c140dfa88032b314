//! Rules for what counts towards a quest, and how much is enough.
//!
//! A task counts by its completion time, a goal by when it was reached: from the quest's `start_at`
//! on, or from its creation if there is none. What the quest links explicitly counts however early
//! it was done. Nothing counts after the period or the deadline.

use roundtable_model::entities::{Quest, QuestStep};
use roundtable_model::{CountScope, GoalId, ObjectType, QuestKind, SubjectId, TaskId, Time};
use serde::{Deserialize, Serialize};

/// A task or goal that may count towards a quest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QuestSubject {
    /// A task with its goal.
    Task(GoalId, TaskId),
    Goal(GoalId),
}

impl QuestSubject {
    pub fn id(&self) -> SubjectId {
        match self {
            Self::Task(_, task) => task.into(),
            Self::Goal(goal) => goal.into(),
        }
    }

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

/// Returns whether a subject can count towards a quest, regardless of time.
pub(super) fn is_relevant(quest: &Quest, subject: &QuestSubject) -> bool {
    match (quest.kind, subject) {
        (QuestKind::Linked, _) => is_linked(quest, subject),
        (QuestKind::Quantitative, QuestSubject::Goal(_)) => false,
        (QuestKind::Quantitative, QuestSubject::Task(..)) => {
            quest.count_scope != Some(CountScope::Linked) || is_linked(quest, subject)
        }
    }
}

/// Returns whether a relevant subject counts, completed at `done_at`.
pub(super) fn is_counted_at(quest: &Quest, done_at: Time) -> bool {
    let has_links = quest.linked_goal_ids.is_some() || quest.linked_task_ids.is_some();
    let from = quest.start_at.or((!has_links).then_some(quest.created_at));
    let period = quest.period_seconds.map(|seconds| {
        let start = quest.start_at.unwrap_or(quest.created_at);
        start.plus_ms(seconds.saturating_mul(1_000))
    });
    from.is_none_or(|from| from <= done_at)
        && period.is_none_or(|end| done_at <= end)
        && quest.deadline.is_none_or(|deadline| done_at <= deadline)
}

/// The number of subjects that completes the quest.
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

fn is_linked(quest: &Quest, subject: &QuestSubject) -> bool {
    match subject {
        QuestSubject::Task(_, task) => {
            quest.linked_task_ids.as_ref().is_some_and(|tasks| tasks.contains(task))
        }
        QuestSubject::Goal(goal) => {
            quest.linked_goal_ids.as_ref().is_some_and(|goals| goals.contains(goal))
        }
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::samples;

    use super::*;

    const START: Time = Time::from_ms(1_000_000);

    /// A quest that counts from `START` for ten seconds.
    fn quest() -> Quest {
        Quest {
            start_at: Some(START),
            period_seconds: Some(10),
            deadline: None,
            created_at: START.plus_ms(5_000),
            linked_goal_ids: None,
            linked_task_ids: None,
            ..samples::quest()
        }
    }

    fn counts_at(quest: &Quest, ms: u64) -> bool {
        is_counted_at(quest, START.plus_ms(ms))
    }

    #[test]
    fn the_first_and_the_last_millisecond_of_a_period_count() {
        let quest = quest();
        assert!(!is_counted_at(&quest, START.minus_ms(1)) && counts_at(&quest, 0));
        assert!(counts_at(&quest, 10_000) && !counts_at(&quest, 10_001));
    }

    #[test]
    fn the_millisecond_of_the_deadline_counts() {
        let quest = Quest { deadline: Some(START.plus_ms(7_000)), ..quest() };
        assert!(counts_at(&quest, 7_000) && !counts_at(&quest, 7_001));
    }

    #[test]
    fn without_a_start_a_quest_counts_from_its_creation() {
        let quest = Quest { start_at: None, ..quest() };
        assert!(!counts_at(&quest, 4_999) && counts_at(&quest, 5_000));
        assert!(counts_at(&quest, 15_000) && !counts_at(&quest, 15_001));
        let linked = Quest { linked_task_ids: Some(Vec::new()), ..quest };
        assert!(counts_at(&linked, 0), "what it links counts however early");
    }
}
