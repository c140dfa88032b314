//! Inputs for creating and updating tasks, checked before anything is read.

use roundtable_model::entities::Task;
use roundtable_model::{GoalId, Json, Shard, TaskId, Time, UserId};
use serde::Serialize;

use crate::limits::{PLAN_CHARS_MAX, TITLE_CHARS_MAX, check_filled, check_text};
use crate::{Edit, ServiceError};

#[derive(Clone, Debug, Serialize)]
pub struct NewTask {
    pub goal_id: GoalId,
    pub title: String,
    pub due_at: Option<Time>,
    /// A plan made from the title by a language model.
    pub nlp_plan: Option<Json>,
}

/// Changes to a task; absent fields stay.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TaskChange {
    pub title: Option<String>,
    pub due_at: Edit<Time>,
    pub done: Option<bool>,
    pub nlp_plan: Edit<Json>,
}

impl NewTask {
    /// A task without a due time.
    pub fn titled(goal: &GoalId, title: impl Into<String>) -> Self {
        Self { goal_id: goal.clone(), title: title.into(), due_at: None, nlp_plan: None }
    }

    pub(super) fn checked(mut self) -> Result<Self, ServiceError> {
        self.title = checked_title(&self.title)?;
        check_plan(self.nlp_plan.as_ref())?;
        Ok(self)
    }

    pub(super) fn task(&self, owner: &UserId, id: TaskId, shard: Shard, now: Time) -> Task {
        Task {
            goal_id: self.goal_id.clone(),
            id,
            user_id: owner.clone(),
            title: self.title.clone(),
            due_at: self.due_at,
            nlp_plan: self.nlp_plan.clone(),
            done: false,
            done_at: None,
            shard,
            version: 1,
            created_at: now,
            updated_at: now,
        }
    }
}

impl TaskChange {
    pub fn to_done(done: bool) -> Self {
        Self { done: Some(done), ..Self::default() }
    }

    pub(super) fn checked(mut self) -> Result<Self, ServiceError> {
        self.title = self.title.as_deref().map(checked_title).transpose()?;
        check_plan(self.nlp_plan.value())?;
        Ok(self)
    }

    /// Applies the change. Completing a done task changes nothing.
    pub(super) fn applied_to(&self, task: &Task, now: Time) -> Task {
        let done = self.done.unwrap_or(task.done);
        let done_at = if done { task.done_at.or(Some(now)) } else { None };
        Task {
            title: self.title.clone().unwrap_or_else(|| task.title.clone()),
            due_at: self.due_at.clone().over(task.due_at),
            nlp_plan: self.nlp_plan.clone().over(task.nlp_plan.clone()),
            done,
            done_at,
            updated_at: now,
            ..task.clone()
        }
    }
}

fn checked_title(title: &str) -> Result<String, ServiceError> {
    check_filled("title", title, TITLE_CHARS_MAX)?;
    Ok(title.trim().to_owned())
}

fn check_plan(plan: Option<&Json>) -> Result<(), ServiceError> {
    check_text("nlpPlan", plan.map(Json::as_str).unwrap_or_default(), PLAN_CHARS_MAX)
}
