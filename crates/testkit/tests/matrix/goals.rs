//! Rows about goals, tasks, milestones and timelines.

use std::collections::HashMap;

use roundtable_domain::{
    Caller, GoalChange, MilestoneChange, NewGoal, NewMilestone, NewTask, TaskChange,
};
use roundtable_model::table::Order;
use roundtable_model::{
    GoalId, GoalStatus, MilestoneId, Percentage, TaskId, Time, TimelineEntry, UserId,
};
use roundtable_testkit::Town;

use super::operations::{Answer, lists, page, shows};
use super::stage::owner;

/// A goal with a task and a milestone.
#[derive(Clone, Debug)]
pub(crate) struct GoalFixture {
    goal: GoalId,
    task: TaskId,
    milestone: MilestoneId,
    due: Time,
}

/// By the object of a row.
pub(crate) type GoalFixtures = HashMap<&'static str, GoalFixture>;

pub(crate) async fn set(town: &Town) -> GoalFixtures {
    let mut goals = HashMap::new();
    for name in ["goal", "deleted goal", "suspended account's goal", "deleted account's goal"] {
        let tags = vec!["town".parse().unwrap()];
        let goal = NewGoal { tags, ..NewGoal::titled(name) };
        let goal = town.set_goal_as(owner(name), goal).await.id;
        let due = town.now().plus_ms(60_000);
        let task = town.add_task_due(owner(name), &goal, name, Some(due)).await.id;
        let milestone = town.add_milestone(owner(name), &goal, 50, name).await.id;
        goals.insert(name, GoalFixture { goal, task, milestone, due });
    }
    goals
}

/// Deletes goals, without running the processors.
pub(crate) async fn end(town: &Town, goals: &GoalFixtures) {
    let ana = town.caller("ana");
    town.goals().delete(&ana, &goals["deleted goal"].goal, None).await.unwrap();
}

pub(crate) async fn answer(
    goals: &GoalFixtures,
    town: &Town,
    (operation, object): (&str, &str),
    viewer: Option<&Caller>,
) -> Answer {
    let (goal_fixture, user): (&GoalFixture, UserId) =
        (&goals[object], owner(object).parse().unwrap());
    if operation == "timelines.of" {
        let timelines = town.timelines();
        let entries = timelines.of(viewer, &user, None, Order::Descending, &page()).await;
        return lists(entries, |entry| match entry {
            TimelineEntry::Goal(goal) => goal.id == goal_fixture.goal,
            _ => false,
        });
    }
    let Some(caller) = viewer else { return "-" };
    match operation.split_once('.').unwrap().0 {
        "goals" => of_goals(goal_fixture, town, operation, caller, &user).await,
        "tasks" => of_tasks(goal_fixture, town, operation, caller).await,
        _ => of_milestones(goal_fixture, town, operation, caller, &user).await,
    }
}

async fn of_goals(
    goal_fixture: &GoalFixture,
    town: &Town,
    operation: &str,
    caller: &Caller,
    user: &UserId,
) -> Answer {
    let (goals, goal) = (town.goals(), &goal_fixture.goal);
    match operation {
        "goals.create" => shows(goals.create(caller, NewGoal::titled("Run"), None).await, |_| true),
        "goals.get" => shows(goals.get(caller, Some(user), goal).await, |_| true),
        "goals.goals" => {
            let found = goals.goals(caller, &[(user.clone(), goal.clone())]).await;
            shows(found, |found| found.iter().flatten().any(|other| other.id == *goal))
        }
        "goals.list" => {
            lists(goals.list(caller, Some(user), &page()).await, |other| other.id == *goal)
        }
        "goals.update" => {
            let change = GoalChange::to(GoalStatus::Completed);
            shows(goals.update(caller, goal, change, None).await, |_| true)
        }
        "goals.delete" => shows(goals.delete(caller, goal, None).await, |_| true),
        other => panic!("no row handler for {other}"),
    }
}

async fn of_tasks(
    goal_fixture: &GoalFixture,
    town: &Town,
    operation: &str,
    caller: &Caller,
) -> Answer {
    let (tasks, GoalFixture { goal, task, due, .. }) = (town.tasks(), goal_fixture);
    match operation {
        "tasks.create" => {
            shows(tasks.create(caller, NewTask::titled(goal, "run"), None).await, |_| true)
        }
        "tasks.get" => shows(tasks.get(caller, goal, task).await, |_| true),
        "tasks.tasks" => {
            let found = tasks.tasks(caller, &[(goal.clone(), task.clone())]).await;
            shows(found, |found| found.iter().flatten().any(|other| other.id == *task))
        }
        "tasks.list" => {
            lists(tasks.list(caller, None, goal, None, &page()).await, |other| other.id == *task)
        }
        "tasks.due" => {
            let found = tasks.due(caller, *due, due.plus_ms(1), &page()).await;
            lists(found, |other| other.id == *task)
        }
        "tasks.due_on" => {
            lists(tasks.due_on(caller, due.day(), &page()).await, |other| other.id == *task)
        }
        "tasks.update" => {
            let change = TaskChange::to_done(true);
            shows(tasks.update(caller, goal, task, change, None).await, |_| true)
        }
        "tasks.delete" => shows(tasks.delete(caller, goal, task, None).await, |_| true),
        other => panic!("no row handler for {other}"),
    }
}

async fn of_milestones(
    goal_fixture: &GoalFixture,
    town: &Town,
    operation: &str,
    caller: &Caller,
    user: &UserId,
) -> Answer {
    let (milestones, GoalFixture { goal, milestone, .. }) = (town.milestones(), goal_fixture);
    let owner = Some(user);
    match operation {
        "milestones.create" => {
            let new = NewMilestone::at(goal, Percentage::whole(50), "half");
            shows(milestones.create(caller, new, None).await, |_| true)
        }
        "milestones.get" => shows(milestones.get(caller, owner, goal, milestone).await, |_| true),
        "milestones.milestones" => {
            let place = (user.clone(), goal.clone(), milestone.clone());
            let found = milestones.milestones(caller, &[place]).await;
            shows(found, |found| found.iter().flatten().any(|other| other.id == *milestone))
        }
        "milestones.list" => {
            let found = milestones.list(caller, owner, goal, &page()).await;
            lists(found, |other| other.id == *milestone)
        }
        "milestones.timeline" => {
            let found = milestones.timeline(caller, owner, &page()).await;
            lists(found, |other| other.id == *milestone)
        }
        "milestones.update" => {
            let change = MilestoneChange::achieved();
            shows(milestones.update(caller, goal, milestone, change, None).await, |_| true)
        }
        "milestones.delete" => {
            shows(milestones.delete(caller, goal, milestone, None).await, |_| true)
        }
        other => panic!("no row handler for {other}"),
    }
}
