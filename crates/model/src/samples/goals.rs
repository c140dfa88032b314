//! Ana's goal, and a quest she has completed.

use super::cast::{ANA, GOAL, MILESTONE, QUEST, TASK, TASK_DONE};
use super::{read, read_all};
use crate::entities::{Goal, Milestone, Quest, QuestStep, Task, XpEntry};
use crate::{
    CountScope, GoalStatus, ObjectType, Percentage, QuestDifficulty, QuestKind, QuestStatus, Shard,
};

pub fn goal() -> Goal {
    Goal {
        user_id: read(ANA),
        id: read(GOAL),
        title: "Run the half marathon in May".into(),
        description: Some("Under two hours, without walking the last hill.".into()),
        tags: read_all(&["running", "health"]),
        status: GoalStatus::Active,
        completed_at: None,
        created_at: read("2025-01-08T10:21:09.460Z"),
        updated_at: read("2025-01-08T10:21:09.460Z"),
    }
}

/// An open task of the goal.
pub fn task() -> Task {
    Task {
        goal_id: read(GOAL),
        id: read(TASK),
        user_id: read(ANA),
        title: "Long run of eighteen kilometres".into(),
        due_at: Some(read("2025-02-02T06:00:00.000Z")),
        nlp_plan: Some(read(
            r#"{"steps":["pick a flat route","eat before","start at 6:10 per km"],"minutes":120}"#,
        )),
        done: false,
        done_at: None,
        shard: Shard::ZERO,
        version: 1,
        created_at: read("2025-01-08T10:24:51.883Z"),
        updated_at: read("2025-01-08T10:24:51.883Z"),
    }
}

pub fn milestone() -> Milestone {
    Milestone {
        user_id: read(ANA),
        goal_id: read(GOAL),
        id: read(MILESTONE),
        name: "Half of the plan".into(),
        percentage: Percentage::whole(50),
        achieved: true,
        achieved_at: Some(read("2025-01-27T15:05:13.707Z")),
        description: Some("Then new shoes.".into()),
        created_at: read("2025-01-08T10:30:37.942Z"),
        updated_at: read("2025-01-27T15:05:13.707Z"),
    }
}

/// Ten training runs within a month.
pub fn quest() -> Quest {
    Quest {
        user_id: read(ANA),
        id: read(QUEST),
        title: "Ten runs in three weeks".into(),
        description: Some("Any ten tasks of the half marathon plan.".into()),
        difficulty: QuestDifficulty::Medium,
        reward_xp: 100,
        status: QuestStatus::Completed,
        tags: read_all(&["running"]),
        deadline: Some(read("2025-02-01T00:00:00.000Z")),
        kind: QuestKind::Quantitative,
        linked_goal_ids: Some(read_all(&[GOAL])),
        linked_task_ids: None,
        target_count: Some(10),
        count_scope: Some(CountScope::Linked),
        start_at: Some(read("2025-01-11T00:00:00.000Z")),
        period_seconds: Some(1_814_400),
        progress_count: 10,
        cancel_reason: None,
        created_at: read("2025-01-11T08:05:58.276Z"),
        updated_at: read("2025-01-27T15:05:14.020Z"),
    }
}

pub fn quest_step() -> QuestStep {
    QuestStep {
        user_id: read(ANA),
        quest_id: read(QUEST),
        subject_id: read(TASK_DONE),
        goal_id: goal().id,
        object_type: ObjectType::Task,
        done_at: read("2025-01-27T15:05:13.190Z"),
    }
}

pub fn xp_entry() -> XpEntry {
    XpEntry {
        user_id: read(ANA),
        quest_id: read(QUEST),
        reward_xp: 100,
        created_at: read("2025-01-27T15:05:14.020Z"),
    }
}
