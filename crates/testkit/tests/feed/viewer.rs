//! A naive implementation of visibility, from the facts of the table.

use roundtable_model::entities::{Activity, Comment, Group, Post, User};
use roundtable_model::{GroupId, ModerationStatus, ObjectType, UserId, UserStatus, Visibility};

use crate::oracle::Facts;

/// A viewer of the facts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Viewer<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) reader: &'a UserId,
    pub(crate) moderates: bool,
}

impl<'a> Viewer<'a> {
    /// An activity as shown to the viewer, if visible.
    pub(crate) fn shown(self, activity: &Activity) -> Option<Activity> {
        let Activity { actor_id, group_id, object_id, object_type, .. } = activity;
        let at_home = match group_id {
            Some(group) => self.person(actor_id).is_some() && self.is_inside_group(group),
            None => self.is_inside(actor_id),
        };
        if !at_home || !self.facts.is_still_shared(activity) {
            return None;
        }
        let mut shown = activity.clone();
        match object_type {
            ObjectType::Post => {
                let post = self.facts.post_of(activity).filter(|post| self.sees(post))?;
                // Texts in histories are short and trimmed.
                shown.preview_text = Some(post.content.clone());
                shown.media = post.media.first().cloned();
                shown.tags.clone_from(&post.hashtags);
            }
            ObjectType::Comment => {
                let comment = self.facts.comments.get(&object_id.recast())?;
                if !self.sees_comment(comment) {
                    return None;
                }
                shown.preview_text = Some(comment.content.clone());
            }
            ObjectType::Goal => {
                self.facts.goals.get(&(actor_id.clone(), object_id.clone()))?;
            }
            ObjectType::Task => {
                let goal = self.facts.tasks.get(&(actor_id.clone(), object_id.clone()))?;
                self.facts.goals.get(&(actor_id.clone(), goal.clone()))?;
            }
            ObjectType::Group => {
                self.group(&object_id.recast())?;
            }
            ObjectType::User => {
                self.person(&object_id.recast())?;
            }
            ObjectType::Quest => panic!("no history has these"),
        }
        Some(shown)
    }

    /// Suspended users are visible to themselves and moderators; blocks hide users from each other.
    fn person(self, id: &UserId) -> Option<&'a User> {
        let person = self.facts.people.get(id)?;
        let blocks = &self.facts.blocks;
        let blocked = blocks.contains(&(id.clone(), self.reader.clone()))
            || blocks.contains(&(self.reader.clone(), id.clone()));
        let shown = match person.status {
            UserStatus::Deleted => false,
            UserStatus::Suspended => self.is_me(id) || self.moderates,
            UserStatus::Active => !blocked || self.moderates,
        };
        shown.then_some(person)
    }

    /// A private account is visible to its accepted followers.
    fn is_inside(self, id: &UserId) -> bool {
        self.person(id).is_some_and(|person| {
            !person.is_private
                || self.is_me(id)
                || self.moderates
                || self.facts.follows(self.reader, id)
        })
    }

    fn group(self, id: &GroupId) -> Option<&'a Group> {
        self.facts.groups.get(id)
    }

    /// A private group is visible to its active members.
    fn is_inside_group(self, id: &GroupId) -> bool {
        self.group(id).is_some_and(|group| {
            !group.is_private || self.moderates || self.facts.is_member(id, self.reader)
        })
    }

    fn sees(self, post: &Post) -> bool {
        let Post { author_id, group_id, visibility, moderation_status, is_deleted, .. } = post;
        if *is_deleted || self.person(author_id).is_none() {
            return false;
        }
        if self.is_me(author_id) || self.moderates {
            return true;
        }
        *moderation_status == ModerationStatus::Approved
            && match (visibility, group_id) {
                (Visibility::Private, _) => false,
                (_, Some(group)) => self.is_inside_group(group),
                (Visibility::Followers, None) => self.facts.follows(self.reader, author_id),
                (Visibility::Public, None) => self.is_inside(author_id),
            }
    }

    fn sees_comment(self, comment: &Comment) -> bool {
        let post = self.facts.posts.get(&comment.post_id);
        let approved = comment.moderation_status == ModerationStatus::Approved;
        !comment.is_deleted
            && post.is_some_and(|post| self.sees(post))
            && self.person(&comment.user_id).is_some()
            && (approved || self.is_me(&comment.user_id) || self.moderates)
    }

    fn is_me(self, id: &UserId) -> bool {
        self.reader == id
    }
}
