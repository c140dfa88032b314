//! Goals, tasks and milestones of a town. Each change advances the clock by a second.

use roundtable_domain::{
    GoalChange, Goals, MilestoneChange, Milestones, NewGoal, NewMilestone, NewTask, PageInput,
    TaskChange, Tasks, Timelines,
};
use roundtable_model::entities::{Activity, Goal, Milestone, Task};
use roundtable_model::table::Order;
use roundtable_model::{ActorId, GoalId, GoalStatus, Percentage, Time};

use crate::Town;

impl Town {
    pub fn goals(&self) -> Goals {
        Goals::new(self.context().clone())
    }

    pub fn tasks(&self) -> Tasks {
        Tasks::new(self.context().clone())
    }

    pub fn milestones(&self) -> Milestones {
        Milestones::new(self.context().clone())
    }

    pub fn timelines(&self) -> Timelines {
        Timelines::new(self.context().clone())
    }

    pub async fn set_goal(&self, name: &str, title: &str) -> Goal {
        self.set_goal_as(name, NewGoal::titled(title)).await
    }

    pub async fn set_goal_as(&self, name: &str, goal: NewGoal) -> Goal {
        let goal = self.goals().create(&self.caller(name), goal, None).await.unwrap();
        self.advance_ms(1_000);
        goal
    }

    pub async fn set_goal_status(&self, goal: &Goal, status: GoalStatus) -> Goal {
        let owner = self.caller(&goal.user_id.to_string());
        let goals = self.goals();
        let goal = goals.update(&owner, &goal.id, GoalChange::to(status), None).await.unwrap();
        self.advance_ms(1_000);
        goal
    }

    pub async fn add_task(&self, name: &str, goal: &GoalId, title: &str) -> Task {
        self.add_task_due(name, goal, title, None).await
    }

    pub async fn add_task_due(
        &self,
        name: &str,
        goal: &GoalId,
        title: &str,
        due_at: Option<Time>,
    ) -> Task {
        let task = NewTask { due_at, ..NewTask::titled(goal, title) };
        let task = self.tasks().create(&self.caller(name), task, None).await.unwrap();
        self.advance_ms(1_000);
        task
    }

    /// Marks a task as done or not done, by its owner.
    pub async fn mark_done(&self, task: &Task, done: bool) -> Task {
        let owner = self.caller(&task.user_id.to_string());
        let change = TaskChange::to_done(done);
        let task = self.tasks().update(&owner, &task.goal_id, &task.id, change, None).await;
        self.advance_ms(1_000);
        task.unwrap()
    }

    pub async fn add_milestone(
        &self,
        name: &str,
        goal: &GoalId,
        percentage: u8,
        called: &str,
    ) -> Milestone {
        let milestone = NewMilestone::at(goal, Percentage::whole(percentage), called);
        let made = self.milestones().create(&self.caller(name), milestone, None).await.unwrap();
        self.advance_ms(1_000);
        made
    }

    /// Marks a milestone as achieved, by its owner.
    pub async fn achieve(&self, milestone: &Milestone) -> Milestone {
        let owner = self.caller(&milestone.user_id.to_string());
        let (goal, id) = (&milestone.goal_id, &milestone.id);
        let change = MilestoneChange::achieved();
        let after = self.milestones().update(&owner, goal, id, change, None).await.unwrap();
        self.advance_ms(1_000);
        after
    }

    /// Returns the names of a goal's achieved milestones, in order of creation.
    pub async fn achieved(&self, goal: &Goal) -> Vec<String> {
        let (core, owner) = (self.context().core(), &goal.user_id);
        let all = core.milestones(owner, &goal.id).strong().all().await.unwrap();
        all.into_iter().filter(|one| one.achieved).map(|one| one.name).collect()
    }

    /// Returns the preview texts of a user's activities that the viewer may see, oldest first.
    pub async fn previews(&self, viewer: &str, of: &str) -> Vec<String> {
        let (viewer, actor) = (self.caller(viewer), ActorId::from(&self.id(of)));
        let page = PageInput { limit: Some(100), after: None };
        let told = self.activities().of(Some(&viewer), &actor, Order::Ascending, &page).await;
        let activities: Vec<Activity> = told.unwrap().into_items();
        activities.into_iter().filter_map(|activity| activity.preview_text).collect()
    }
}
