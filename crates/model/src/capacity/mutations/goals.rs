//! Goals, tasks and milestones.

use super::Mutation;
use super::counters::{activity, feed_items, notice, xp};
use super::step::{change, check, delete, put};
use crate::entities::{Goal, Milestone, Quest, Task};
use crate::{GoalStatus, Percentage, samples};

pub(super) fn mutations() -> Vec<Mutation> {
    vec![
        create_goal(),
        update_goal(),
        update_goal_completed(),
        delete_goal(),
        create_task(),
        update_task(),
        update_task_done(),
        delete_task(),
        create_milestone(),
        update_milestone(),
        update_milestone_achieved(),
        delete_milestone(),
    ]
}

fn create_goal() -> Mutation {
    let tags = put(&samples::tag_ref()).times("tags", 2.0);
    Mutation::repeatable("createGoal", [put(&samples::goal()), tags])
}

/// Another title or tag is also written where it is found by its tags.
fn update_goal() -> Mutation {
    let goal = samples::goal();
    let description = goal.description.as_ref().map(|text| format!("{text} In the rain, too."));
    let changed = Goal { description, ..goal.clone() };
    let tags = put(&samples::tag_ref()).times("tags", 0.0);
    Mutation::repeatable("updateGoal", [change(&goal, &changed), tags])
}

fn update_goal_completed() -> Mutation {
    let goal = samples::goal();
    let completed_at = Some(goal.created_at);
    let reached = Goal { status: GoalStatus::Completed, completed_at, ..goal.clone() };
    let own = [change(&goal, &reached)].into_iter().chain(activity());
    Mutation::repeatable("updateGoalCompleted", own).then([feed_items()])
}

/// Its tasks and milestones follow in the background.
fn delete_goal() -> Mutation {
    let own = [delete(&samples::goal()), delete(&samples::tag_ref()).times("tags", 2.0)];
    Mutation::repeatable("deleteGoal", own).then([
        delete(&samples::task()).times("tasks", 10.0),
        delete(&samples::milestone()).times("milestones", 2.0),
    ])
}

fn open_task() -> Task {
    Task { done: false, done_at: None, ..samples::task() }
}

fn create_task() -> Mutation {
    Mutation::repeatable("createTask", [check(&samples::goal()), put(&open_task())])
}

fn update_task() -> Mutation {
    let task = open_task();
    let title = format!("{}, slowly", task.title);
    let changed = Task { title, version: task.version + 1, ..task.clone() };
    Mutation::repeatable("updateTask", [change(&task, &changed)])
}

/// A task is done: it counts for quests, sometimes completes one, sometimes reaches a milestone.
fn update_task_done() -> Mutation {
    /// How many quests it counts for.
    const QUESTS: (&str, f64) = ("quests", 1.0);
    /// How many of them it completes.
    const COMPLETED: (&str, f64) = ("completed", 0.1);
    /// How many milestones it reaches.
    const MILESTONES: (&str, f64) = ("milestones", 0.1);
    let task = open_task();
    let done_at = Some(task.created_at);
    let done = Task { done: true, done_at, version: task.version + 1, ..task.clone() };
    // Progress and completion are one write of the quest.
    let quest = samples::quest();
    let further = Quest { progress_count: quest.progress_count + 1, ..quest.clone() };
    let earned = [put(&samples::xp_entry()), xp()].into_iter().chain(activity()).chain(notice());
    Mutation::repeatable("updateTaskDone", [change(&task, &done)])
        .then([
            put(&samples::quest_step()).together().times(QUESTS.0, QUESTS.1),
            change(&quest, &further).together().times(QUESTS.0, QUESTS.1),
            change(&ahead(), &samples::milestone()).times(MILESTONES.0, MILESTONES.1),
        ])
        .then(earned.map(|step| step.together().times(COMPLETED.0, COMPLETED.1)))
        .then([feed_items()])
}

fn delete_task() -> Mutation {
    Mutation::repeatable("deleteTask", [delete(&samples::task())])
}

/// A milestone that is not reached yet.
fn ahead() -> Milestone {
    Milestone { achieved: false, achieved_at: None, ..samples::milestone() }
}

fn create_milestone() -> Mutation {
    Mutation::repeatable("createMilestone", [check(&samples::goal()), put(&ahead())])
}

fn update_milestone() -> Mutation {
    let milestone = ahead();
    let changed = Milestone { percentage: Percentage::whole(51), ..milestone.clone() };
    Mutation::repeatable("updateMilestone", [change(&milestone, &changed)])
}

/// Reached, by hand: others hear of it.
fn update_milestone_achieved() -> Mutation {
    let own = [change(&ahead(), &samples::milestone())].into_iter().chain(activity());
    Mutation::repeatable("updateMilestoneAchieved", own).then([feed_items()])
}

fn delete_milestone() -> Mutation {
    Mutation::repeatable("deleteMilestone", [delete(&samples::milestone())])
}
