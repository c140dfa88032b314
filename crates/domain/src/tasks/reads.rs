//! Tasks by id, by goal, and by when they are due (R24).

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Task;
use roundtable_model::{CompactDay, Day, Entity, GoalId, Misfit, Span, TaskId, Time, UserId};

use super::{TaskError, Tasks};
use crate::access::{Act, Standing, allows};
use crate::goals::{all_found, found, is_admin, present};
use crate::pages::fill;
use crate::{Caller, Failure, Ground, Page, PageInput};

#[boxed]
impl Tasks {
    /// A task of a goal that the caller may see.
    pub async fn get(
        &self,
        caller: &Caller,
        goal: &GoalId,
        id: &TaskId,
    ) -> Result<Task, TaskError> {
        let me = self.ground.reader(caller).await?;
        let task = self.ground.core().task(goal, id).get().await?.ok_or(TaskError::NoSuchTask)?;
        let goal = found(&self.ground, caller, &me, Some(&task.user_id), goal).await?;
        goal.map(|_| task).ok_or(TaskError::NoSuchTask)
    }

    /// Tasks by their goals and ids, each in its place; `None` where there is none for the caller.
    pub async fn tasks(
        &self,
        caller: &Caller,
        places: &[(GoalId, TaskId)],
    ) -> Result<Vec<Option<Task>>, TaskError> {
        let me = self.ground.reader(caller).await?;
        let at = places.iter().map(|(goal, id)| Task::at(goal, id));
        let tasks = self.ground.at("task", at).await?;
        let goal = |task: &Task| (task.user_id.clone(), task.goal_id.clone());
        let goals: Vec<_> = tasks.iter().flatten().map(goal).collect();
        let goals = all_found(&self.ground, caller, &me, &goals).await?;
        let shows = |task: &Task| goals.contains_key(&goal(task));
        Ok(tasks.into_iter().map(|task| task.filter(shows)).collect())
    }

    /// The tasks of a goal that the caller may see, in the order they were added: all of them, only those
    /// that are done, or only those that are not. The goal is the caller's own, or, for admins, of this
    /// owner; without one, an admin is led to the owner by a task.
    pub async fn list(
        &self,
        caller: &Caller,
        owner: Option<&UserId>,
        goal: &GoalId,
        done: Option<bool>,
        page: &PageInput,
    ) -> Result<Page<Task>, TaskError> {
        let me = self.ground.reader(caller).await?;
        let goal = found(&self.ground, caller, &me, owner, goal).await?;
        let goal = goal.ok_or(TaskError::NoSuchGoal)?;
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().tasks(&goal.id).strong();
                let listing = listing.limit(limit).after(after);
                match done {
                    Some(done) => listing.with(Task::DONE, &done).page().await,
                    None => listing.page().await,
                }
            },
            async |tasks: Vec<Task>| Ok(tasks.into_iter().map(Some).collect()),
        )
        .await
    }

    /// The caller's open tasks that are due from one time to before the other, the most urgent first.
    pub async fn due(
        &self,
        caller: &Caller,
        from: Time,
        to: Time,
        page: &PageInput,
    ) -> Result<Page<Task>, TaskError> {
        let me = self.ground.reader(caller).await?.id;
        if to < from {
            return Err(
                Failure::bad("to", Misfit::new("a time that is not before from", to)).into()
            );
        }
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().tasks_by_due(&me, Span::between(from, to));
                listing.with(Task::DONE, &false).limit(limit).after(after).page().await
            },
            async |tasks: Vec<Task>| Ok(due(shown(&self.ground, tasks).await?, from, to)),
        )
        .await
    }

    /// Everybody's open tasks that are due on a day, the most urgent first (R4). For admins.
    pub async fn due_on(
        &self,
        caller: &Caller,
        day: Day,
        page: &PageInput,
    ) -> Result<Page<Task>, TaskError> {
        let me = self.ground.reader(caller).await?;
        let standing = Standing::SIGNED_IN.and_if(is_admin(caller, &me), Standing::ADMIN);
        if !allows(Act::SeeTasksDue, standing) {
            return Err(Failure::Forbidden.into());
        }
        let shards = self.ground.settings().shards.tasks.0;
        let due_day = CompactDay::from(day);
        let (from, to) = (day.start(), day.next().map_or(Time::MAX, Day::start));
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().tasks_due_on(&due_day, shards);
                listing.limit(limit).after(after).page().await
            },
            async |tasks: Vec<Task>| {
                let tasks = due(shown(&self.ground, tasks).await?, from, to);
                // Of somebody whose account is gone nothing is due.
                let owners = tasks.iter().flatten().map(|task| &task.user_id);
                let sight = self.ground.sight_of(caller, &me, owners, []).await?;
                let there = |task: &Task| sight.person(&task.user_id).is_some();
                Ok(tasks.into_iter().map(|task| task.filter(there)).collect())
            },
        )
        .await
    }
}

/// Those that are open and due then: an index may be behind.
fn due(tasks: Vec<Option<Task>>, from: Time, to: Time) -> Vec<Option<Task>> {
    let span = Span::between(from, to);
    let is_due = |task: &Task| !task.done && task.due_at.is_some_and(|at| span.contains(&at));
    tasks.into_iter().map(|task| task.filter(is_due)).collect()
}

/// Tasks that an index told of, as they are now, each in its place: those whose goal is there.
pub(crate) async fn shown(ground: &Ground, tasks: Vec<Task>) -> Result<Vec<Option<Task>>, Failure> {
    let goals = present(ground, tasks.iter().map(|task| (&task.user_id, &task.goal_id))).await?;
    let tasks = current(ground, tasks).await?;
    let there = |task: &Task| goals.contains(&task.goal_id);
    Ok(tasks.into_iter().map(|task| task.filter(there)).collect())
}

/// Tasks that an index told of, as they are now. Where indexes are never behind, they are already.
async fn current(ground: &Ground, tasks: Vec<Task>) -> Result<Vec<Option<Task>>, Failure> {
    if ground.store().capabilities().strong_index_reads {
        return Ok(tasks.into_iter().map(Some).collect());
    }
    Ok(ground.at("task", tasks.iter().map(Entity::key)).await?)
}
