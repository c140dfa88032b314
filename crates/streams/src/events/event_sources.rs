//! Defines which changes are events: when an entity counts as present, the attributes whose changes
//! matter, and the ids that an event carries. Only ids are copied from a change.

use std::collections::BTreeMap;

use roundtable_domain::{DomainEvent, EventType};
use roundtable_model::entities::{
    Activity, AssistMsg, AssistThread, Comment, CommentLike, Company, Follow, Goal, Group,
    GroupMember, Like, Message, Milestone, ModerationCase, Notification, Offer, Post, Promotion,
    Quest, Room, Share, Task, Upload, User, XpEntry,
};
use roundtable_model::table::{Change, Item, Scalar, ValueRef};
use roundtable_model::{Entity, FollowStatus, MemberStatus, TYPE, Time, UploadState, UserStatus};
use serde::{Deserialize, Serialize};

use super::outbox::hash;
use crate::processor::entity_type;

/// An event in an outbox: its type and the ids of its entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingEvent {
    /// Derived from the change, so that a change delivered again yields the same id.
    pub(super) id: String,
    /// The name of the event type. A name, because the event may come from another version.
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) subject: String,
    pub(super) time: Time,
    pub(super) ids: BTreeMap<String, String>,
}

struct WatchedEntity {
    entity: &'static str,
    presence: Presence,
    /// The names of its ids in events, and their attributes. The subject's come first.
    ids: &'static [(&'static str, &'static str)],
    /// The number of ids that make up the subject.
    subject: usize,
    /// The attributes whose changes are events.
    tracked: &'static [&'static str],
}

/// The condition under which an entity counts as present.
enum Presence {
    Always,
    /// While an attribute has this value.
    While(&'static str, &'static str),
    /// Unless an attribute has this value.
    Unless(&'static str, &'static str),
    /// While an attribute is true.
    WhileTrue(&'static str),
    /// Unless an attribute is true.
    UnlessTrue(&'static str),
}

pub(super) const WATCHED_ENTITIES: &[&str] = &[
    User::SHAPE.name,
    Follow::SHAPE.name,
    Group::SHAPE.name,
    GroupMember::SHAPE.name,
    Activity::SHAPE.name,
    Post::SHAPE.name,
    Comment::SHAPE.name,
    Like::SHAPE.name,
    CommentLike::SHAPE.name,
    Share::SHAPE.name,
    ModerationCase::SHAPE.name,
    Goal::SHAPE.name,
    Task::SHAPE.name,
    Milestone::SHAPE.name,
    Quest::SHAPE.name,
    XpEntry::SHAPE.name,
    Room::SHAPE.name,
    Message::SHAPE.name,
    AssistThread::SHAPE.name,
    AssistMsg::SHAPE.name,
    Company::SHAPE.name,
    Offer::SHAPE.name,
    Upload::SHAPE.name,
    Promotion::SHAPE.name,
    Notification::SHAPE.name,
];

const EVENT_SOURCES: &[WatchedEntity] = &[
    WatchedEntity {
        entity: User::SHAPE.name,
        presence: Presence::Unless(User::STATUS.name(), UserStatus::Deleted.as_str()),
        ids: &[("userId", User::ID.name())],
        subject: 1,
        tracked: &[
            User::NICKNAME.name(),
            User::DISPLAY_NAME.name(),
            User::STATUS.name(),
            User::ROLES.name(),
            User::BIO.name(),
            User::TAGS.name(),
            User::PROFILE_IMAGE_URL.name(),
            User::IS_VERIFIED.name(),
            User::IS_PRIVATE.name(),
            User::HANDLE.name(),
        ],
    },
    WatchedEntity {
        entity: Follow::SHAPE.name,
        presence: Presence::While(Follow::STATUS.name(), FollowStatus::Active.as_str()),
        ids: &[
            ("followerId", Follow::FOLLOWER_ID.name()),
            ("followeeId", Follow::FOLLOWEE_ID.name()),
        ],
        subject: 2,
        tracked: &[],
    },
    WatchedEntity {
        entity: Group::SHAPE.name,
        presence: Presence::Always,
        ids: &[("groupId", Group::ID.name()), ("ownerId", Group::OWNER_ID.name())],
        subject: 1,
        tracked: &[
            Group::NAME.name(),
            Group::DESCRIPTION.name(),
            Group::OWNER_ID.name(),
            Group::TAGS.name(),
            Group::IS_PRIVATE.name(),
        ],
    },
    WatchedEntity {
        entity: GroupMember::SHAPE.name,
        presence: Presence::While(GroupMember::STATUS.name(), MemberStatus::Active.as_str()),
        ids: &[("groupId", GroupMember::GROUP_ID.name()), ("userId", GroupMember::USER_ID.name())],
        subject: 2,
        tracked: &[GroupMember::ROLE.name()],
    },
    WatchedEntity {
        entity: Activity::SHAPE.name,
        presence: Presence::Always,
        ids: &[
            ("activityId", Activity::ACTIVITY_ID.name()),
            ("actorId", Activity::ACTOR_ID.name()),
            ("groupId", Activity::GROUP_ID.name()),
        ],
        subject: 1,
        tracked: &[],
    },
    WatchedEntity {
        entity: Post::SHAPE.name,
        presence: Presence::UnlessTrue(Post::IS_DELETED.name()),
        ids: &[
            ("postId", Post::ID.name()),
            ("authorId", Post::AUTHOR_ID.name()),
            ("groupId", Post::GROUP_ID.name()),
        ],
        subject: 1,
        tracked: &[
            Post::CONTENT.name(),
            Post::MEDIA.name(),
            Post::VISIBILITY.name(),
            Post::MODERATION_STATUS.name(),
        ],
    },
    WatchedEntity {
        entity: Comment::SHAPE.name,
        presence: Presence::UnlessTrue(Comment::IS_DELETED.name()),
        ids: &[
            ("commentId", Comment::ID.name()),
            ("postId", Comment::POST_ID.name()),
            ("userId", Comment::USER_ID.name()),
            ("parentCommentId", Comment::PARENT_COMMENT_ID.name()),
        ],
        subject: 1,
        tracked: &[Comment::CONTENT.name(), Comment::MODERATION_STATUS.name()],
    },
    WatchedEntity {
        entity: Like::SHAPE.name,
        presence: Presence::Always,
        ids: &[("postId", Like::POST_ID.name()), ("userId", Like::USER_ID.name())],
        subject: 2,
        tracked: &[],
    },
    WatchedEntity {
        entity: CommentLike::SHAPE.name,
        presence: Presence::Always,
        ids: &[
            ("commentId", CommentLike::COMMENT_ID.name()),
            ("userId", CommentLike::USER_ID.name()),
            ("postId", CommentLike::POST_ID.name()),
        ],
        subject: 2,
        tracked: &[],
    },
    WatchedEntity {
        entity: Share::SHAPE.name,
        presence: Presence::Always,
        ids: &[
            ("postId", Share::POST_ID.name()),
            ("userId", Share::USER_ID.name()),
            ("activityId", Share::ACTIVITY_ID.name()),
        ],
        subject: 2,
        tracked: &[],
    },
    WatchedEntity {
        entity: ModerationCase::SHAPE.name,
        presence: Presence::Always,
        ids: &[
            ("caseId", ModerationCase::ID.name()),
            ("postId", ModerationCase::POST_ID.name()),
            ("commentId", ModerationCase::COMMENT_ID.name()),
        ],
        subject: 1,
        tracked: &[ModerationCase::STATUS.name()],
    },
    WatchedEntity {
        entity: Goal::SHAPE.name,
        presence: Presence::Always,
        ids: &[("goalId", Goal::ID.name()), ("userId", Goal::USER_ID.name())],
        subject: 1,
        tracked: &[
            Goal::TITLE.name(),
            Goal::DESCRIPTION.name(),
            Goal::TAGS.name(),
            Goal::STATUS.name(),
        ],
    },
    WatchedEntity {
        entity: Task::SHAPE.name,
        presence: Presence::Always,
        ids: &[
            ("taskId", Task::ID.name()),
            ("goalId", Task::GOAL_ID.name()),
            ("userId", Task::USER_ID.name()),
        ],
        subject: 1,
        tracked: &[Task::TITLE.name(), Task::DUE_AT.name(), Task::DONE.name()],
    },
    WatchedEntity {
        entity: Milestone::SHAPE.name,
        presence: Presence::Always,
        ids: &[
            ("milestoneId", Milestone::ID.name()),
            ("goalId", Milestone::GOAL_ID.name()),
            ("userId", Milestone::USER_ID.name()),
        ],
        subject: 1,
        tracked: &[
            Milestone::NAME.name(),
            Milestone::PERCENTAGE.name(),
            Milestone::ACHIEVED.name(),
        ],
    },
    WatchedEntity {
        entity: Quest::SHAPE.name,
        presence: Presence::Always,
        ids: &[("questId", Quest::ID.name()), ("userId", Quest::USER_ID.name())],
        subject: 1,
        tracked: &[Quest::TITLE.name(), Quest::STATUS.name()],
    },
    WatchedEntity {
        entity: XpEntry::SHAPE.name,
        presence: Presence::Always,
        ids: &[("questId", XpEntry::QUEST_ID.name()), ("userId", XpEntry::USER_ID.name())],
        subject: 1,
        tracked: &[],
    },
    WatchedEntity {
        entity: Room::SHAPE.name,
        presence: Presence::Always,
        ids: &[("roomId", Room::ID.name()), ("groupId", Room::GROUP_ID.name())],
        subject: 1,
        tracked: &[],
    },
    WatchedEntity {
        entity: Message::SHAPE.name,
        presence: Presence::Always,
        ids: &[
            ("messageId", Message::ID.name()),
            ("roomId", Message::ROOM_ID.name()),
            ("userId", Message::USER_ID.name()),
        ],
        subject: 1,
        tracked: &[],
    },
    WatchedEntity {
        entity: AssistThread::SHAPE.name,
        presence: Presence::Always,
        ids: &[
            ("threadId", AssistThread::THREAD_ID.name()),
            ("userId", AssistThread::USER_ID.name()),
        ],
        subject: 1,
        tracked: &[],
    },
    WatchedEntity {
        entity: AssistMsg::SHAPE.name,
        presence: Presence::Always,
        ids: &[
            ("messageId", AssistMsg::ID.name()),
            ("threadId", AssistMsg::THREAD_ID.name()),
            ("userId", AssistMsg::USER_ID.name()),
        ],
        subject: 1,
        tracked: &[],
    },
    WatchedEntity {
        entity: Company::SHAPE.name,
        presence: Presence::Always,
        ids: &[("companyId", Company::ID.name()), ("ownerId", Company::OWNER_ID.name())],
        subject: 1,
        tracked: &[],
    },
    WatchedEntity {
        entity: Offer::SHAPE.name,
        presence: Presence::Always,
        ids: &[("offerId", Offer::ID.name()), ("companyId", Offer::COMPANY_ID.name())],
        subject: 1,
        tracked: &[Offer::TITLE.name(), Offer::TAGS.name(), Offer::STATUS.name()],
    },
    WatchedEntity {
        entity: Upload::SHAPE.name,
        presence: Presence::While(Upload::STATE.name(), UploadState::Complete.as_str()),
        ids: &[("mediaKey", Upload::KEY.name()), ("userId", Upload::USER_ID.name())],
        subject: 1,
        tracked: &[],
    },
    WatchedEntity {
        entity: Promotion::SHAPE.name,
        presence: Presence::WhileTrue(Promotion::FANOUT_ENABLED.name()),
        ids: &[
            ("subjectId", Promotion::SUBJECT_ID.name()),
            ("userId", Promotion::USER_ID.name()),
            ("groupId", Promotion::GROUP_ID.name()),
        ],
        subject: 1,
        tracked: &[],
    },
    // Without the actor and the object, which the recipient may no longer see when it is sent.
    WatchedEntity {
        entity: Notification::SHAPE.name,
        presence: Presence::Always,
        ids: &[
            ("notificationId", Notification::ID.name()),
            ("userId", Notification::USER_ID.name()),
        ],
        subject: 1,
        tracked: &[Notification::LATEST_AT.name()],
    },
];

impl PendingEvent {
    /// Returns the event for a change, if it is one.
    pub(super) fn from_change(change: &Change) -> Option<Self> {
        let name = entity_type(change)?;
        let source = EVENT_SOURCES.iter().find(|source| source.entity == name)?;
        let is_present = |item: &&Item| item.text(TYPE).is_some() && source.presence.holds(item);
        let old = change.old.as_ref().filter(is_present);
        let new = change.new.as_ref().filter(is_present);
        let (event, item) = match (old, new) {
            (None, Some(new)) => (DomainEvent::Created, new),
            (Some(old), Some(new)) => {
                let differs = |name: &&str| old.get(name) != new.get(name);
                source.tracked.iter().any(differs).then_some((DomainEvent::Updated, new))?
            }
            (Some(old), None) => (DomainEvent::Deleted, old),
            (None, None) => return None,
        };
        let kind = EventType::of(name, event)?;
        let ids = || source.ids.iter().filter_map(|(name, at)| Some((*name, item.text(at)?)));
        let subject: Vec<&str> = ids().take(source.subject).map(|(_, id)| id).collect();
        Some(Self {
            id: event_id(change),
            kind: kind.name.to_owned(),
            subject: subject.join("/"),
            time: Time::from_ms(change.at_ms),
            ids: ids().map(|(name, id)| (name.to_owned(), id.to_owned())).collect(),
        })
    }
}

impl Presence {
    fn holds(&self, item: &Item) -> bool {
        match self {
            Self::Always => true,
            Self::While(name, value) => item.text(name) == Some(value),
            Self::Unless(name, value) => item.text(name) != Some(value),
            Self::WhileTrue(name) => item.get(name) == Some(ValueRef::Bool(true)),
            Self::UnlessTrue(name) => item.get(name) != Some(ValueRef::Bool(true)),
        }
    }
}

/// Returns the id of a change's event: a hash of the item and the change. A change is at most one
/// event.
fn event_id(change: &Change) -> String {
    let part = |scalar: &Scalar| scalar.as_text().unwrap_or_default().to_owned();
    let sort = change.key.sort.as_ref().map(part).unwrap_or_default();
    let partition = part(&change.key.partition);
    hash([partition.as_str(), &sort, change.sequence.as_str(), &change.at_ms.to_string()])
}

#[cfg(test)]
mod tests {
    use roundtable_domain::EVENTS;

    use super::*;

    /// R44: every documented event can occur, and every watched entity has events.
    #[test]
    fn watched_entities_match_the_documented_events() {
        assert_eq!(
            EVENT_SOURCES.iter().map(|source| source.entity).collect::<Vec<_>>(),
            WATCHED_ENTITIES
        );
        for event in EVENTS {
            assert!(WATCHED_ENTITIES.contains(&event.entity), "{} is not watched", event.entity);
        }
        for source in EVENT_SOURCES {
            let has_event = |event| EventType::of(source.entity, event).is_some();
            assert!(has_event(DomainEvent::Created), "{}", source.entity);
            assert_eq!(
                has_event(DomainEvent::Updated),
                !source.tracked.is_empty(),
                "{}",
                source.entity
            );
            assert!((1..=source.ids.len()).contains(&source.subject));
        }
    }

    /// I9: entities with secrets are not watched, and only ids are read.
    #[test]
    fn secrets_are_not_watched() {
        for entity in
            ["Credential", "Session", "ApiKey", "EmailLock", "Invitation", "Block", "Report"]
        {
            assert!(!WATCHED_ENTITIES.contains(&entity));
        }
        for source in EVENT_SOURCES {
            let names = source.ids.iter().map(|(_, at)| at);
            let is_id = |at: &str| {
                at.ends_with("Id")
                    || at == "id"
                    || (source.entity, at) == ("Upload", Upload::KEY.name())
            };
            assert!(names.clone().all(|at| is_id(at)), "{}", source.entity);
        }
    }
}
