//! What a goal is made of and changed by, checked before anything is read.

use roundtable_model::entities::Goal;
use roundtable_model::{GoalId, GoalStatus, Tag, Time, UserId};
use serde::Serialize;

use crate::limits::{ABOUT_CHARS_MAX, TITLE_CHARS_MAX, check_filled, check_text};
use crate::tags::distinct;
use crate::{Edit, Failure};

/// A goal to be set.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NewGoal {
    /// What is to be reached.
    pub title: String,
    /// More about it.
    pub description: Option<String>,
    /// What it is about, in a word each.
    pub tags: Vec<Tag>,
}

/// What is to be changed of a goal; what is absent stays.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GoalChange {
    /// What is to be reached from now on.
    pub title: Option<String>,
    /// What becomes of its description.
    pub description: Edit<String>,
    /// What it is about from now on; an empty list takes all tags away.
    pub tags: Option<Vec<Tag>>,
    /// How it stands from now on.
    pub status: Option<GoalStatus>,
}

impl NewGoal {
    /// A goal of this title.
    pub fn titled(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The same with each tag once, if its texts are of a length.
    pub(super) fn checked(mut self) -> Result<Self, Failure> {
        self.title = checked_title(&self.title)?;
        check_text("description", self.description.as_deref().unwrap_or(""), ABOUT_CHARS_MAX)?;
        self.tags = distinct(self.tags)?;
        Ok(self)
    }

    /// The goal.
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
    /// The change of how a goal stands.
    pub fn to(status: GoalStatus) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// The same with each tag once, if its texts are of a length.
    pub(super) fn checked(mut self) -> Result<Self, Failure> {
        self.title = self.title.as_deref().map(checked_title).transpose()?;
        if let Some(description) = self.description.value() {
            check_text("description", description, ABOUT_CHARS_MAX)?;
        }
        self.tags = self.tags.map(distinct).transpose()?;
        Ok(self)
    }

    /// What a goal becomes by it; when it is completed is decided where that is told.
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

fn checked_title(title: &str) -> Result<String, Failure> {
    check_filled("title", title, TITLE_CHARS_MAX)?;
    Ok(title.trim().to_owned())
}
