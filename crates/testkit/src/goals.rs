//! What the people of a town want to reach, and how far they have come.

use roundtable_domain::{
    GoalChange, Goals, MilestoneChange, Milestones, NewGoal, NewMilestone, NewTask, PageInput,
    TaskChange, Tasks, Timelines,
};
use roundtable_model::entities::{Activity, Goal, Milestone, Task};
use roundtable_model::table::Order;
use roundtable_model::{ActorId, GoalId, GoalStatus, Percentage, Time};

use crate::Town;

impl Town {
    /// The goals of this town.
    pub fn goals(&self) -> Goals {
        Goals::new(self.ground().clone())
    }

    /// The tasks of this town.
    pub fn tasks(&self) -> Tasks {
        Tasks::new(self.ground().clone())
    }

    /// The milestones of this town.
    pub fn milestones(&self) -> Milestones {
        Milestones::new(self.ground().clone())
    }

    /// The timelines of this town.
    pub fn timelines(&self) -> Timelines {
        Timelines::new(self.ground().clone())
    }

    /// Somebody sets a goal; a second passes.
    pub async fn set_goal(&self, name: &str, title: &str) -> Goal {
        self.set_goal_as(name, NewGoal::titled(title)).await
    }

    /// Somebody sets a goal; a second passes.
    pub async fn set_goal_as(&self, name: &str, goal: NewGoal) -> Goal {
        let goal = self.goals().create(&self.caller(name), goal, None).await.unwrap();
        self.pass_ms(1_000);
        goal
    }

    /// What becomes of somebody's goal; a second passes.
    pub async fn set_goal_status(&self, goal: &Goal, status: GoalStatus) -> Goal {
        let owner = self.caller(&goal.user_id.to_string());
        let goals = self.goals();
        let goal = goals.update(&owner, &goal.id, GoalChange::to(status), None).await.unwrap();
        self.pass_ms(1_000);
        goal
    }

    /// Somebody adds a task to a goal of theirs; a second passes.
    pub async fn add_task(&self, name: &str, goal: &GoalId, title: &str) -> Task {
        self.add_task_due(name, goal, title, None).await
    }

    /// Somebody adds a task that is due at some time; a second passes.
    pub async fn add_task_due(
        &self,
        name: &str,
        goal: &GoalId,
        title: &str,
        due_at: Option<Time>,
    ) -> Task {
        let task = NewTask { due_at, ..NewTask::titled(goal, title) };
        let task = self.tasks().create(&self.caller(name), task, None).await.unwrap();
        self.pass_ms(1_000);
        task
    }

    /// A task is done, or un-done, by its owner; a second passes.
    pub async fn mark_done(&self, task: &Task, done: bool) -> Task {
        let owner = self.caller(&task.user_id.to_string());
        let change = TaskChange::to_done(done);
        let task = self.tasks().update(&owner, &task.goal_id, &task.id, change, None).await;
        self.pass_ms(1_000);
        task.unwrap()
    }

    /// Somebody sets a milestone on the way to a goal of theirs; a second passes.
    pub async fn add_milestone(
        &self,
        name: &str,
        goal: &GoalId,
        percentage: u8,
        called: &str,
    ) -> Milestone {
        let milestone = NewMilestone::at(goal, Percentage::whole(percentage), called);
        let made = self.milestones().create(&self.caller(name), milestone, None).await.unwrap();
        self.pass_ms(1_000);
        made
    }

    /// A milestone is achieved by hand; a second passes.
    pub async fn achieve(&self, milestone: &Milestone) -> Milestone {
        let owner = self.caller(&milestone.user_id.to_string());
        let (goal, id) = (&milestone.goal_id, &milestone.id);
        let change = MilestoneChange::achieved();
        let after = self.milestones().update(&owner, goal, id, change, None).await.unwrap();
        self.pass_ms(1_000);
        after
    }

    /// The names of the milestones of a goal that are achieved, in the order they were set.
    pub async fn achieved(&self, goal: &Goal) -> Vec<String> {
        let (core, owner) = (self.ground().core(), &goal.user_id);
        let all = core.milestones(owner, &goal.id).strong().all().await.unwrap();
        all.into_iter().filter(|one| one.achieved).map(|one| one.name).collect()
    }

    /// What somebody is shown of what another one did, oldest first, in the words of its previews.
    pub async fn told(&self, viewer: &str, of: &str) -> Vec<String> {
        let (viewer, actor) = (self.caller(viewer), ActorId::from(&self.id(of)));
        let page = PageInput { limit: Some(100), after: None };
        let told = self.activities().of(Some(&viewer), &actor, Order::Ascending, &page).await;
        let activities: Vec<Activity> = told.unwrap().into_items();
        activities.into_iter().filter_map(|activity| activity.preview_text).collect()
    }
}
