//! What a milestone is made of and changed by, checked before anything is read.

use roundtable_model::entities::Milestone;
use roundtable_model::{GoalId, MilestoneId, Percentage, Time, UserId};
use serde::{Serialize, Serializer};

use crate::limits::{ABOUT_CHARS_MAX, NAME_CHARS_MAX, check_filled, check_text};
use crate::{Edit, Failure};

/// A milestone to be set.
#[derive(Clone, Debug, Serialize)]
pub struct NewMilestone {
    /// The goal.
    pub goal_id: GoalId,
    /// What it is called.
    pub name: String,
    /// Which share of the goal's tasks must be done.
    #[serde(serialize_with = "as_number")]
    pub percentage: Percentage,
    /// More about it.
    pub description: Option<String>,
}

/// What is to be changed of a milestone; what is absent stays.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MilestoneChange {
    /// What it is called from now on.
    pub name: Option<String>,
    /// Which share of the goal's tasks must be done from now on. One that is achieved stays achieved.
    #[serde(serialize_with = "as_optional_number")]
    pub percentage: Option<Percentage>,
    /// Whether it is achieved, by hand.
    pub achieved: Option<bool>,
    /// What becomes of its description.
    pub description: Edit<String>,
}

impl NewMilestone {
    /// A milestone of this name at this share.
    pub fn at(goal: &GoalId, percentage: Percentage, name: impl Into<String>) -> Self {
        Self { goal_id: goal.clone(), name: name.into(), percentage, description: None }
    }

    pub(super) fn checked(mut self) -> Result<Self, Failure> {
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
    /// That it is achieved, by hand.
    pub fn achieved() -> Self {
        Self { achieved: Some(true), ..Self::default() }
    }

    pub(super) fn checked(mut self) -> Result<Self, Failure> {
        self.name = self.name.as_deref().map(checked_name).transpose()?;
        if let Some(description) = self.description.value() {
            check_text("description", description, ABOUT_CHARS_MAX)?;
        }
        Ok(self)
    }

    /// What a milestone becomes by it; when it is achieved is decided where that is told.
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

fn checked_name(name: &str) -> Result<String, Failure> {
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
