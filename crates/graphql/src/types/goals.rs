//! What people want to reach, as the API shows it: to its owner, and to admins.

use async_graphql::{Context, ID, Object};
use roundtable_model::{GoalId, GoalStatus, MilestoneId, TaskId, Time, UserId, entities};

use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::loaders::GoalOf;
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id, Json};
use crate::words::Word;

/// Something somebody wants to reach.
#[derive(Clone, Debug)]
pub(crate) struct Goal(pub(crate) entities::Goal);

impl From<entities::Goal> for Goal {
    fn from(goal: entities::Goal) -> Self {
        Self(goal)
    }
}

impl Goal {
    /// A goal of somebody, if the viewer may see it.
    pub(crate) async fn load(
        ctx: &Context<'_>,
        owner: &UserId,
        id: &GoalId,
    ) -> Result<Option<Self>, Refused> {
        let goal = GoalOf(owner.clone(), id.clone());
        Ok(Asked::of(ctx)?.load.one(goal).await?.map(Self))
    }
}

#[Object]
impl Goal {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Goal", &[&self.0.user_id.to_string(), &self.0.id.to_string()])
    }

    async fn id(&self) -> Id<&GoalId> {
        Id(&self.0.id)
    }

    async fn user_id(&self) -> Id<&UserId> {
        Id(&self.0.user_id)
    }

    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
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

    async fn status(&self) -> Word<GoalStatus> {
        Word(self.0.status)
    }

    /// Its tasks, in the order they were added: all of them, those that are done, or those that are not.
    async fn tasks(
        &self,
        ctx: &Context<'_>,
        done: Option<bool>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Task>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(tasks(ctx, Some(&self.0.user_id), &self.0.id, done, paging).await)
    }

    /// The milestones on the way to it, in the order they were set.
    async fn milestones(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Milestone>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(milestones(ctx, Some(&self.0.user_id), &self.0.id, paging).await)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

/// A step towards a goal.
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

    async fn id(&self) -> Id<&TaskId> {
        Id(&self.0.id)
    }

    async fn goal_id(&self) -> Id<&GoalId> {
        Id(&self.0.goal_id)
    }

    async fn user_id(&self) -> Id<&UserId> {
        Id(&self.0.user_id)
    }

    async fn goal(&self, ctx: &Context<'_>) -> Result<Option<Goal>, Refused> {
        Goal::load(ctx, &self.0.user_id, &self.0.goal_id).await
    }

    async fn title(&self) -> &str {
        &self.0.title
    }

    async fn due_at(&self) -> Option<DateTime> {
        DateTime::maybe(self.0.due_at)
    }

    /// A plan made from the title by a language model.
    async fn nlp_plan(&self) -> Option<Json> {
        self.0.nlp_plan.as_ref().and_then(|plan| plan.to().ok()).map(Json)
    }

    async fn done(&self) -> bool {
        self.0.done
    }

    async fn done_at(&self) -> Option<DateTime> {
        DateTime::maybe(self.0.done_at)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

/// A part of the way to a goal: reached when so many of its tasks are done, or by hand.
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

    async fn id(&self) -> Id<&MilestoneId> {
        Id(&self.0.id)
    }

    async fn goal_id(&self) -> Id<&GoalId> {
        Id(&self.0.goal_id)
    }

    async fn user_id(&self) -> Id<&UserId> {
        Id(&self.0.user_id)
    }

    async fn name(&self) -> &str {
        &self.0.name
    }

    /// Which share of the goal's tasks must be done.
    async fn percentage(&self) -> f64 {
        self.0.percentage.value()
    }

    async fn achieved(&self) -> bool {
        self.0.achieved
    }

    async fn achieved_at(&self) -> Option<DateTime> {
        DateTime::maybe(self.0.achieved_at)
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

/// The goals of somebody.
pub(crate) async fn goals(
    ctx: &Context<'_>,
    owner: &UserId,
    paging: Paging,
) -> Result<Connection<Goal>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, goals) = (asked.caller()?, asked.services().goals());
    let list = format!("goals of {owner}");
    paging.read(ctx, &list, async |page| goals.list(caller, Some(owner), page).await).await
}

/// The tasks of a goal.
pub(crate) async fn tasks(
    ctx: &Context<'_>,
    owner: Option<&UserId>,
    goal: &GoalId,
    done: Option<bool>,
    paging: Paging,
) -> Result<Connection<Task>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, tasks) = (asked.caller()?, asked.services().tasks());
    let list = format!("tasks of {goal}, {done:?}");
    let read = async |page: &_| tasks.list(caller, owner, goal, done, page).await;
    paging.read(ctx, &list, read).await
}

/// The caller's open tasks of some time.
pub(crate) async fn tasks_due(
    ctx: &Context<'_>,
    from: Time,
    to: Time,
    paging: Paging,
) -> Result<Connection<Task>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, tasks) = (asked.caller()?, asked.services().tasks());
    let list = format!("tasks due from {from} to {to}");
    paging.read(ctx, &list, async |page| tasks.due(caller, from, to, page).await).await
}

/// The milestones on the way to a goal.
pub(crate) async fn milestones(
    ctx: &Context<'_>,
    owner: Option<&UserId>,
    goal: &GoalId,
    paging: Paging,
) -> Result<Connection<Milestone>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, milestones) = (asked.caller()?, asked.services().milestones());
    let list = format!("milestones of {goal}");
    paging.read(ctx, &list, async |page| milestones.list(caller, owner, goal, page).await).await
}

/// The milestones of somebody, whatever the goal.
pub(crate) async fn milestones_by(
    ctx: &Context<'_>,
    owner: &UserId,
    paging: Paging,
) -> Result<Connection<Milestone>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, milestones) = (asked.caller()?, asked.services().milestones());
    let list = format!("milestones by {owner}");
    paging.read(ctx, &list, async |page| milestones.timeline(caller, Some(owner), page).await).await
}
