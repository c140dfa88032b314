//! Mutations of goals, tasks and milestones.

use async_graphql::{Context, InputObject, MaybeUndefined, Object};
use roundtable_domain::{
    Edit, GoalChange, MilestoneChange, NewGoal, NewMilestone, NewTask, TaskChange,
};
use roundtable_model::{GoalId, GoalStatus, InvalidValue, MilestoneId, Percentage, Tag, TaskId};

use crate::ApiError;
use crate::edits::{edit, edit_non_null, edit_or_default};
use crate::enums::EnumValue;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::{ApiId, ApiText, DateTime, Json};
use crate::types::goals::{Goal, Milestone, Task};

#[derive(Debug, Default)]
pub(super) struct GoalMutations;

/// A new goal.
#[derive(Debug, InputObject)]
pub(crate) struct CreateGoalInput {
    title: String,
    description: Option<String>,
    tags: Option<Vec<ApiText<Tag>>>,
}

/// Changes to a goal. An absent field keeps its value.
#[derive(Debug, InputObject)]
pub(crate) struct UpdateGoalInput {
    goal_id: ApiId<GoalId>,
    title: MaybeUndefined<String>,
    description: MaybeUndefined<String>,
    tags: MaybeUndefined<Vec<ApiText<Tag>>>,
    status: MaybeUndefined<EnumValue<GoalStatus>>,
}

/// A new task of a goal.
#[derive(Debug, InputObject)]
pub(crate) struct CreateTaskInput {
    goal_id: ApiId<GoalId>,
    title: String,
    due_at: Option<DateTime>,
    /// A plan made from the title by a language model.
    nlp_plan: Option<Json>,
}

/// Changes to a task. An absent field keeps its value.
#[derive(Debug, InputObject)]
pub(crate) struct UpdateTaskInput {
    goal_id: ApiId<GoalId>,
    task_id: ApiId<TaskId>,
    title: MaybeUndefined<String>,
    due_at: MaybeUndefined<DateTime>,
    done: MaybeUndefined<bool>,
    nlp_plan: MaybeUndefined<Json>,
}

/// A new milestone.
#[derive(Debug, InputObject)]
pub(crate) struct CreateMilestoneInput {
    goal_id: ApiId<GoalId>,
    name: String,
    /// The percentage of the goal's tasks that must be done, 0 to 100.
    percentage: f64,
    description: Option<String>,
}

/// Changes to a milestone. An absent field keeps its value.
#[derive(Debug, InputObject)]
pub(crate) struct UpdateMilestoneInput {
    goal_id: ApiId<GoalId>,
    milestone_id: ApiId<MilestoneId>,
    name: MaybeUndefined<String>,
    percentage: MaybeUndefined<f64>,
    achieved: MaybeUndefined<bool>,
    description: MaybeUndefined<String>,
}

fn tag_values(tags: Vec<ApiText<Tag>>) -> Vec<Tag> {
    tags.into_iter().map(|tag| tag.0).collect()
}

fn parse_plan(json: &Json) -> Result<roundtable_model::Json, ApiError> {
    let bad = |error: InvalidValue| ApiError::bad_request(format!("nlpPlan: {error}"));
    roundtable_model::Json::encode(&json.0).map_err(bad)
}

fn parse_percentage(percentage: f64) -> Result<Percentage, ApiError> {
    let bad = |error: InvalidValue| ApiError::bad_request(format!("percentage: {error}"));
    Percentage::new(percentage).map_err(bad)
}

impl From<CreateGoalInput> for NewGoal {
    fn from(input: CreateGoalInput) -> Self {
        let CreateGoalInput { title, description, tags } = input;
        Self { title, description, tags: tag_values(tags.unwrap_or_default()) }
    }
}

impl UpdateGoalInput {
    fn change(self) -> Result<GoalChange, ApiError> {
        Ok(GoalChange {
            title: edit_non_null("title", self.title)?,
            description: edit(self.description),
            tags: edit_or_default(self.tags).map(tag_values),
            status: edit_non_null("status", self.status)?.map(|status| status.0),
        })
    }
}

impl UpdateTaskInput {
    fn change(self) -> Result<TaskChange, ApiError> {
        Ok(TaskChange {
            title: edit_non_null("title", self.title)?,
            due_at: edit(self.due_at.map_value(|at| at.0)),
            done: edit_non_null("done", self.done)?,
            nlp_plan: match edit(self.nlp_plan) {
                Edit::Keep => Edit::Keep,
                Edit::Clear => Edit::Clear,
                Edit::Set(json) => Edit::Set(parse_plan(&json)?),
            },
        })
    }
}

impl UpdateMilestoneInput {
    fn change(self) -> Result<MilestoneChange, ApiError> {
        Ok(MilestoneChange {
            name: edit_non_null("name", self.name)?,
            percentage: edit_non_null("percentage", self.percentage)?
                .map(parse_percentage)
                .transpose()?,
            achieved: edit_non_null("achieved", self.achieved)?,
            description: edit(self.description),
        })
    }
}

#[Object]
impl GoalMutations {
    async fn create_goal(
        &self,
        ctx: &Context<'_>,
        input: CreateGoalInput,
        request_id: RequestIdArg,
    ) -> Result<Goal, ApiError> {
        let context = RequestContext::of(ctx)?;
        let goals = context.services().goals();
        Ok(goals.create(context.caller()?, input.into(), id_ref(&request_id)).await?.into())
    }

    /// Changes a goal. Completing it posts an activity to its owner's followers.
    async fn update_goal(
        &self,
        ctx: &Context<'_>,
        input: UpdateGoalInput,
        request_id: RequestIdArg,
    ) -> Result<Goal, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (goals, caller, id) =
            (context.services().goals(), context.caller()?, input.goal_id.0.clone());
        Ok(goals.update(caller, &id, input.change()?, id_ref(&request_id)).await?.into())
    }

    /// Deletes a goal with its tasks and milestones, and returns it as it was.
    async fn delete_goal(
        &self,
        ctx: &Context<'_>,
        goal_id: ApiId<GoalId>,
        request_id: RequestIdArg,
    ) -> Result<Goal, ApiError> {
        let context = RequestContext::of(ctx)?;
        let goals = context.services().goals();
        Ok(goals.delete(context.caller()?, &goal_id.0, id_ref(&request_id)).await?.into())
    }

    async fn create_task(
        &self,
        ctx: &Context<'_>,
        input: CreateTaskInput,
        request_id: RequestIdArg,
    ) -> Result<Task, ApiError> {
        let context = RequestContext::of(ctx)?;
        let task = NewTask {
            goal_id: input.goal_id.0,
            title: input.title,
            due_at: input.due_at.map(|at| at.0),
            nlp_plan: input.nlp_plan.as_ref().map(parse_plan).transpose()?,
        };
        let tasks = context.services().tasks();
        Ok(tasks.create(context.caller()?, task, id_ref(&request_id)).await?.into())
    }

    /// Changes a task, or marks it done or not done.
    async fn update_task(
        &self,
        ctx: &Context<'_>,
        input: UpdateTaskInput,
        request_id: RequestIdArg,
    ) -> Result<Task, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (tasks, caller) = (context.services().tasks(), context.caller()?);
        let (goal, task) = (input.goal_id.0.clone(), input.task_id.0.clone());
        Ok(tasks.update(caller, &goal, &task, input.change()?, id_ref(&request_id)).await?.into())
    }

    /// Deletes a task and returns it as it was.
    async fn delete_task(
        &self,
        ctx: &Context<'_>,
        goal_id: ApiId<GoalId>,
        task_id: ApiId<TaskId>,
        request_id: RequestIdArg,
    ) -> Result<Task, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (tasks, caller) = (context.services().tasks(), context.caller()?);
        Ok(tasks.delete(caller, &goal_id.0, &task_id.0, id_ref(&request_id)).await?.into())
    }

    async fn create_milestone(
        &self,
        ctx: &Context<'_>,
        input: CreateMilestoneInput,
        request_id: RequestIdArg,
    ) -> Result<Milestone, ApiError> {
        let context = RequestContext::of(ctx)?;
        let CreateMilestoneInput { goal_id, name, percentage, description } = input;
        let percentage = parse_percentage(percentage)?;
        let milestone = NewMilestone { goal_id: goal_id.0, name, percentage, description };
        let milestones = context.services().milestones();
        Ok(milestones.create(context.caller()?, milestone, id_ref(&request_id)).await?.into())
    }

    /// Changes a milestone, or marks it achieved.
    async fn update_milestone(
        &self,
        ctx: &Context<'_>,
        input: UpdateMilestoneInput,
        request_id: RequestIdArg,
    ) -> Result<Milestone, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (milestones, caller) = (context.services().milestones(), context.caller()?);
        let (goal, id) = (input.goal_id.0.clone(), input.milestone_id.0.clone());
        let (change, request) = (input.change()?, id_ref(&request_id));
        Ok(milestones.update(caller, &goal, &id, change, request).await?.into())
    }

    /// Deletes a milestone and returns it as it was.
    async fn delete_milestone(
        &self,
        ctx: &Context<'_>,
        goal_id: ApiId<GoalId>,
        milestone_id: ApiId<MilestoneId>,
        request_id: RequestIdArg,
    ) -> Result<Milestone, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (milestones, caller) = (context.services().milestones(), context.caller()?);
        let request = id_ref(&request_id);
        Ok(milestones.delete(caller, &goal_id.0, &milestone_id.0, request).await?.into())
    }
}
