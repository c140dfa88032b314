//! What a group is made of and changed by, checked before anything is read.

use roundtable_model::entities::Group;
use roundtable_model::{Tag, Time};
use serde::Serialize;

use crate::limits::{
    ABOUT_CHARS_MAX, NAME_CHARS_MAX, TAGS_MAX, check_count, check_filled, check_text,
};
use crate::{Edit, Failure};

/// A group to be founded.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NewGroup {
    /// What it is called.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// What it is about, in a word each.
    pub tags: Vec<Tag>,
    /// Whether it stays when its project is over.
    pub is_persistent: bool,
    /// Whether only active members see what is in it.
    pub is_private: bool,
}

/// What is to be changed of a group; what is absent stays.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GroupChange {
    /// What it is called from now on.
    pub name: Option<String>,
    /// What becomes of its description.
    pub description: Edit<String>,
    /// What it is about from now on; an empty list takes all tags away.
    pub tags: Option<Vec<Tag>>,
}

impl NewGroup {
    /// A public group of this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The same with each tag once, if its texts are of a length.
    pub(super) fn checked(mut self) -> Result<Self, Failure> {
        self.name = checked_name(&self.name)?;
        check_text("description", self.description.as_deref().unwrap_or(""), ABOUT_CHARS_MAX)?;
        self.tags = checked_tags(self.tags)?;
        Ok(self)
    }
}

impl GroupChange {
    /// The same with each tag once, if its texts are of a length.
    pub(super) fn checked(mut self) -> Result<Self, Failure> {
        self.name = self.name.as_deref().map(checked_name).transpose()?;
        if let Some(description) = self.description.value() {
            check_text("description", description, ABOUT_CHARS_MAX)?;
        }
        self.tags = self.tags.map(checked_tags).transpose()?;
        Ok(self)
    }

    /// What a group becomes by it.
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

fn checked_name(name: &str) -> Result<String, Failure> {
    check_filled("name", name, NAME_CHARS_MAX)?;
    Ok(name.trim().to_owned())
}

/// Tags that people would take for the same have one reference, so they are one tag here.
fn checked_tags(tags: Vec<Tag>) -> Result<Vec<Tag>, Failure> {
    check_count("tags", tags.len(), TAGS_MAX)?;
    let mut distinct: Vec<Tag> = Vec::with_capacity(tags.len());
    for tag in tags {
        if !distinct.iter().any(|known| known.same_as(&tag)) {
            distinct.push(tag);
        }
    }
    Ok(distinct)
}
