//! Reads of tasks by id, goal and due time (R24).

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Task;
use roundtable_model::{CompactDay, Day, Entity, GoalId, InvalidValue, Span, TaskId, Time, UserId};

use super::{TaskError, Tasks};
use crate::access::{Permission, allows};
use crate::goals::{existing_goals, visible_goal, visible_goals};
use crate::pages::fill_page;
use crate::{Caller, Context, Page, PageInput, ServiceError};

#[boxed]
impl Tasks {
    pub async fn get(
        &self,
        caller: &Caller,
        goal: &GoalId,
        id: &TaskId,
    ) -> Result<Task, TaskError> {
        let me = self.context.authorize_read(caller).await?;
        let task = self.context.core().task(goal, id).get().await?.ok_or(TaskError::NoSuchTask)?;
        let goal = visible_goal(&self.context, caller, &me, Some(&task.user_id), goal).await?;
        goal.map(|_| task).ok_or(TaskError::NoSuchTask)
    }

    /// Returns tasks by goal and id, in the order given; `None` where the caller may not see one.
    pub async fn tasks(
        &self,
        caller: &Caller,
        item_keys: &[(GoalId, TaskId)],
    ) -> Result<Vec<Option<Task>>, TaskError> {
        let me = self.context.authorize_read(caller).await?;
        let at = item_keys.iter().map(|(goal, id)| Task::at(goal, id));
        let tasks = self.context.items_at("task", at).await?;
        let goal = |task: &Task| (task.user_id.clone(), task.goal_id.clone());
        let goals: Vec<_> = tasks.iter().flatten().map(goal).collect();
        let goals = visible_goals(&self.context, caller, &me, &goals).await?;
        let is_visible = |task: &Task| goals.contains_key(&goal(task));
        Ok(tasks.into_iter().map(|task| task.filter(is_visible)).collect())
    }

    /// Returns the tasks of a goal that the caller may see, oldest first, optionally only the done
    /// or open ones. The goal is the caller's own or, for admins, the owner's; without an owner, an
    /// admin finds it through one of its tasks.
    pub async fn list(
        &self,
        caller: &Caller,
        owner: Option<&UserId>,
        goal: &GoalId,
        done: Option<bool>,
        page: &PageInput,
    ) -> Result<Page<Task>, TaskError> {
        let me = self.context.authorize_read(caller).await?;
        let goal = visible_goal(&self.context, caller, &me, owner, goal).await?;
        let goal = goal.ok_or(TaskError::NoSuchGoal)?;
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().tasks(&goal.id).strong();
                let listing = listing.limit(limit).after(after);
                match done {
                    Some(done) => listing.filter_by(Task::DONE, &done).page().await,
                    None => listing.page().await,
                }
            },
            async |tasks: Vec<Task>| Ok(tasks.into_iter().map(Some).collect()),
        )
        .await
    }

    /// Returns the caller's open tasks due in `from..to`, most urgent first.
    pub async fn due(
        &self,
        caller: &Caller,
        from: Time,
        to: Time,
        page: &PageInput,
    ) -> Result<Page<Task>, TaskError> {
        let me = self.context.authorize_read(caller).await?.id;
        if to < from {
            return Err(ServiceError::bad_input(
                "to",
                InvalidValue::new("a time not before from", to),
            )
            .into());
        }
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().tasks_by_due(&me, Span::between(from, to));
                listing.filter_by(Task::DONE, &false).limit(limit).after(after).page().await
            },
            async |tasks: Vec<Task>| {
                Ok(due(with_existing_goals(&self.context, tasks).await?, from, to))
            },
        )
        .await
    }

    /// Returns all users' open tasks due on a day, most urgent first (R4). For admins.
    pub async fn due_on(
        &self,
        caller: &Caller,
        day: Day,
        page: &PageInput,
    ) -> Result<Page<Task>, TaskError> {
        let me = self.context.authorize_read(caller).await?;
        if !allows(Permission::SeeTasksDue, caller.relations(&me)) {
            return Err(ServiceError::Forbidden.into());
        }
        let shards = self.context.settings().shards.tasks.0;
        let due_day = CompactDay::from(day);
        let (from, to) = (day.start(), day.next().map_or(Time::MAX, Day::start));
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().tasks_due_on(&due_day, shards);
                listing.limit(limit).after(after).page().await
            },
            async |tasks: Vec<Task>| {
                let tasks = due(with_existing_goals(&self.context, tasks).await?, from, to);
                // Tasks of deleted accounts are not due.
                let owners = tasks.iter().flatten().map(|task| &task.user_id);
                let access = self.context.viewer_access_of(caller, &me, owners, []).await?;
                let is_listed = |task: &Task| access.visible_user(&task.user_id).is_some();
                Ok(tasks.into_iter().map(|task| task.filter(is_listed)).collect())
            },
        )
        .await
    }
}

/// Keeps the open tasks due in the range, since the index may be stale.
fn due(tasks: Vec<Option<Task>>, from: Time, to: Time) -> Vec<Option<Task>> {
    let span = Span::between(from, to);
    let is_due = |task: &Task| !task.done && task.due_at.is_some_and(|at| span.contains(&at));
    tasks.into_iter().map(|task| task.filter(is_due)).collect()
}

/// Re-reads tasks found through an index, and keeps those whose goal exists.
pub(crate) async fn with_existing_goals(
    context: &Context,
    tasks: Vec<Task>,
) -> Result<Vec<Option<Task>>, ServiceError> {
    let goals =
        existing_goals(context, tasks.iter().map(|task| (&task.user_id, &task.goal_id))).await?;
    let tasks = reread(context, tasks).await?;
    let is_listed = |task: &Task| goals.contains(&task.goal_id);
    Ok(tasks.into_iter().map(|task| task.filter(is_listed)).collect())
}

/// Re-reads tasks found through an index that may be stale.
async fn reread(context: &Context, tasks: Vec<Task>) -> Result<Vec<Option<Task>>, ServiceError> {
    if context.store().capabilities().strong_index_reads {
        return Ok(tasks.into_iter().map(Some).collect());
    }
    Ok(context.items_at("task", tasks.iter().map(Entity::key)).await?)
}
