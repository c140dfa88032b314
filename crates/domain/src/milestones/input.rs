//! Inputs for creating and updating milestones, checked before anything is read.

use roundtable_model::entities::Milestone;
use roundtable_model::{GoalId, MilestoneId, Percentage, Time, UserId};
use serde::{Serialize, Serializer};

use crate::limits::{ABOUT_CHARS_MAX, NAME_CHARS_MAX, check_filled, check_text};
use crate::{Edit, ServiceError};

#[derive(Clone, Debug, Serialize)]
pub struct NewMilestone {
    pub goal_id: GoalId,
    pub name: String,
    /// The share of the goal's tasks that must be done.
    #[serde(serialize_with = "as_number")]
    pub percentage: Percentage,
    pub description: Option<String>,
}

/// Changes to a milestone; absent fields stay.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MilestoneChange {
    pub name: Option<String>,
    /// An achieved milestone stays achieved.
    #[serde(serialize_with = "as_optional_number")]
    pub percentage: Option<Percentage>,
    pub achieved: Option<bool>,
    pub description: Edit<String>,
}

impl NewMilestone {
    pub fn at(goal: &GoalId, percentage: Percentage, name: impl Into<String>) -> Self {
        Self { goal_id: goal.clone(), name: name.into(), percentage, description: None }
    }

    pub(super) fn checked(mut self) -> Result<Self, ServiceError> {
        self.name = checked_name(&self.name)?;
        check_text("description", self.description.as_deref().unwrap_or(""), ABOUT_CHARS_MAX)?;
        Ok(self)
    }

    pub(super) fn milestone(&self, owner: &UserId, id: MilestoneId, now: Time) -> Milestone {
        Milestone {
            user_id: owner.clone(),
            goal_id: self.goal_id.clone(),
            id,
            name: self.name.clone(),
            percentage: self.percentage,
            achieved: false,
            achieved_at: None,
            description: self.description.clone(),
            created_at: now,
            updated_at: now,
        }
    }
}

impl MilestoneChange {
    pub fn achieved() -> Self {
        Self { achieved: Some(true), ..Self::default() }
    }

    pub(super) fn checked(mut self) -> Result<Self, ServiceError> {
        self.name = self.name.as_deref().map(checked_name).transpose()?;
        if let Some(description) = self.description.value() {
            check_text("description", description, ABOUT_CHARS_MAX)?;
        }
        Ok(self)
    }

    /// Applies the change. The time of achievement is set where the activity is published.
    pub(super) fn applied_to(&self, milestone: &Milestone, now: Time) -> Milestone {
        Milestone {
            name: self.name.clone().unwrap_or_else(|| milestone.name.clone()),
            percentage: self.percentage.unwrap_or(milestone.percentage),
            achieved: self.achieved.unwrap_or(milestone.achieved),
            description: self.description.clone().over(milestone.description.clone()),
            updated_at: now,
            ..milestone.clone()
        }
    }
}

fn checked_name(name: &str) -> Result<String, ServiceError> {
    check_filled("name", name, NAME_CHARS_MAX)?;
    Ok(name.trim().to_owned())
}

fn as_number<S: Serializer>(share: &Percentage, to: S) -> Result<S::Ok, S::Error> {
    share.value().serialize(to)
}

#[expect(clippy::ref_option, reason = "serde hands the field over so")]
fn as_optional_number<S: Serializer>(share: &Option<Percentage>, to: S) -> Result<S::Ok, S::Error> {
    share.map(Percentage::value).serialize(to)
}
