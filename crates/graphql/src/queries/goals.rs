//! Queries for goals, tasks and milestones.

use async_graphql::{Context, Object};
use roundtable_model::{GoalId, MilestoneId, TaskId, UserId};

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::errors::none_if_hidden;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime};
use crate::types::goals::{self, Goal, Milestone, Task};

#[derive(Debug, Default)]
pub(super) struct GoalQueries;

#[Object]
impl GoalQueries {
    /// A goal of the caller or, for admins, of another user.
    async fn get_goal(
        &self,
        ctx: &Context<'_>,
        id: ApiId<GoalId>,
        user_id: Option<ApiId<UserId>>,
    ) -> Result<Option<Goal>, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (caller, owner) = (context.caller()?, user_id.map(|id| id.0));
        let goal = context.services().goals().get(caller, owner.as_ref(), &id.0).await;
        Ok(none_if_hidden(goal.map_err(ApiError::from))?.map(Goal))
    }

    /// The goals of the caller or, for admins, of another user, oldest first.
    async fn list_goals(
        &self,
        ctx: &Context<'_>,
        user_id: Option<ApiId<UserId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Goal>, ApiError> {
        let owner = RequestContext::of(ctx)?.user_or_caller(user_id)?;
        goals::list_goals(ctx, &owner, PageArguments::new(limit, next_token, first, after)).await
    }

    async fn get_task(
        &self,
        ctx: &Context<'_>,
        goal_id: ApiId<GoalId>,
        id: ApiId<TaskId>,
    ) -> Result<Option<Task>, ApiError> {
        let context = RequestContext::of(ctx)?;
        let task = context.services().tasks().get(context.caller()?, &goal_id.0, &id.0).await;
        Ok(none_if_hidden(task.map_err(ApiError::from))?.map(Task))
    }

    /// The tasks of a goal, oldest first.
    async fn list_tasks(
        &self,
        ctx: &Context<'_>,
        goal_id: ApiId<GoalId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Task>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        goals::list_tasks(ctx, None, &goal_id.0, None, paging).await
    }

    /// The caller's open tasks that are due in a period, earliest first.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn list_tasks_due(
        &self,
        ctx: &Context<'_>,
        from: DateTime,
        to: DateTime,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Task>, ApiError> {
        goals::list_tasks_due(
            ctx,
            from.0,
            to.0,
            PageArguments::new(limit, next_token, first, after),
        )
        .await
    }

    async fn get_milestone(
        &self,
        ctx: &Context<'_>,
        goal_id: ApiId<GoalId>,
        id: ApiId<MilestoneId>,
        user_id: Option<ApiId<UserId>>,
    ) -> Result<Option<Milestone>, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (caller, owner) = (context.caller()?, user_id.map(|id| id.0));
        let milestones = context.services().milestones();
        let milestone = milestones.get(caller, owner.as_ref(), &goal_id.0, &id.0).await;
        Ok(none_if_hidden(milestone.map_err(ApiError::from))?.map(Milestone))
    }

    /// The milestones of a goal, or all milestones of a user, newest first.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn list_milestones(
        &self,
        ctx: &Context<'_>,
        goal_id: Option<ApiId<GoalId>>,
        user_id: Option<ApiId<UserId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Milestone>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let Some(goal) = goal_id else {
            let owner = RequestContext::of(ctx)?.user_or_caller(user_id)?;
            return goals::list_milestones_by_user(ctx, &owner, paging).await;
        };
        let owner = user_id.map(|id| id.0);
        goals::list_milestones(ctx, owner.as_ref(), &goal.0, paging).await
    }
}
