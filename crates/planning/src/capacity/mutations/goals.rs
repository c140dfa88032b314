//! Goals, tasks and milestones.

use roundtable_model::entities::{Goal, Milestone, Quest, Task};
use roundtable_model::{GoalStatus, Percentage, samples};

use super::MutationWrites;
use super::counters::{activity, feed_items, notification, xp};
use super::step::{change, check, delete, put};

pub(super) fn mutations() -> Vec<MutationWrites> {
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

fn create_goal() -> MutationWrites {
    let tags = put(&samples::tag_ref()).times("tags", 2.0);
    MutationWrites::idempotent("createGoal", [put(&samples::goal()), tags])
}

/// A changed title or tag is also written to the tag references.
fn update_goal() -> MutationWrites {
    let goal = samples::goal();
    let description = goal.description.as_ref().map(|text| format!("{text} In the rain, too."));
    let changed = Goal { description, ..goal.clone() };
    let tags = put(&samples::tag_ref()).times("tags", 0.0);
    MutationWrites::idempotent("updateGoal", [change(&goal, &changed), tags])
}

fn update_goal_completed() -> MutationWrites {
    let goal = samples::goal();
    let completed_at = Some(goal.created_at);
    let reached = Goal { status: GoalStatus::Completed, completed_at, ..goal.clone() };
    let own = [change(&goal, &reached)].into_iter().chain(activity());
    MutationWrites::idempotent("updateGoalCompleted", own).then_derived([feed_items()])
}

/// Tasks and milestones are deleted in the background.
fn delete_goal() -> MutationWrites {
    let own = [delete(&samples::goal()), delete(&samples::tag_ref()).times("tags", 2.0)];
    MutationWrites::idempotent("deleteGoal", own).then_derived([
        delete(&samples::task()).times("tasks", 10.0),
        delete(&samples::milestone()).times("milestones", 2.0),
    ])
}

fn open_task() -> Task {
    Task { done: false, done_at: None, ..samples::task() }
}

fn create_task() -> MutationWrites {
    MutationWrites::idempotent("createTask", [check(&samples::goal()), put(&open_task())])
}

fn update_task() -> MutationWrites {
    let task = open_task();
    let title = format!("{}, slowly", task.title);
    let changed = Task { title, version: task.version + 1, ..task.clone() };
    MutationWrites::idempotent("updateTask", [change(&task, &changed)])
}

/// A completed task counts for quests, sometimes completes one, sometimes reaches a milestone.
fn update_task_done() -> MutationWrites {
    const QUESTS: (&str, f64) = ("quests", 1.0);
    /// The quests it completes.
    const COMPLETED: (&str, f64) = ("completed", 0.1);
    const MILESTONES: (&str, f64) = ("milestones", 0.1);
    let task = open_task();
    let done_at = Some(task.created_at);
    let done = Task { done: true, done_at, version: task.version + 1, ..task.clone() };
    // Progress and completion are one write of the quest.
    let quest = samples::quest();
    let further = Quest { progress_count: quest.progress_count + 1, ..quest.clone() };
    let earned =
        [put(&samples::xp_entry()), xp()].into_iter().chain(activity()).chain(notification());
    MutationWrites::idempotent("updateTaskDone", [change(&task, &done)])
        .then_derived([
            put(&samples::quest_step()).in_transaction().times(QUESTS.0, QUESTS.1),
            change(&quest, &further).in_transaction().times(QUESTS.0, QUESTS.1),
            change(&open_milestone(), &samples::milestone()).times(MILESTONES.0, MILESTONES.1),
        ])
        .then_derived(earned.map(|step| step.in_transaction().times(COMPLETED.0, COMPLETED.1)))
        .then_derived([feed_items()])
}

fn delete_task() -> MutationWrites {
    MutationWrites::idempotent("deleteTask", [delete(&samples::task())])
}

fn open_milestone() -> Milestone {
    Milestone { achieved: false, achieved_at: None, ..samples::milestone() }
}

fn create_milestone() -> MutationWrites {
    MutationWrites::idempotent("createMilestone", [check(&samples::goal()), put(&open_milestone())])
}

fn update_milestone() -> MutationWrites {
    let milestone = open_milestone();
    let changed = Milestone { percentage: Percentage::whole(51), ..milestone.clone() };
    MutationWrites::idempotent("updateMilestone", [change(&milestone, &changed)])
}

/// Marked as achieved by the user, which also publishes an activity.
fn update_milestone_achieved() -> MutationWrites {
    let own = [change(&open_milestone(), &samples::milestone())].into_iter().chain(activity());
    MutationWrites::idempotent("updateMilestoneAchieved", own).then_derived([feed_items()])
}

fn delete_milestone() -> MutationWrites {
    MutationWrites::idempotent("deleteMilestone", [delete(&samples::milestone())])
}
