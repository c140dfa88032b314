//! Setting goals, with the steps towards them, and reaching them.

use async_graphql::{Context, InputObject, MaybeUndefined, Object};
use roundtable_domain::{
    Edit, GoalChange, MilestoneChange, NewGoal, NewMilestone, NewTask, TaskChange,
};
use roundtable_model::{GoalId, GoalStatus, MilestoneId, Misfit, Percentage, Tag, TaskId};

use crate::Refused;
use crate::edits::{cleared, edit, kept};
use crate::request::{Asked, Once, once};
use crate::scalars::{DateTime, Id, Json, Text};
use crate::types::goals::{Goal, Milestone, Task};
use crate::words::Word;

/// Mutations of goals.
#[derive(Debug, Default)]
pub(super) struct Pursuing;

/// A goal to be set.
#[derive(Debug, InputObject)]
pub(crate) struct CreateGoalInput {
    title: String,
    description: Option<String>,
    tags: Option<Vec<Text<Tag>>>,
}

/// What is to be changed of a goal; what is absent stays.
#[derive(Debug, InputObject)]
pub(crate) struct UpdateGoalInput {
    goal_id: Id<GoalId>,
    title: MaybeUndefined<String>,
    description: MaybeUndefined<String>,
    tags: MaybeUndefined<Vec<Text<Tag>>>,
    status: MaybeUndefined<Word<GoalStatus>>,
}

/// A task to be added to a goal.
#[derive(Debug, InputObject)]
pub(crate) struct CreateTaskInput {
    goal_id: Id<GoalId>,
    title: String,
    due_at: Option<DateTime>,
    /// A plan made from the title by a language model.
    nlp_plan: Option<Json>,
}

/// What is to be changed of a task; what is absent stays.
#[derive(Debug, InputObject)]
pub(crate) struct UpdateTaskInput {
    goal_id: Id<GoalId>,
    task_id: Id<TaskId>,
    title: MaybeUndefined<String>,
    due_at: MaybeUndefined<DateTime>,
    done: MaybeUndefined<bool>,
    nlp_plan: MaybeUndefined<Json>,
}

/// A milestone to be set.
#[derive(Debug, InputObject)]
pub(crate) struct CreateMilestoneInput {
    goal_id: Id<GoalId>,
    name: String,
    /// Which share of the goal's tasks must be done, 0 to 100.
    percentage: f64,
    description: Option<String>,
}

/// What is to be changed of a milestone; what is absent stays.
#[derive(Debug, InputObject)]
pub(crate) struct UpdateMilestoneInput {
    goal_id: Id<GoalId>,
    milestone_id: Id<MilestoneId>,
    name: MaybeUndefined<String>,
    percentage: MaybeUndefined<f64>,
    achieved: MaybeUndefined<bool>,
    description: MaybeUndefined<String>,
}

fn plain(tags: Vec<Text<Tag>>) -> Vec<Tag> {
    tags.into_iter().map(|tag| tag.0).collect()
}

fn plan(json: &Json) -> Result<roundtable_model::Json, Refused> {
    let bad = |misfit: Misfit| Refused::bad(format!("nlpPlan: {misfit}"));
    roundtable_model::Json::of(&json.0).map_err(bad)
}

fn share(percentage: f64) -> Result<Percentage, Refused> {
    let bad = |misfit: Misfit| Refused::bad(format!("percentage: {misfit}"));
    Percentage::new(percentage).map_err(bad)
}

impl From<CreateGoalInput> for NewGoal {
    fn from(input: CreateGoalInput) -> Self {
        let CreateGoalInput { title, description, tags } = input;
        Self { title, description, tags: plain(tags.unwrap_or_default()) }
    }
}

impl UpdateGoalInput {
    fn change(self) -> Result<GoalChange, Refused> {
        Ok(GoalChange {
            title: kept("title", self.title)?,
            description: edit(self.description),
            tags: cleared(self.tags).map(plain),
            status: kept("status", self.status)?.map(|status| status.0),
        })
    }
}

impl UpdateTaskInput {
    fn change(self) -> Result<TaskChange, Refused> {
        Ok(TaskChange {
            title: kept("title", self.title)?,
            due_at: edit(self.due_at.map_value(|at| at.0)),
            done: kept("done", self.done)?,
            nlp_plan: match edit(self.nlp_plan) {
                Edit::Keep => Edit::Keep,
                Edit::Clear => Edit::Clear,
                Edit::Set(json) => Edit::Set(plan(&json)?),
            },
        })
    }
}

impl UpdateMilestoneInput {
    fn change(self) -> Result<MilestoneChange, Refused> {
        Ok(MilestoneChange {
            name: kept("name", self.name)?,
            percentage: kept("percentage", self.percentage)?.map(share).transpose()?,
            achieved: kept("achieved", self.achieved)?,
            description: edit(self.description),
        })
    }
}

#[Object]
impl Pursuing {
    async fn create_goal(
        &self,
        ctx: &Context<'_>,
        input: CreateGoalInput,
        request_id: Once,
    ) -> Result<Goal, Refused> {
        let asked = Asked::of(ctx)?;
        let goals = asked.services().goals();
        Ok(goals.create(asked.caller()?, input.into(), once(&request_id)).await?.into())
    }

    /// Changes a goal; completing it tells those who follow its owner.
    async fn update_goal(
        &self,
        ctx: &Context<'_>,
        input: UpdateGoalInput,
        request_id: Once,
    ) -> Result<Goal, Refused> {
        let asked = Asked::of(ctx)?;
        let (goals, caller, id) =
            (asked.services().goals(), asked.caller()?, input.goal_id.0.clone());
        Ok(goals.update(caller, &id, input.change()?, once(&request_id)).await?.into())
    }

    /// Gives a goal up, with its tasks and milestones; answers with it as it was.
    async fn delete_goal(
        &self,
        ctx: &Context<'_>,
        goal_id: Id<GoalId>,
        request_id: Once,
    ) -> Result<Goal, Refused> {
        let asked = Asked::of(ctx)?;
        let goals = asked.services().goals();
        Ok(goals.delete(asked.caller()?, &goal_id.0, once(&request_id)).await?.into())
    }

    async fn create_task(
        &self,
        ctx: &Context<'_>,
        input: CreateTaskInput,
        request_id: Once,
    ) -> Result<Task, Refused> {
        let asked = Asked::of(ctx)?;
        let task = NewTask {
            goal_id: input.goal_id.0,
            title: input.title,
            due_at: input.due_at.map(|at| at.0),
            nlp_plan: input.nlp_plan.as_ref().map(plan).transpose()?,
        };
        let tasks = asked.services().tasks();
        Ok(tasks.create(asked.caller()?, task, once(&request_id)).await?.into())
    }

    /// Changes a task, or says that it is done, or is not.
    async fn update_task(
        &self,
        ctx: &Context<'_>,
        input: UpdateTaskInput,
        request_id: Once,
    ) -> Result<Task, Refused> {
        let asked = Asked::of(ctx)?;
        let (tasks, caller) = (asked.services().tasks(), asked.caller()?);
        let (goal, task) = (input.goal_id.0.clone(), input.task_id.0.clone());
        Ok(tasks.update(caller, &goal, &task, input.change()?, once(&request_id)).await?.into())
    }

    /// Takes a task away; answers with it as it was.
    async fn delete_task(
        &self,
        ctx: &Context<'_>,
        goal_id: Id<GoalId>,
        task_id: Id<TaskId>,
        request_id: Once,
    ) -> Result<Task, Refused> {
        let asked = Asked::of(ctx)?;
        let (tasks, caller) = (asked.services().tasks(), asked.caller()?);
        Ok(tasks.delete(caller, &goal_id.0, &task_id.0, once(&request_id)).await?.into())
    }

    async fn create_milestone(
        &self,
        ctx: &Context<'_>,
        input: CreateMilestoneInput,
        request_id: Once,
    ) -> Result<Milestone, Refused> {
        let asked = Asked::of(ctx)?;
        let CreateMilestoneInput { goal_id, name, percentage, description } = input;
        let percentage = share(percentage)?;
        let milestone = NewMilestone { goal_id: goal_id.0, name, percentage, description };
        let milestones = asked.services().milestones();
        Ok(milestones.create(asked.caller()?, milestone, once(&request_id)).await?.into())
    }

    /// Changes a milestone, or achieves it by hand.
    async fn update_milestone(
        &self,
        ctx: &Context<'_>,
        input: UpdateMilestoneInput,
        request_id: Once,
    ) -> Result<Milestone, Refused> {
        let asked = Asked::of(ctx)?;
        let (milestones, caller) = (asked.services().milestones(), asked.caller()?);
        let (goal, id) = (input.goal_id.0.clone(), input.milestone_id.0.clone());
        let (change, request) = (input.change()?, once(&request_id));
        Ok(milestones.update(caller, &goal, &id, change, request).await?.into())
    }

    /// Takes a milestone away; answers with it as it was.
    async fn delete_milestone(
        &self,
        ctx: &Context<'_>,
        goal_id: Id<GoalId>,
        milestone_id: Id<MilestoneId>,
        request_id: Once,
    ) -> Result<Milestone, Refused> {
        let asked = Asked::of(ctx)?;
        let (milestones, caller) = (asked.services().milestones(), asked.caller()?);
        let request = once(&request_id);
        Ok(milestones.delete(caller, &goal_id.0, &milestone_id.0, request).await?.into())
    }
}
