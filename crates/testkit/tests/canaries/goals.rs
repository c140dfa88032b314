//! All reads that show goals.

use roundtable_domain::Caller;
use roundtable_model::table::Order;
use roundtable_model::{EntityKind, GoalId, Time, UserId};
use roundtable_testkit::{SecretGoal, SecretTown, VIEWERS};

use super::reads::Reader;

impl Reader<'_> {
    /// Reads that are open to all viewers.
    pub(crate) async fn timelines(&mut self) {
        let Self { secrets: SecretTown { town, .. }, viewer, .. } = *self;
        let timelines = town.timelines();
        for name in VIEWERS.into_iter().filter(|name| *name != "nobody") {
            let id: UserId = town.id(name);
            for order in [Order::Ascending, Order::Descending] {
                self.list(format!("timeline of {name}"), async |page| {
                    timelines.of(viewer, &id, None, order, &page).await
                })
                .await;
            }
            // These users own most secrets.
            let is_secretive = ["ana", "pia", "sid", "dan"].contains(&name);
            for kind in EntityKind::ALL.iter().filter(|_| is_secretive) {
                self.list(format!("{kind} of {name}"), async |page| {
                    timelines.of(viewer, &id, Some(*kind), Order::Descending, &page).await
                })
                .await;
            }
        }
    }

    /// Reads that require a signed-in user.
    pub(crate) async fn goals(&mut self, caller: &Caller) {
        let Self { secrets: SecretTown { town, secret_goals, .. }, .. } = *self;
        let (goals, tasks, milestones) = (town.goals(), town.tasks(), town.milestones());
        let places: Vec<(UserId, GoalId)> =
            secret_goals.iter().map(|plan| (town.id(plan.owner), plan.goal.clone())).collect();
        self.note("goals in their places", goals.goals(caller, &places).await);
        for SecretGoal { owner, goal, task, milestone, due } in secret_goals {
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
            let place = (goal.clone(), task.clone());
            self.note("task in its place", tasks.tasks(caller, &[place]).await);
            let place = (owner.clone(), goal.clone(), milestone.clone());
            self.note("milestone in its place", milestones.milestones(caller, &[place]).await);
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
