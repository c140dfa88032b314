//! Secrets in goals, tasks and milestones.

use roundtable_domain::{NewGoal, NewTask};
use roundtable_model::{GoalId, GoalStatus, Json, MilestoneId, TaskId, Time};

use super::{SecretTown, viewers_except};

/// A goal with a task and a milestone.
#[derive(Debug)]
pub struct SecretGoal {
    pub owner: &'static str,
    pub goal: GoalId,
    pub task: TaskId,
    pub milestone: MilestoneId,
    /// Due time of the task.
    pub due: Time,
}

impl SecretTown {
    pub(crate) async fn goals(&mut self) {
        self.plan("ana", "goal", &["ana", "ada"]).await;
        self.plan("pia", "private-accounts-goal", &["pia", "ada"]).await;
        self.plan("sid", "suspended-goal", &["ada"]).await;
        self.plan("dan", "deleted-accounts-goal", &[]).await;
        self.plan("ana", "deleted-goal", &[]).await;
        // The title of a completed goal is visible to viewers who may see its owner; nothing else
        // is.
        let shown = viewers_except(&["bex", "bob"]);
        for (owner, name, seen_by) in [
            ("ana", "completed-goal", shown.as_slice()),
            ("pia", "private-accounts-completed-goal", &["pia", "fay", "mo", "ada"]),
        ] {
            let title = self.secret(name, seen_by);
            let goal = self.town.set_goal(owner, &title).await;
            self.town.set_goal_status(&goal, GoalStatus::Completed).await;
        }
        let name = self.secret("milestone-by-tasks", &shown);
        let goal = self.town.set_goal("ana", "open").await.id;
        self.town.add_milestone("ana", &goal, 100, &name).await;
        let task = self.town.add_task("ana", &goal, "all there is").await;
        self.town.mark_done(&task, true).await;
    }

    async fn plan(&mut self, owner: &'static str, name: &'static str, seen_by: &[&'static str]) {
        let mut text = |of: &str| {
            let name: &'static str = format!("{name}-{of}").leak();
            self.secret(name, seen_by)
        };
        let goal = NewGoal {
            description: Some(text("description")),
            tags: vec!["town".parse().unwrap(), text("tag").parse().unwrap()],
            ..NewGoal::titled(text("title"))
        };
        let (title, called) = (text("task"), text("milestone"));
        let plan = Json::encode(&text("plan")).unwrap();
        let town = &self.town;
        let goal = town.set_goal_as(owner, goal).await.id;
        let due = town.now().plus_ms(60_000);
        let task =
            NewTask { due_at: Some(due), nlp_plan: Some(plan), ..NewTask::titled(&goal, title) };
        let task = town.tasks().create(&town.caller(owner), task, None).await.unwrap().id;
        let milestone = town.add_milestone(owner, &goal, 50, &called).await.id;
        self.secret_goals.push(SecretGoal { owner, goal, task, milestone, due });
    }

    pub(crate) async fn delete_last_goal(&self) {
        let plan = self.secret_goals.last().unwrap();
        let owner = self.town.caller(plan.owner);
        self.town.goals().delete(&owner, &plan.goal, None).await.unwrap();
    }
}
