//! Goals, tasks, milestones and quests.

use super::Mutation;
use super::counters::{activity, feed_items, notice, xp};
use super::step::{change, check, put};
use crate::entities::{Milestone, Quest, Task};
use crate::samples;

pub(super) fn mutations() -> Vec<Mutation> {
    vec![create_goal(), create_task(), complete_task(), create_milestone(), create_quest()]
}

fn create_goal() -> Mutation {
    let tags = put(&samples::tag_ref()).times("tags", 2.0);
    Mutation::new("createGoal", [put(&samples::goal()), tags])
}

fn open_task() -> Task {
    Task { done: false, done_at: None, ..samples::task() }
}

fn create_task() -> Mutation {
    Mutation::new("createTask", [check(&samples::goal()), put(&open_task())])
}

fn create_milestone() -> Mutation {
    let milestone = Milestone { achieved: false, achieved_at: None, ..samples::milestone() };
    Mutation::new("createMilestone", [check(&samples::goal()), put(&milestone)])
}

fn create_quest() -> Mutation {
    Mutation::new(
        "createQuest",
        [
            check(&samples::goal()).times("goals", 1.0),
            check(&samples::task()).times("tasks", 1.0),
            put(&samples::quest()),
        ],
    )
}

/// A task is done: it counts for quests, sometimes completes one, sometimes reaches a milestone.
fn complete_task() -> Mutation {
    /// How many quests it counts for.
    const QUESTS: (&str, f64) = ("quests", 1.0);
    /// How many of them it completes.
    const COMPLETED: (&str, f64) = ("completed", 0.1);
    /// How many milestones it reaches.
    const MILESTONES: (&str, f64) = ("milestones", 0.1);
    let task = open_task();
    let done = Task { done: true, done_at: Some(task.created_at), ..task.clone() };
    // Progress and completion are one write of the quest.
    let quest = samples::quest();
    let further = Quest { progress_count: quest.progress_count + 1, ..quest.clone() };
    let milestone = Milestone { achieved: false, achieved_at: None, ..samples::milestone() };
    let reached = Milestone { achieved: true, ..milestone.clone() };
    let earned = [put(&samples::xp_entry()), xp()].into_iter().chain(activity()).chain(notice());
    Mutation::new("completeTask", [change(&task, &done)])
        .then([
            put(&samples::quest_step()).together().times(QUESTS.0, QUESTS.1),
            change(&quest, &further).together().times(QUESTS.0, QUESTS.1),
            change(&milestone, &reached).times(MILESTONES.0, MILESTONES.1),
        ])
        .then(earned.map(|step| step.together().times(COMPLETED.0, COMPLETED.1)))
        .then([feed_items()])
}
