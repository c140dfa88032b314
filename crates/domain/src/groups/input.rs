//! Inputs for creating and updating groups, checked before anything is read.

use roundtable_model::entities::Group;
use roundtable_model::{Tag, Time};
use serde::Serialize;

use crate::limits::{
    ABOUT_CHARS_MAX, NAME_CHARS_MAX, TAGS_MAX, check_count, check_filled, check_text,
};
use crate::{Edit, ServiceError};

#[derive(Clone, Debug, Default, Serialize)]
pub struct NewGroup {
    pub name: String,
    pub description: Option<String>,
    pub tags: Vec<Tag>,
    /// True if the group outlives its project.
    pub is_persistent: bool,
    /// True if only active members see its content.
    pub is_private: bool,
}

/// Changes to a group; absent fields stay.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GroupChange {
    pub name: Option<String>,
    pub description: Edit<String>,
    /// An empty list removes all tags.
    pub tags: Option<Vec<Tag>>,
}

impl NewGroup {
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Checks the lengths and removes duplicate tags.
    pub(super) fn checked(mut self) -> Result<Self, ServiceError> {
        self.name = checked_name(&self.name)?;
        check_text("description", self.description.as_deref().unwrap_or(""), ABOUT_CHARS_MAX)?;
        self.tags = checked_tags(self.tags)?;
        Ok(self)
    }
}

impl GroupChange {
    /// Checks the lengths and removes duplicate tags.
    pub(super) fn checked(mut self) -> Result<Self, ServiceError> {
        self.name = self.name.as_deref().map(checked_name).transpose()?;
        if let Some(description) = self.description.value() {
            check_text("description", description, ABOUT_CHARS_MAX)?;
        }
        self.tags = self.tags.map(checked_tags).transpose()?;
        Ok(self)
    }

    pub(super) fn applied_to(&self, group: &Group, now: Time) -> Group {
        Group {
            name: self.name.clone().unwrap_or_else(|| group.name.clone()),
            description: self.description.clone().over(group.description.clone()),
            tags: self.tags.clone().unwrap_or_else(|| group.tags.clone()),
            updated_at: now,
            ..group.clone()
        }
    }
}

fn checked_name(name: &str) -> Result<String, ServiceError> {
    check_filled("name", name, NAME_CHARS_MAX)?;
    Ok(name.trim().to_owned())
}

/// Equivalent spellings share a tag reference, so they are one tag.
fn checked_tags(tags: Vec<Tag>) -> Result<Vec<Tag>, ServiceError> {
    check_count("tags", tags.len(), TAGS_MAX)?;
    let mut distinct: Vec<Tag> = Vec::with_capacity(tags.len());
    for tag in tags {
        if !distinct.iter().any(|existing| existing.same_as(&tag)) {
            distinct.push(tag);
        }
    }
    Ok(distinct)
}
