//! Inputs for creating and updating goals, checked before anything is read.

use roundtable_model::entities::Goal;
use roundtable_model::{GoalId, GoalStatus, Tag, Time, UserId};
use serde::Serialize;

use crate::limits::{ABOUT_CHARS_MAX, TITLE_CHARS_MAX, check_filled, check_text};
use crate::tags::distinct;
use crate::{Edit, ServiceError};

#[derive(Clone, Debug, Default, Serialize)]
pub struct NewGoal {
    pub title: String,
    pub description: Option<String>,
    pub tags: Vec<Tag>,
}

/// Changes to a goal; absent fields stay.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GoalChange {
    pub title: Option<String>,
    pub description: Edit<String>,
    /// An empty list removes all tags.
    pub tags: Option<Vec<Tag>>,
    pub status: Option<GoalStatus>,
}

impl NewGoal {
    pub fn titled(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Checks the lengths and removes duplicate tags.
    pub(super) fn checked(mut self) -> Result<Self, ServiceError> {
        self.title = checked_title(&self.title)?;
        check_text("description", self.description.as_deref().unwrap_or(""), ABOUT_CHARS_MAX)?;
        self.tags = distinct(self.tags)?;
        Ok(self)
    }

    pub(super) fn goal(&self, owner: &UserId, id: GoalId, now: Time) -> Goal {
        Goal {
            user_id: owner.clone(),
            id,
            title: self.title.clone(),
            description: self.description.clone(),
            tags: self.tags.clone(),
            status: GoalStatus::Active,
            completed_at: None,
            created_at: now,
            updated_at: now,
        }
    }
}

impl GoalChange {
    pub fn to(status: GoalStatus) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// Checks the lengths and removes duplicate tags.
    pub(super) fn checked(mut self) -> Result<Self, ServiceError> {
        self.title = self.title.as_deref().map(checked_title).transpose()?;
        if let Some(description) = self.description.value() {
            check_text("description", description, ABOUT_CHARS_MAX)?;
        }
        self.tags = self.tags.map(distinct).transpose()?;
        Ok(self)
    }

    /// Applies the change. The completion time is set where the activity is published.
    pub(super) fn applied_to(&self, goal: &Goal, now: Time) -> Goal {
        let status = self.status.unwrap_or(goal.status);
        let completed_at = goal.completed_at.filter(|_| status != GoalStatus::Active);
        Goal {
            title: self.title.clone().unwrap_or_else(|| goal.title.clone()),
            description: self.description.clone().over(goal.description.clone()),
            tags: self.tags.clone().unwrap_or_else(|| goal.tags.clone()),
            status,
            completed_at,
            updated_at: now,
            ..goal.clone()
        }
    }
}

fn checked_title(title: &str) -> Result<String, ServiceError> {
    check_filled("title", title, TITLE_CHARS_MAX)?;
    Ok(title.trim().to_owned())
}
