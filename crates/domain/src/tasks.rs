//! Steps towards goals (R10): made, changed, done, un-done, and taken away.
//!
//! A task is its goal's, and there as long as that is: every write demands the goal, and every read asks
//! for it. What follows from a task that is done (milestones, quests) is the processors'.

mod find;
mod input;
mod reads;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Goal, Task};
use roundtable_model::{Entity, GoalId, RequestId, Shard, TaskId, UserId, rekey};
use serde::{Deserialize, Serialize};

use crate::goals::kept;
use crate::once::Kept;
use crate::{Caller, Ground, refusals};

pub(crate) use find::find;
pub use input::{NewTask, TaskChange};
pub(crate) use reads::shown;

refusals! {
    /// Why a task was not changed or shown.
    TaskError {
        NoSuchGoal: NotFound = "there is no such goal",
        NoSuchTask: NotFound = "there is no such task",
    }
}

/// The tasks of everybody.
#[derive(Clone, Debug)]
pub struct Tasks {
    ground: Ground,
}

/// What a request led to: a task, or what is left of one that was taken away.
#[derive(Debug, Serialize, Deserialize)]
enum Outcome {
    Task(GoalId, TaskId),
    Deleted(Kept<Task>),
}

#[boxed]
impl Tasks {
    /// The tasks on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Adds a task to a goal of the caller's.
    pub async fn create(
        &self,
        caller: &Caller,
        task: NewTask,
        request: Option<&RequestId>,
    ) -> Result<Task, TaskError> {
        let me = self.ground.account(caller).await?.id;
        let new = task.checked()?;
        let request = self.ground.request(&me, request, "createTask", &new)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(&me, outcome).await,
                async || {
                    let goal = kept(&self.ground, &me, &new.goal_id).await?;
                    goal.ok_or(TaskError::NoSuchGoal)?;
                    let id: TaskId = self.ground.ids().next();
                    let shards = self.ground.settings().shards.tasks.0;
                    let shard = Shard::of(&id.to_string(), shards);
                    let task = new.task(&me, id, shard, self.ground.now());
                    let commit = self
                        .ground
                        .commit()
                        .with("goal", Goal::at(&me, &task.goal_id).exists())
                        .with("task", task.create())
                        .remembering(request.as_ref(), &Outcome::of(&task))?;
                    Ok(commit.done(task).await?)
                },
            )
            .await
    }

    /// Changes a task. Doing it says when it was done, once; un-doing it forgets that.
    pub async fn update(
        &self,
        caller: &Caller,
        goal: &GoalId,
        id: &TaskId,
        change: TaskChange,
        request: Option<&RequestId>,
    ) -> Result<Task, TaskError> {
        let me = self.ground.account(caller).await?.id;
        let change = change.checked()?;
        let request = self.ground.request(&me, request, "updateTask", &(goal, id, &change))?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(&me, outcome).await,
                async || {
                    let before = self.mine(&me, goal, id).await?;
                    let after = change.applied_to(&before, self.ground.now());
                    let outcome = Outcome::of(&before);
                    if (Task { updated_at: before.updated_at, ..after.clone() }) == before {
                        let request = request.as_ref();
                        return Ok(self.ground.nothing_to_do(request, &outcome, before).await?);
                    }
                    let commit = self
                        .ground
                        .commit()
                        .with("goal", Goal::at(&me, goal).exists())
                        .with("task", rekey(&before, &after)?)
                        .remembering(request.as_ref(), &outcome)?;
                    let after = Task { version: before.version + 1, ..after };
                    Ok(commit.done(after).await?)
                },
            )
            .await
    }

    /// Takes a task away; answers with it as it was.
    pub async fn delete(
        &self,
        caller: &Caller,
        goal: &GoalId,
        id: &TaskId,
        request: Option<&RequestId>,
    ) -> Result<Task, TaskError> {
        let me = self.ground.account(caller).await?.id;
        let request = self.ground.request(&me, request, "deleteTask", &(goal, id))?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(&me, outcome).await,
                async || {
                    let task = self.mine(&me, goal, id).await?;
                    // Sent again, the request tells which it was, and no longer how it was planned.
                    let outcome = Outcome::Deleted(Kept(Task { nlp_plan: None, ..task.clone() }));
                    let as_read = Task::VERSION.is(&task.version);
                    let commit = self
                        .ground
                        .commit()
                        .with("goal", Goal::at(&me, goal).exists())
                        .with("task", task.key().delete().when(as_read))
                        .remembering(request.as_ref(), &outcome)?;
                    Ok(commit.done(task).await?)
                },
            )
            .await
    }

    /// A task of a goal that is the caller's.
    async fn mine(&self, me: &UserId, goal: &GoalId, id: &TaskId) -> Result<Task, TaskError> {
        kept(&self.ground, me, goal).await?.ok_or(TaskError::NoSuchTask)?;
        let task = self.ground.core().task(goal, id).get().await?;
        task.filter(|task| task.user_id == *me).ok_or(TaskError::NoSuchTask)
    }

    /// A task as it is now; one that was taken away, as it was.
    async fn replayed(&self, me: &UserId, outcome: Outcome) -> Result<Task, TaskError> {
        match outcome {
            Outcome::Deleted(Kept(task)) => Ok(task),
            Outcome::Task(goal, id) => self.mine(me, &goal, &id).await,
        }
    }
}

impl Outcome {
    fn of(task: &Task) -> Self {
        Self::Task(task.goal_id.clone(), task.id.clone())
    }
}
