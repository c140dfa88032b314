//! Inputs for creating and updating groups, checked before anything is read.

use roundtable_model::entities::Group;
use roundtable_model::{JoinPolicy, Tag, Time};
use serde::Serialize;

use crate::access::Permission;
use crate::limits::{
    ABOUT_CHARS_MAX, NAME_CHARS_MAX, TAGS_MAX, check_count, check_filled, check_text,
};
use crate::{Edit, ServiceError};

#[derive(Clone, Debug, Default, Serialize)]
pub struct NewGroup {
    pub name: String,
    pub description: Option<String>,
    pub tags: Vec<Tag>,
    /// False if the group is archived when it is idle. Default: true.
    pub is_persistent: Option<bool>,
    /// True if only active members see its content.
    pub is_private: bool,
    /// The way in; by default open, and on request if it is private.
    pub join_policy: Option<JoinPolicy>,
}

/// Changes to a group; absent fields stay.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GroupChange {
    pub name: Option<String>,
    pub description: Edit<String>,
    /// An empty list removes all tags.
    pub tags: Option<Vec<Tag>>,
    pub is_persistent: Option<bool>,
    pub is_private: Option<bool>,
    pub join_policy: Option<JoinPolicy>,
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

    /// The permission that all of these changes need.
    pub(super) const fn permission(&self) -> Permission {
        if self.is_private.is_some() || self.join_policy.is_some() || self.is_persistent.is_some() {
            Permission::ChangeGroupAccess
        } else {
            Permission::UpdateGroup
        }
    }

    pub(super) fn applied_to(&self, group: &Group, now: Time) -> Group {
        let is_private = self.is_private.unwrap_or(group.is_private);
        let persists = self.is_persistent.unwrap_or_else(|| group.persists());
        // An archival that is announced is off once the group persists.
        let archives_at = group.archives_at.filter(|_| !persists);
        Group {
            is_private,
            join_policy: self.join_policy_of(group, is_private),
            public_since: if group.is_private && !is_private {
                Some(now)
            } else {
                group.public_since
            },
            is_persistent: persists,
            idle_from: (!persists).then(|| group.idle_from.unwrap_or(now)),
            archives_at,
            name: self.name.clone().unwrap_or_else(|| group.name.clone()),
            description: self.description.clone().over(group.description.clone()),
            tags: self.tags.clone().unwrap_or_else(|| group.tags.clone()),
            updated_at: now,
            ..group.clone()
        }
    }

    /// The way in after the change. A public group that becomes private is no longer open; one that
    /// becomes public stays as it was, because opening it is another decision.
    fn join_policy_of(&self, group: &Group, is_private: bool) -> Option<JoinPolicy> {
        match (self.join_policy, group.join_policy()) {
            (None, _) if is_private == group.is_private => group.join_policy,
            (None, JoinPolicy::Open) => Some(JoinPolicy::Request),
            (None, policy) => Some(policy),
            (chosen, _) => chosen,
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
