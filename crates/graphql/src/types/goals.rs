//! GraphQL types of goals, tasks and milestones, which only their owner and admins see.

use async_graphql::{Context, ID, Object};
use roundtable_model::{GoalId, GoalStatus, MilestoneId, TaskId, Time, UserId, entities};

use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::loaders::GoalKey;
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime, Json};

#[derive(Clone, Debug)]
pub(crate) struct Goal(pub(crate) entities::Goal);

impl From<entities::Goal> for Goal {
    fn from(goal: entities::Goal) -> Self {
        Self(goal)
    }
}

impl Goal {
    pub(crate) async fn load(
        ctx: &Context<'_>,
        owner: &UserId,
        id: &GoalId,
    ) -> Result<Option<Self>, ApiError> {
        let key = GoalKey(owner.clone(), id.clone());
        Ok(RequestContext::of(ctx)?.loaders.load(key).await?.map(Self))
    }
}

#[Object]
impl Goal {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Goal", &[&self.0.user_id.to_string(), &self.0.id.to_string()])
    }

    async fn id(&self) -> ApiId<&GoalId> {
        ApiId(&self.0.id)
    }

    async fn user_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.user_id)
    }

    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        User::load(ctx, &self.0.user_id).await
    }

    async fn title(&self) -> &str {
        &self.0.title
    }

    async fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    async fn tags(&self) -> Vec<String> {
        self.0.tags.iter().map(ToString::to_string).collect()
    }

    async fn status(&self) -> EnumValue<GoalStatus> {
        EnumValue(self.0.status)
    }

    /// The tasks of the goal, oldest first: all, only those done, or only those not done.
    async fn tasks(
        &self,
        ctx: &Context<'_>,
        done: Option<bool>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Task>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(
            list_tasks(ctx, Some(&self.0.user_id), &self.0.id, done, paging).await,
        )
    }

    /// The milestones of the goal, oldest first.
    async fn milestones(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Milestone>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(
            list_milestones(ctx, Some(&self.0.user_id), &self.0.id, paging).await,
        )
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Task(pub(crate) entities::Task);

impl From<entities::Task> for Task {
    fn from(task: entities::Task) -> Self {
        Self(task)
    }
}

#[Object]
impl Task {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Task", &[&self.0.goal_id.to_string(), &self.0.id.to_string()])
    }

    async fn id(&self) -> ApiId<&TaskId> {
        ApiId(&self.0.id)
    }

    async fn goal_id(&self) -> ApiId<&GoalId> {
        ApiId(&self.0.goal_id)
    }

    async fn user_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.user_id)
    }

    async fn goal(&self, ctx: &Context<'_>) -> Result<Option<Goal>, ApiError> {
        Goal::load(ctx, &self.0.user_id, &self.0.goal_id).await
    }

    async fn title(&self) -> &str {
        &self.0.title
    }

    async fn due_at(&self) -> Option<DateTime> {
        DateTime::optional(self.0.due_at)
    }

    /// A plan made from the title by a language model.
    async fn nlp_plan(&self) -> Option<Json> {
        self.0.nlp_plan.as_ref().and_then(|plan| plan.decode().ok()).map(Json)
    }

    async fn done(&self) -> bool {
        self.0.done
    }

    async fn done_at(&self) -> Option<DateTime> {
        DateTime::optional(self.0.done_at)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

/// A milestone is achieved by hand, or when a percentage of the goal's tasks is done.
#[derive(Clone, Debug)]
pub(crate) struct Milestone(pub(crate) entities::Milestone);

impl From<entities::Milestone> for Milestone {
    fn from(milestone: entities::Milestone) -> Self {
        Self(milestone)
    }
}

#[Object]
impl Milestone {
    pub(crate) async fn node_id(&self) -> ID {
        let (user, goal) = (self.0.user_id.to_string(), self.0.goal_id.to_string());
        node_id("Milestone", &[&user, &goal, &self.0.id.to_string()])
    }

    async fn id(&self) -> ApiId<&MilestoneId> {
        ApiId(&self.0.id)
    }

    async fn goal_id(&self) -> ApiId<&GoalId> {
        ApiId(&self.0.goal_id)
    }

    async fn user_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.user_id)
    }

    async fn name(&self) -> &str {
        &self.0.name
    }

    /// The percentage of the goal's tasks that must be done.
    async fn percentage(&self) -> f64 {
        self.0.percentage.value()
    }

    async fn achieved(&self) -> bool {
        self.0.achieved
    }

    async fn achieved_at(&self) -> Option<DateTime> {
        DateTime::optional(self.0.achieved_at)
    }

    async fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

pub(crate) async fn list_goals(
    ctx: &Context<'_>,
    owner: &UserId,
    paging: PageArguments,
) -> Result<Connection<Goal>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, goals) = (context.caller()?, context.services().goals());
    let list = format!("goals of {owner}");
    paging.read(ctx, &list, async |page| goals.list(caller, Some(owner), page).await).await
}

pub(crate) async fn list_tasks(
    ctx: &Context<'_>,
    owner: Option<&UserId>,
    goal: &GoalId,
    done: Option<bool>,
    paging: PageArguments,
) -> Result<Connection<Task>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, tasks) = (context.caller()?, context.services().tasks());
    let list = format!("tasks of {goal}, {done:?}");
    let read = async |page: &_| tasks.list(caller, owner, goal, done, page).await;
    paging.read(ctx, &list, read).await
}

pub(crate) async fn list_tasks_due(
    ctx: &Context<'_>,
    from: Time,
    to: Time,
    paging: PageArguments,
) -> Result<Connection<Task>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, tasks) = (context.caller()?, context.services().tasks());
    let list = format!("tasks due from {from} to {to}");
    paging.read(ctx, &list, async |page| tasks.due(caller, from, to, page).await).await
}

pub(crate) async fn list_milestones(
    ctx: &Context<'_>,
    owner: Option<&UserId>,
    goal: &GoalId,
    paging: PageArguments,
) -> Result<Connection<Milestone>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, milestones) = (context.caller()?, context.services().milestones());
    let list = format!("milestones of {goal}");
    paging.read(ctx, &list, async |page| milestones.list(caller, owner, goal, page).await).await
}

pub(crate) async fn list_milestones_by_user(
    ctx: &Context<'_>,
    owner: &UserId,
    paging: PageArguments,
) -> Result<Connection<Milestone>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, milestones) = (context.caller()?, context.services().milestones());
    let list = format!("milestones by {owner}");
    paging.read(ctx, &list, async |page| milestones.timeline(caller, Some(owner), page).await).await
}
