//! What people want to reach, with a secret in every text of it, and everything that shows it.

use roundtable_domain::{Caller, NewGoal, NewTask};
use roundtable_model::table::Order;
use roundtable_model::{EntityKind, GoalId, GoalStatus, Json, MilestoneId, TaskId, Time, UserId};

use super::reads::Reader;
use super::secrets::{Hidden, VIEWERS, all_but};

/// A goal with a task that is due and a milestone.
pub(crate) struct Plan {
    owner: &'static str,
    goal: GoalId,
    task: TaskId,
    milestone: MilestoneId,
    due: Time,
}

impl Hidden {
    /// Goals of somebody, of whom most see nothing, with who is meant to see what.
    pub(crate) async fn goals(&mut self) {
        self.plan("ana", "goal", &["ana", "ada"]).await;
        self.plan("pia", "private-accounts-goal", &["pia", "ada"]).await;
        self.plan("sid", "suspended-goal", &["ada"]).await;
        self.plan("dan", "deleted-accounts-goal", &[]).await;
        self.plan("ana", "deleted-goal", &[]).await;
        // What is completed is told to whoever may see who completed it, and nothing else of it.
        let shown = all_but(&["bex", "bob"]);
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
        let plan = Json::of(&text("plan")).unwrap();
        let town = &self.town;
        let goal = town.set_goal_as(owner, goal).await.id;
        let due = town.now().plus_ms(60_000);
        let task =
            NewTask { due_at: Some(due), nlp_plan: Some(plan), ..NewTask::titled(&goal, title) };
        let task = town.tasks().create(&town.caller(owner), task, None).await.unwrap().id;
        let milestone = town.add_milestone(owner, &goal, 50, &called).await.id;
        self.plans.push(Plan { owner, goal, task, milestone, due });
    }

    /// The goal that is deleted is the last one that was planned.
    pub(crate) async fn give_up(&self) {
        let plan = self.plans.last().unwrap();
        let owner = self.town.caller(plan.owner);
        self.town.goals().delete(&owner, &plan.goal, None).await.unwrap();
    }
}

impl Reader<'_> {
    /// What everybody may ask about what somebody did and made.
    pub(crate) async fn timelines(&mut self) {
        let Self { hidden: Hidden { town, .. }, viewer, .. } = *self;
        let timelines = town.timelines();
        for name in VIEWERS.into_iter().filter(|name| *name != "nobody") {
            let id: UserId = town.id(name);
            for order in [Order::Ascending, Order::Descending] {
                self.list(format!("timeline of {name}"), async |page| {
                    timelines.of(viewer, &id, None, order, &page).await
                })
                .await;
            }
            // Most secrets are theirs.
            let is_secretive = ["ana", "pia", "sid", "dan"].contains(&name);
            for kind in EntityKind::ALL.iter().filter(|_| is_secretive) {
                self.list(format!("{kind} of {name}"), async |page| {
                    timelines.of(viewer, &id, Some(*kind), Order::Descending, &page).await
                })
                .await;
            }
        }
    }

    /// What somebody signed in may ask about goals.
    pub(crate) async fn goals(&mut self, caller: &Caller) {
        let Self { hidden: Hidden { town, plans, .. }, .. } = *self;
        let (goals, tasks, milestones) = (town.goals(), town.tasks(), town.milestones());
        let places: Vec<(UserId, GoalId)> =
            plans.iter().map(|plan| (town.id(plan.owner), plan.goal.clone())).collect();
        self.note("goals in their places", goals.goals(caller, &places).await);
        for Plan { owner, goal, task, milestone, due } in plans {
            let owner = town.id(owner);
            for owner in [None, Some(&owner)] {
                self.note("goal", goals.get(caller, owner, goal).await);
                self.list("goals", async |page| goals.list(caller, owner, &page).await).await;
                let found = milestones.get(caller, owner, goal, milestone).await;
                self.note("milestone", found);
                self.list("milestones", async |page| {
                    milestones.list(caller, owner, goal, &page).await
                })
                .await;
                self.list("milestones by time", async |page| {
                    milestones.timeline(caller, owner, &page).await
                })
                .await;
            }
            self.note("task", tasks.get(caller, goal, task).await);
            self.note("task by id", tasks.by_id(caller, task).await);
            for (done, owner) in [(None, None), (Some(true), None), (Some(false), Some(&owner))] {
                self.list("tasks", async |page| tasks.list(caller, owner, goal, done, &page).await)
                    .await;
            }
            self.list("tasks due", async |page| {
                tasks.due(caller, Time::EPOCH, due.plus_ms(1), &page).await
            })
            .await;
            self.list("tasks due on a day", async |page| {
                tasks.due_on(caller, due.day(), &page).await
            })
            .await;
        }
    }
}
