//! Goals, tasks and milestones, which only their owner and admins see.

mod mutations;

use roundtable_graphql_macros::{fields, object};
use roundtable_interface::{ApiError, none_if_hidden};
use roundtable_model::{Day, GoalId, MilestoneId, TaskId, Time, UserId, entities};

pub(crate) use self::mutations::GoalMutations;
use crate::connection::{Connection, PageArguments};
use crate::node::node_id;
use crate::objects::{converted, objects};
use crate::request::RequestContext;
use crate::scalars::Json;
use crate::users::User;

objects! {
    Goal of entities::Goal;
    Task of entities::Task;
    /// A milestone is achieved by hand, or when a percentage of the goal's tasks is done.
    Milestone of entities::Milestone;
}

impl Goal {
    /// Returns goals in the order of their keys; `None` where the viewer may not see one.
    pub(crate) async fn load(
        context: &RequestContext,
        keys: &[(UserId, GoalId)],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let Some(caller) = context.viewer() else { return Ok(vec![None; keys.len()]) };
        Ok(converted(context.services().goals().goals(caller, keys).await?))
    }
}

#[object(of = self.0)]
impl Goal {
    fn node_id(&self) -> String {
        node_id("Goal", &[&self.0.user_id, &self.0.id])
    }

    fn user(&self) -> &UserId {
        &self.0.user_id
    }

    async fn tasks(
        &self,
        context: &RequestContext,
        done: Option<bool>,
        paging: PageArguments,
    ) -> Result<Connection<Task>, ApiError> {
        let owner = Some(&self.0.user_id);
        let list = list_tasks(context, owner, &self.0.id, done, paging).await;
        Connection::empty_if_hidden(list)
    }

    async fn milestones(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Milestone>, ApiError> {
        let owner = Some(&self.0.user_id);
        let list = list_milestones(context, owner, &self.0.id, paging).await;
        Connection::empty_if_hidden(list)
    }
}

impl Task {
    /// Returns tasks in the order of their keys; `None` where the viewer may not see one.
    pub(crate) async fn load(
        context: &RequestContext,
        keys: &[(GoalId, TaskId)],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let Some(caller) = context.viewer() else { return Ok(vec![None; keys.len()]) };
        Ok(converted(context.services().tasks().tasks(caller, keys).await?))
    }
}

#[object(of = self.0)]
impl Task {
    fn node_id(&self) -> String {
        node_id("Task", &[&self.0.goal_id, &self.0.id])
    }

    async fn goal(tasks: &[Self], context: &RequestContext) -> Result<Vec<Option<Goal>>, ApiError> {
        let key = |task: &Self| (task.0.user_id.clone(), task.0.goal_id.clone());
        let keys: Vec<(UserId, GoalId)> = tasks.iter().map(key).collect();
        Goal::load(context, &keys).await
    }

    fn nlp_plan(&self) -> Option<Json> {
        self.0.nlp_plan.as_ref()?.decode().ok().map(Json)
    }
}

impl Milestone {
    /// Returns milestones in the order of their keys; `None` where the viewer may not see one.
    pub(crate) async fn load(
        context: &RequestContext,
        keys: &[(UserId, GoalId, MilestoneId)],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let Some(caller) = context.viewer() else { return Ok(vec![None; keys.len()]) };
        Ok(converted(context.services().milestones().milestones(caller, keys).await?))
    }
}

#[object(of = self.0)]
impl Milestone {
    fn node_id(&self) -> String {
        node_id("Milestone", &[&self.0.user_id, &self.0.goal_id, &self.0.id])
    }

    fn percentage(&self) -> f64 {
        self.0.percentage.value()
    }
}

pub(crate) async fn list_goals(
    context: &RequestContext,
    owner: &UserId,
    paging: PageArguments,
) -> Result<Connection<Goal>, ApiError> {
    let (caller, goals) = (context.caller()?, context.services().goals());
    let list = format!("goals of {owner}");
    paging.read(context, &list, async |page| goals.list(caller, Some(owner), page).await).await
}

async fn list_tasks(
    context: &RequestContext,
    owner: Option<&UserId>,
    goal: &GoalId,
    done: Option<bool>,
    paging: PageArguments,
) -> Result<Connection<Task>, ApiError> {
    let (caller, tasks) = (context.caller()?, context.services().tasks());
    let list = format!("tasks of {goal}, {done:?}");
    let read = async |page: &_| tasks.list(caller, owner, goal, done, page).await;
    paging.read(context, &list, read).await
}

async fn list_milestones(
    context: &RequestContext,
    owner: Option<&UserId>,
    goal: &GoalId,
    paging: PageArguments,
) -> Result<Connection<Milestone>, ApiError> {
    let (caller, milestones) = (context.caller()?, context.services().milestones());
    let list = format!("milestones of {goal}");
    let read = async |page: &_| milestones.list(caller, owner, goal, page).await;
    paging.read(context, &list, read).await
}

async fn list_milestones_by_user(
    context: &RequestContext,
    owner: &UserId,
    paging: PageArguments,
) -> Result<Connection<Milestone>, ApiError> {
    let (caller, milestones) = (context.caller()?, context.services().milestones());
    let list = format!("milestones by {owner}");
    let read = async |page: &_| milestones.timeline(caller, Some(owner), page).await;
    paging.read(context, &list, read).await
}

pub(crate) struct GoalQueries;

#[fields(Query)]
impl GoalQueries {
    async fn get_goal(
        context: &RequestContext,
        id: GoalId,
        user_id: Option<UserId>,
    ) -> Result<Option<Goal>, ApiError> {
        let (goals, caller) = (context.services().goals(), context.caller()?);
        let goal = goals.get(caller, user_id.as_ref(), &id).await;
        Ok(none_if_hidden(goal.map_err(ApiError::from))?.map(Goal::from))
    }

    async fn list_goals(
        context: &RequestContext,
        user_id: Option<UserId>,
        paging: PageArguments,
    ) -> Result<Connection<Goal>, ApiError> {
        list_goals(context, &context.user_or_caller(user_id)?, paging).await
    }

    async fn get_task(
        context: &RequestContext,
        goal_id: GoalId,
        id: TaskId,
    ) -> Result<Option<Task>, ApiError> {
        let task = context.services().tasks().get(context.caller()?, &goal_id, &id).await;
        Ok(none_if_hidden(task.map_err(ApiError::from))?.map(Task::from))
    }

    async fn list_tasks(
        context: &RequestContext,
        goal_id: GoalId,
        paging: PageArguments,
    ) -> Result<Connection<Task>, ApiError> {
        list_tasks(context, None, &goal_id, None, paging).await
    }

    async fn list_tasks_due(
        context: &RequestContext,
        from: Option<Time>,
        to: Option<Time>,
        day: Option<Day>,
        paging: PageArguments,
    ) -> Result<Connection<Task>, ApiError> {
        let (caller, tasks) = (context.caller()?, context.services().tasks());
        match (from, to, day) {
            (Some(from), Some(to), None) => {
                let list = format!("tasks due from {from} to {to}");
                let read = async |page: &_| tasks.due(caller, from, to, page).await;
                paging.read(context, &list, read).await
            }
            (None, None, Some(day)) => {
                let list = format!("tasks due on {day}");
                paging
                    .read(context, &list, async |page| tasks.due_on(caller, day, page).await)
                    .await
            }
            _ => Err(ApiError::bad_request("day: expected either `from` and `to`, or `day`")),
        }
    }

    async fn get_milestone(
        context: &RequestContext,
        goal_id: GoalId,
        id: MilestoneId,
        user_id: Option<UserId>,
    ) -> Result<Option<Milestone>, ApiError> {
        let (milestones, caller) = (context.services().milestones(), context.caller()?);
        let milestone = milestones.get(caller, user_id.as_ref(), &goal_id, &id).await;
        Ok(none_if_hidden(milestone.map_err(ApiError::from))?.map(Milestone::from))
    }

    async fn list_milestones(
        context: &RequestContext,
        goal_id: Option<GoalId>,
        user_id: Option<UserId>,
        paging: PageArguments,
    ) -> Result<Connection<Milestone>, ApiError> {
        if let Some(goal) = goal_id {
            return list_milestones(context, user_id.as_ref(), &goal, paging).await;
        }
        let owner = context.user_or_caller(user_id)?;
        list_milestones_by_user(context, &owner, paging).await
    }
}
