//! Asking for goals, with the steps towards them.

use async_graphql::{Context, Object};
use roundtable_model::{GoalId, MilestoneId, TaskId, UserId};

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::refusal::if_seen;
use crate::request::Asked;
use crate::scalars::{DateTime, Id};
use crate::types::goals::{self, Goal, Milestone, Task};

/// Queries of goals.
#[derive(Debug, Default)]
pub(super) struct Goals;

#[Object]
impl Goals {
    /// A goal of the caller's, or, for admins, of this person's.
    async fn get_goal(
        &self,
        ctx: &Context<'_>,
        id: Id<GoalId>,
        user_id: Option<Id<UserId>>,
    ) -> Result<Option<Goal>, Refused> {
        let asked = Asked::of(ctx)?;
        let (caller, owner) = (asked.caller()?, user_id.map(|id| id.0));
        let goal = asked.services().goals().get(caller, owner.as_ref(), &id.0).await;
        Ok(if_seen(goal.map_err(Refused::from))?.map(Goal))
    }

    /// The goals of the caller, or, for admins, of this person, in the order they were set.
    async fn list_goals(
        &self,
        ctx: &Context<'_>,
        user_id: Option<Id<UserId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Goal>, Refused> {
        let owner = Asked::of(ctx)?.meant(user_id)?;
        goals::goals(ctx, &owner, Paging::new(limit, next_token, first, after)).await
    }

    async fn get_task(
        &self,
        ctx: &Context<'_>,
        goal_id: Id<GoalId>,
        id: Id<TaskId>,
    ) -> Result<Option<Task>, Refused> {
        let asked = Asked::of(ctx)?;
        let task = asked.services().tasks().get(asked.caller()?, &goal_id.0, &id.0).await;
        Ok(if_seen(task.map_err(Refused::from))?.map(Task))
    }

    /// The tasks of a goal, in the order they were added.
    async fn list_tasks(
        &self,
        ctx: &Context<'_>,
        goal_id: Id<GoalId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Task>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        goals::tasks(ctx, None, &goal_id.0, None, paging).await
    }

    /// The caller's open tasks that are due in this time, the most urgent first.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn list_tasks_due(
        &self,
        ctx: &Context<'_>,
        from: DateTime,
        to: DateTime,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Task>, Refused> {
        goals::tasks_due(ctx, from.0, to.0, Paging::new(limit, next_token, first, after)).await
    }

    async fn get_milestone(
        &self,
        ctx: &Context<'_>,
        goal_id: Id<GoalId>,
        id: Id<MilestoneId>,
        user_id: Option<Id<UserId>>,
    ) -> Result<Option<Milestone>, Refused> {
        let asked = Asked::of(ctx)?;
        let (caller, owner) = (asked.caller()?, user_id.map(|id| id.0));
        let milestones = asked.services().milestones();
        let milestone = milestones.get(caller, owner.as_ref(), &goal_id.0, &id.0).await;
        Ok(if_seen(milestone.map_err(Refused::from))?.map(Milestone))
    }

    /// The milestones on the way to a goal, or all of somebody's, the newest first.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn list_milestones(
        &self,
        ctx: &Context<'_>,
        goal_id: Option<Id<GoalId>>,
        user_id: Option<Id<UserId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Milestone>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let Some(goal) = goal_id else {
            let owner = Asked::of(ctx)?.meant(user_id)?;
            return goals::milestones_by(ctx, &owner, paging).await;
        };
        let owner = user_id.map(|id| id.0);
        goals::milestones(ctx, owner.as_ref(), &goal.0, paging).await
    }
}
