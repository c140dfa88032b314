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
        let me = self.context.authorize_write(caller).await?.id;
        let new = task.checked()?;
        let request = self.context.idempotent_request(&me, request, "createTask", &new)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: TaskOutcome| self.replayed(&me, outcome).await,
                async || {
                    let goal = owned_goal(&self.context, &me, &new.goal_id).await?;
                    goal.ok_or(TaskError::NoSuchGoal)?;
                    let id: TaskId = self.context.ids().next();
                    let shards = self.context.settings().shards.tasks.0;
                    let shard = Shard::of(&id.to_string(), shards);
                    let task = new.task(&me, id, shard, self.context.now());
                    let commit = self
                        .context
                        .commit()
                        .with("goal", Goal::at(&me, &task.goal_id).exists())
                        .with("task", task.create())
                        .recording(request.as_ref(), &TaskOutcome::of(&task))?;
                    Ok(commit.finish(task).await?)
                },
            )
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
        let me = self.context.authorize_write(caller).await?.id;
        let change = change.checked()?;
        let request =
            self.context.idempotent_request(&me, request, "updateTask", &(goal, id, &change))?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: TaskOutcome| self.replayed(&me, outcome).await,
                async || {
                    let before = self.own_task(&me, goal, id).await?;
                    let after = change.applied_to(&before, self.context.now());
                    let outcome = TaskOutcome::of(&before);
                    if (Task { updated_at: before.updated_at, ..after.clone() }) == before {
                        let request = request.as_ref();
                        return Ok(self
                            .context
                            .finish_unchanged(request, &outcome, before)
                            .await?);
                    }
                    let commit = self
                        .context
                        .commit()
                        .with("goal", Goal::at(&me, goal).exists())
                        .with("task", rekey(&before, &after)?)
                        .recording(request.as_ref(), &outcome)?;
                    let after = Task { version: before.version + 1, ..after };
                    Ok(commit.finish(after).await?)
                },
            )
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
        let me = self.context.authorize_write(caller).await?.id;
        let request = self.context.idempotent_request(&me, request, "deleteTask", &(goal, id))?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: TaskOutcome| self.replayed(&me, outcome).await,
                async || {
                    let task = self.own_task(&me, goal, id).await?;
                    // A replay returns which task it was, without its plan.
                    let outcome = TaskOutcome::Deleted(RemovedEntity(Task {
                        nlp_plan: None,
                        ..task.clone()
                    }));
                    let as_read = Task::VERSION.is(&task.version);
                    let commit = self
                        .context
                        .commit()
                        .with("goal", Goal::at(&me, goal).exists())
                        .with("task", task.key().delete().when(as_read))
                        .recording(request.as_ref(), &outcome)?;
                    Ok(commit.finish(task).await?)
                },
            )
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
