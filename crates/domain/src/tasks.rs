//! Tasks: steps towards goals (R10), created, updated, done, reopened and deleted.
//!
//! A task belongs to its goal and exists as long as the goal does: every write and every read
//! checks the goal. Processors handle the consequences of a done task (milestones, quests).

mod find;
mod input;
mod reads;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Goal, Task};
use roundtable_model::{Entity, GoalId, RequestId, Shard, TaskId, UserId, rekey};
use serde::{Deserialize, Serialize};

use crate::goals::owned_goal;
use crate::idempotency::RemovedEntity;
use crate::{Caller, Context, refusals};

pub(crate) use find::find;
pub use input::{NewTask, TaskChange};
pub(crate) use reads::with_existing_goals;

refusals! {
    TaskError {
        NoSuchGoal: NotFound = "there is no such goal",
        NoSuchTask: NotFound = "there is no such task",
    }
}

#[derive(Clone, Debug)]
pub struct Tasks {
    context: Context,
}

#[derive(Debug, Serialize, Deserialize)]
enum TaskOutcome {
    Task(GoalId, TaskId),
    Deleted(RemovedEntity<Task>),
}

#[boxed]
impl Tasks {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Adds a task to the caller's own goal.
    pub async fn create(
        &self,
        caller: &Caller,
        task: NewTask,
        request: Option<&RequestId>,
    ) -> Result<Task, TaskError> {
        let mutation = self.context.mutation(caller).await?;
        let new = task.checked()?;
        mutation
            .once("createTask", &new, request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                let goal = owned_goal(&self.context, &me.id, &new.goal_id).await?;
                goal.ok_or(TaskError::NoSuchGoal)?;
                let id: TaskId = self.context.ids().next();
                let shards = self.context.settings().shards.tasks.0;
                let shard = Shard::of(&id.to_string(), shards);
                let task = new.task(&me.id, id, shard, self.context.now());
                attempt
                    .commit()
                    .with("goal", Goal::at(&me.id, &task.goal_id).exists())
                    .with("task", task.create())
                    .finish(TaskOutcome::of(&task), task)
                    .await
            })
            .await
    }

    /// Updates a task. Completing it records the time once; reopening it clears the time.
    pub async fn update(
        &self,
        caller: &Caller,
        goal: &GoalId,
        id: &TaskId,
        change: TaskChange,
        request: Option<&RequestId>,
    ) -> Result<Task, TaskError> {
        let mutation = self.context.mutation(caller).await?;
        let change = change.checked()?;
        mutation
            .once("updateTask", &(goal, id, &change), request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                let before = self.own_task(&me.id, goal, id).await?;
                let after = change.applied_to(&before, self.context.now());
                let outcome = TaskOutcome::of(&before);
                if (Task { updated_at: before.updated_at, ..after.clone() }) == before {
                    return attempt.unchanged(outcome, before).await;
                }
                attempt
                    .commit()
                    .with("goal", Goal::at(&me.id, goal).exists())
                    .with("task", rekey(&before, &after)?)
                    .finish(outcome, Task { version: before.version + 1, ..after })
                    .await
            })
            .await
    }

    /// Deletes a task and returns it as it was.
    pub async fn delete(
        &self,
        caller: &Caller,
        goal: &GoalId,
        id: &TaskId,
        request: Option<&RequestId>,
    ) -> Result<Task, TaskError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("deleteTask", &(goal, id), request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                let task = self.own_task(&me.id, goal, id).await?;
                // A replay returns which task it was, without its plan.
                let outcome =
                    TaskOutcome::Deleted(RemovedEntity(Task { nlp_plan: None, ..task.clone() }));
                let as_read = Task::VERSION.is(&task.version);
                attempt
                    .commit()
                    .with("goal", Goal::at(&me.id, goal).exists())
                    .with("task", task.key().delete().when(as_read))
                    .finish(outcome, task)
                    .await
            })
            .await
    }

    async fn own_task(&self, me: &UserId, goal: &GoalId, id: &TaskId) -> Result<Task, TaskError> {
        owned_goal(&self.context, me, goal).await?.ok_or(TaskError::NoSuchTask)?;
        let task = self.context.core().task(goal, id).get().await?;
        task.filter(|task| task.user_id == *me).ok_or(TaskError::NoSuchTask)
    }

    /// Returns the task as it is now; a deleted one as it was.
    async fn replayed(&self, me: &UserId, outcome: TaskOutcome) -> Result<Task, TaskError> {
        match outcome {
            TaskOutcome::Deleted(RemovedEntity(task)) => Ok(task),
            TaskOutcome::Task(goal, id) => self.own_task(me, &goal, &id).await,
        }
    }
}

impl TaskOutcome {
    fn of(task: &Task) -> Self {
        Self::Task(task.goal_id.clone(), task.id.clone())
    }
}
