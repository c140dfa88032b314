//! Mutations of goals, tasks and milestones.

use roundtable_domain::{
    Edit, GoalChange, MilestoneChange, NewGoal, NewMilestone, NewTask, TaskChange,
};
use roundtable_execution::Given;
use roundtable_graphql_macros::{fields, input};
use roundtable_interface::ApiError;
use roundtable_model::{
    GoalId, GoalStatus, InvalidValue, MilestoneId, Percentage, RequestId, Tag, TaskId, Time,
};

use super::{Goal, Milestone, Task};
use crate::edits::{edit, edit_non_null, edit_or_default};
use crate::request::RequestContext;
use crate::scalars::Json;

#[input]
#[derive(Debug)]
pub(crate) struct UpdateGoalInput {
    goal_id: GoalId,
    title: Given<String>,
    description: Given<String>,
    tags: Given<Vec<Tag>>,
    status: Given<GoalStatus>,
}

impl UpdateGoalInput {
    fn change(self) -> Result<GoalChange, ApiError> {
        Ok(GoalChange {
            title: edit_non_null("title", self.title)?,
            description: edit(self.description),
            tags: edit_or_default(self.tags),
            status: edit_non_null("status", self.status)?,
        })
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct CreateTaskInput {
    goal_id: GoalId,
    title: String,
    due_at: Option<Time>,
    nlp_plan: Option<Json>,
}

impl CreateTaskInput {
    fn task(self) -> Result<NewTask, ApiError> {
        let Self { goal_id, title, due_at, nlp_plan } = self;
        let nlp_plan = nlp_plan.as_ref().map(parse_plan).transpose()?;
        Ok(NewTask { goal_id, title, due_at, nlp_plan })
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct UpdateTaskInput {
    goal_id: GoalId,
    task_id: TaskId,
    title: Given<String>,
    due_at: Given<Time>,
    done: Given<bool>,
    nlp_plan: Given<Json>,
}

impl UpdateTaskInput {
    fn change(self) -> Result<TaskChange, ApiError> {
        Ok(TaskChange {
            title: edit_non_null("title", self.title)?,
            due_at: edit(self.due_at),
            done: edit_non_null("done", self.done)?,
            nlp_plan: match self.nlp_plan {
                Given::Absent => Edit::Keep,
                Given::Null => Edit::Clear,
                Given::Value(json) => Edit::Set(parse_plan(&json)?),
            },
        })
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct CreateMilestoneInput {
    goal_id: GoalId,
    name: String,
    percentage: f64,
    description: Option<String>,
}

impl CreateMilestoneInput {
    fn milestone(self) -> Result<NewMilestone, ApiError> {
        let Self { goal_id, name, percentage, description } = self;
        let percentage = parse_percentage(percentage)?;
        Ok(NewMilestone { goal_id, name, percentage, description })
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct UpdateMilestoneInput {
    goal_id: GoalId,
    milestone_id: MilestoneId,
    name: Given<String>,
    percentage: Given<f64>,
    achieved: Given<bool>,
    description: Given<String>,
}

impl UpdateMilestoneInput {
    fn change(self) -> Result<MilestoneChange, ApiError> {
        let name = edit_non_null("name", self.name)?;
        let percentage = edit_non_null("percentage", self.percentage)?;
        Ok(MilestoneChange {
            name,
            percentage: percentage.map(parse_percentage).transpose()?,
            achieved: edit_non_null("achieved", self.achieved)?,
            description: edit(self.description),
        })
    }
}

fn parse_plan(json: &Json) -> Result<roundtable_model::Json, ApiError> {
    let bad = |error: InvalidValue| ApiError::bad_request(format!("nlpPlan: {error}"));
    roundtable_model::Json::encode(&json.0).map_err(bad)
}

fn parse_percentage(percentage: f64) -> Result<Percentage, ApiError> {
    let bad = |error: InvalidValue| ApiError::bad_request(format!("percentage: {error}"));
    Percentage::new(percentage).map_err(bad)
}

pub(crate) struct GoalMutations;

#[fields(Mutation)]
impl GoalMutations {
    async fn create_goal(
        context: &RequestContext,
        input: NewGoal,
        request_id: Option<RequestId>,
    ) -> Result<Goal, ApiError> {
        let (goals, caller) = (context.services().goals(), context.caller()?);
        Ok(goals.create(caller, input, request_id.as_ref()).await?.into())
    }

    async fn update_goal(
        context: &RequestContext,
        input: UpdateGoalInput,
        request_id: Option<RequestId>,
    ) -> Result<Goal, ApiError> {
        let (goals, caller) = (context.services().goals(), context.caller()?);
        let (id, change) = (input.goal_id.clone(), input.change()?);
        Ok(goals.update(caller, &id, change, request_id.as_ref()).await?.into())
    }

    async fn delete_goal(
        context: &RequestContext,
        goal_id: GoalId,
        request_id: Option<RequestId>,
    ) -> Result<Goal, ApiError> {
        let (goals, caller) = (context.services().goals(), context.caller()?);
        Ok(goals.delete(caller, &goal_id, request_id.as_ref()).await?.into())
    }

    async fn create_task(
        context: &RequestContext,
        input: CreateTaskInput,
        request_id: Option<RequestId>,
    ) -> Result<Task, ApiError> {
        let task = input.task()?;
        let (tasks, caller) = (context.services().tasks(), context.caller()?);
        Ok(tasks.create(caller, task, request_id.as_ref()).await?.into())
    }

    async fn update_task(
        context: &RequestContext,
        input: UpdateTaskInput,
        request_id: Option<RequestId>,
    ) -> Result<Task, ApiError> {
        let (tasks, caller) = (context.services().tasks(), context.caller()?);
        let (goal, id) = (input.goal_id.clone(), input.task_id.clone());
        let change = input.change()?;
        Ok(tasks.update(caller, &goal, &id, change, request_id.as_ref()).await?.into())
    }

    async fn delete_task(
        context: &RequestContext,
        goal_id: GoalId,
        task_id: TaskId,
        request_id: Option<RequestId>,
    ) -> Result<Task, ApiError> {
        let (tasks, caller) = (context.services().tasks(), context.caller()?);
        Ok(tasks.delete(caller, &goal_id, &task_id, request_id.as_ref()).await?.into())
    }

    async fn create_milestone(
        context: &RequestContext,
        input: CreateMilestoneInput,
        request_id: Option<RequestId>,
    ) -> Result<Milestone, ApiError> {
        let milestone = input.milestone()?;
        let (milestones, caller) = (context.services().milestones(), context.caller()?);
        Ok(milestones.create(caller, milestone, request_id.as_ref()).await?.into())
    }

    async fn update_milestone(
        context: &RequestContext,
        input: UpdateMilestoneInput,
        request_id: Option<RequestId>,
    ) -> Result<Milestone, ApiError> {
        let (milestones, caller) = (context.services().milestones(), context.caller()?);
        let (goal, id) = (input.goal_id.clone(), input.milestone_id.clone());
        let change = input.change()?;
        Ok(milestones.update(caller, &goal, &id, change, request_id.as_ref()).await?.into())
    }

    async fn delete_milestone(
        context: &RequestContext,
        goal_id: GoalId,
        milestone_id: MilestoneId,
        request_id: Option<RequestId>,
    ) -> Result<Milestone, ApiError> {
        let (milestones, caller) = (context.services().milestones(), context.caller()?);
        Ok(milestones.delete(caller, &goal_id, &milestone_id, request_id.as_ref()).await?.into())
    }
}
