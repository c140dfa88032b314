//! Every event that endpoints can be told of: which entity, what happened to it, and what it is called
//! (R32, R44). `docs/EVENTS.md` is checked against this table.

use Happening::{Appeared, Changed, Gone};

/// Stands for all events there are, and will be.
pub const ALL_EVENTS: &str = "*";

/// An event that endpoints can be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventType {
    /// What it is called, as `type` of the event says.
    pub name: &'static str,
    /// The entity it happened to.
    pub entity: &'static str,
    /// What happened.
    pub happening: Happening,
}

/// What happened to an entity. Whether it is there is up to the entity: a tombstone is not, and neither
/// is a follow that waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// It is there, and was not before.
    Appeared,
    /// It is there, says something else than before, and people would notice.
    Changed,
    /// It is not there any more.
    Gone,
}

const fn event(name: &'static str, entity: &'static str, happening: Happening) -> EventType {
    EventType { name, entity, happening }
}

/// Every event there is.
pub const EVENTS: &[EventType] = &[
    event("roundtable.user.registered", "User", Appeared),
    event("roundtable.user.updated", "User", Changed),
    event("roundtable.user.deleted", "User", Gone),
    event("roundtable.follow.created", "Follow", Appeared),
    event("roundtable.follow.deleted", "Follow", Gone),
    event("roundtable.group.created", "Group", Appeared),
    event("roundtable.group.updated", "Group", Changed),
    event("roundtable.group.deleted", "Group", Gone),
    event("roundtable.member.joined", "GroupMember", Appeared),
    event("roundtable.member.updated", "GroupMember", Changed),
    event("roundtable.member.left", "GroupMember", Gone),
    event("roundtable.activity.posted", "Activity", Appeared),
    event("roundtable.post.created", "Post", Appeared),
    event("roundtable.post.updated", "Post", Changed),
    event("roundtable.post.deleted", "Post", Gone),
    event("roundtable.comment.created", "Comment", Appeared),
    event("roundtable.comment.updated", "Comment", Changed),
    event("roundtable.comment.deleted", "Comment", Gone),
    event("roundtable.like.created", "Like", Appeared),
    event("roundtable.like.deleted", "Like", Gone),
    event("roundtable.comment-like.created", "CommentLike", Appeared),
    event("roundtable.comment-like.deleted", "CommentLike", Gone),
    event("roundtable.share.created", "Share", Appeared),
    event("roundtable.share.deleted", "Share", Gone),
    event("roundtable.case.opened", "ModerationCase", Appeared),
    event("roundtable.case.updated", "ModerationCase", Changed),
    event("roundtable.goal.created", "Goal", Appeared),
    event("roundtable.goal.updated", "Goal", Changed),
    event("roundtable.goal.deleted", "Goal", Gone),
    event("roundtable.task.created", "Task", Appeared),
    event("roundtable.task.updated", "Task", Changed),
    event("roundtable.task.deleted", "Task", Gone),
    event("roundtable.milestone.created", "Milestone", Appeared),
    event("roundtable.milestone.updated", "Milestone", Changed),
    event("roundtable.milestone.deleted", "Milestone", Gone),
    event("roundtable.quest.created", "Quest", Appeared),
    event("roundtable.quest.updated", "Quest", Changed),
    event("roundtable.quest.deleted", "Quest", Gone),
    event("roundtable.xp.earned", "XpEntry", Appeared),
    event("roundtable.room.created", "Room", Appeared),
    event("roundtable.room.deleted", "Room", Gone),
    event("roundtable.message.sent", "Message", Appeared),
    event("roundtable.assist.opened", "AssistThread", Appeared),
    event("roundtable.assist.deleted", "AssistThread", Gone),
    event("roundtable.assist-message.sent", "AssistMsg", Appeared),
    event("roundtable.company.created", "Company", Appeared),
    event("roundtable.company.deleted", "Company", Gone),
    event("roundtable.offer.created", "Offer", Appeared),
    event("roundtable.offer.updated", "Offer", Changed),
    event("roundtable.offer.deleted", "Offer", Gone),
    event("roundtable.upload.completed", "Upload", Appeared),
    event("roundtable.upload.deleted", "Upload", Gone),
    event("roundtable.promotion.started", "Promotion", Appeared),
    event("roundtable.promotion.ended", "Promotion", Gone),
];

impl EventType {
    /// The event of an entity to which something happened, if endpoints can be told of it.
    pub fn of(entity: &str, happening: Happening) -> Option<&'static Self> {
        EVENTS.iter().find(|each| (each.entity, each.happening) == (entity, happening))
    }

    /// The event that is called so, if there is one.
    pub fn named(name: &str) -> Option<&'static Self> {
        EVENTS.iter().find(|each| each.name == name)
    }

    /// Whether somebody who asked for these types asked for the one of this name.
    pub fn is_asked_for(name: &str, types: &[String]) -> bool {
        types.iter().any(|wanted| wanted == name || wanted == ALL_EVENTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R32, R44: what is documented is what is sent.
    #[test]
    fn every_event_is_documented_and_no_other() {
        let page = include_str!("../../../../docs/EVENTS.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `roundtable."));
        let documented: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
        let there = EVENTS.iter().filter_map(|event| event.name.strip_prefix("roundtable."));
        assert_eq!(documented, there.collect::<Vec<_>>());
    }

    #[test]
    fn a_happening_has_one_name_and_a_name_one_happening() {
        for (at, event) in EVENTS.iter().enumerate() {
            for other in EVENTS.iter().skip(at + 1) {
                assert_ne!(event.name, other.name);
                assert_ne!((event.entity, event.happening), (other.entity, other.happening));
            }
        }
    }
}
