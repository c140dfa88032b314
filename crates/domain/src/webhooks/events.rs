//! The event types of webhooks: entity, change and name (R32, R44). A test compares
//! `docs/EVENTS.md` with this table.

use DomainEvent::{Created, Deleted, Updated};

/// Subscribes to all present and future events.
pub const ALL_EVENTS: &str = "*";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventType {
    /// The `type` of the event.
    pub name: &'static str,
    pub entity: &'static str,
    pub event: DomainEvent,
}

/// A change of an entity. Existence depends on the entity: a tombstone does not exist, and neither
/// does a pending follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainEvent {
    /// It exists and did not before.
    Created,
    /// Its visible content changed.
    Updated,
    /// It no longer exists.
    Deleted,
}

const fn event(name: &'static str, entity: &'static str, happening: DomainEvent) -> EventType {
    EventType { name, entity, event: happening }
}

pub const EVENTS: &[EventType] = &[
    event("roundtable.user.registered", "User", Created),
    event("roundtable.user.updated", "User", Updated),
    event("roundtable.user.deleted", "User", Deleted),
    event("roundtable.follow.created", "Follow", Created),
    event("roundtable.follow.deleted", "Follow", Deleted),
    event("roundtable.group.created", "Group", Created),
    event("roundtable.group.updated", "Group", Updated),
    event("roundtable.group.deleted", "Group", Deleted),
    event("roundtable.member.joined", "GroupMember", Created),
    event("roundtable.member.updated", "GroupMember", Updated),
    event("roundtable.member.left", "GroupMember", Deleted),
    event("roundtable.activity.posted", "Activity", Created),
    event("roundtable.post.created", "Post", Created),
    event("roundtable.post.updated", "Post", Updated),
    event("roundtable.post.deleted", "Post", Deleted),
    event("roundtable.comment.created", "Comment", Created),
    event("roundtable.comment.updated", "Comment", Updated),
    event("roundtable.comment.deleted", "Comment", Deleted),
    event("roundtable.like.created", "Like", Created),
    event("roundtable.like.deleted", "Like", Deleted),
    event("roundtable.comment-like.created", "CommentLike", Created),
    event("roundtable.comment-like.deleted", "CommentLike", Deleted),
    event("roundtable.share.created", "Share", Created),
    event("roundtable.share.deleted", "Share", Deleted),
    event("roundtable.case.opened", "ModerationCase", Created),
    event("roundtable.case.updated", "ModerationCase", Updated),
    event("roundtable.goal.created", "Goal", Created),
    event("roundtable.goal.updated", "Goal", Updated),
    event("roundtable.goal.deleted", "Goal", Deleted),
    event("roundtable.task.created", "Task", Created),
    event("roundtable.task.updated", "Task", Updated),
    event("roundtable.task.deleted", "Task", Deleted),
    event("roundtable.milestone.created", "Milestone", Created),
    event("roundtable.milestone.updated", "Milestone", Updated),
    event("roundtable.milestone.deleted", "Milestone", Deleted),
    event("roundtable.quest.created", "Quest", Created),
    event("roundtable.quest.updated", "Quest", Updated),
    event("roundtable.quest.deleted", "Quest", Deleted),
    event("roundtable.xp.earned", "XpEntry", Created),
    event("roundtable.room.created", "Room", Created),
    event("roundtable.room.deleted", "Room", Deleted),
    event("roundtable.message.sent", "Message", Created),
    event("roundtable.assist.opened", "AssistThread", Created),
    event("roundtable.assist.deleted", "AssistThread", Deleted),
    event("roundtable.assist-message.sent", "AssistMsg", Created),
    event("roundtable.company.created", "Company", Created),
    event("roundtable.company.deleted", "Company", Deleted),
    event("roundtable.offer.created", "Offer", Created),
    event("roundtable.offer.updated", "Offer", Updated),
    event("roundtable.offer.deleted", "Offer", Deleted),
    event("roundtable.upload.completed", "Upload", Created),
    event("roundtable.upload.deleted", "Upload", Deleted),
    event("roundtable.promotion.started", "Promotion", Created),
    event("roundtable.promotion.ended", "Promotion", Deleted),
    event("roundtable.notification.created", "Notification", Created),
    event("roundtable.notification.updated", "Notification", Updated),
];

impl EventType {
    /// Returns the event type of a change, if there is one.
    pub fn of(entity: &str, happening: DomainEvent) -> Option<&'static Self> {
        EVENTS.iter().find(|each| (each.entity, each.event) == (entity, happening))
    }

    pub fn named(name: &str) -> Option<&'static Self> {
        EVENTS.iter().find(|each| each.name == name)
    }

    /// Returns whether a subscription to `types` includes the event type `name`.
    pub fn is_subscribed(name: &str, types: &[String]) -> bool {
        types.iter().any(|subscribed| subscribed == name || subscribed == ALL_EVENTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R32, R44: the documented events are the ones that are sent.
    #[test]
    fn every_event_is_documented_and_no_other() {
        let page = include_str!("../../../../docs/EVENTS.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `roundtable."));
        let documented: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
        let defined = EVENTS.iter().filter_map(|event| event.name.strip_prefix("roundtable."));
        assert_eq!(documented, defined.collect::<Vec<_>>());
    }

    #[test]
    fn event_names_are_unique() {
        for (at, event) in EVENTS.iter().enumerate() {
            for other in EVENTS.iter().skip(at + 1) {
                assert_ne!(event.name, other.name);
                assert_ne!((event.entity, event.event), (other.entity, other.event));
            }
        }
    }
}
