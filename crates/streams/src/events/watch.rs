//! Which changes are events: when an entity counts as there, what of it people notice, and the ids by
//! which an event names it. Only ids are taken out of a change.

use std::collections::BTreeMap;

use roundtable_domain::{EventType, Happening};
use roundtable_model::entities::{
    Activity, AssistMsg, AssistThread, Comment, CommentLike, Company, Follow, Goal, Group,
    GroupMember, Like, Message, Milestone, ModerationCase, Offer, Post, Promotion, Quest, Room,
    Share, Task, Upload, User, XpEntry,
};
use roundtable_model::table::{Change, Item, Scalar, ValueRef};
use roundtable_model::{Entity, FollowStatus, MemberStatus, TYPE, Time, UploadState, UserStatus};
use serde::{Deserialize, Serialize};

use super::waiting::hash;
use crate::processor::entity;

/// An event as it waits: what happened to what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Happened {
    /// The same whenever it follows from the same change.
    pub(super) id: String,
    /// What the type of the event is called: one that another version knows can wait, too.
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) subject: String,
    pub(super) time: Time,
    pub(super) ids: BTreeMap<String, String>,
}

/// How an entity is watched.
struct Watch {
    entity: &'static str,
    there: There,
    /// What events call its ids, and where they are. Those that the subject is made of come first.
    ids: &'static [(&'static str, &'static str)],
    /// How many of them the subject is made of.
    subject: usize,
    /// What people notice when it changes.
    noticed: &'static [&'static str],
}

/// When an entity counts as there.
enum There {
    Always,
    /// While an attribute is this word.
    While(&'static str, &'static str),
    /// Unless it is this one.
    Unless(&'static str, &'static str),
    /// While it is true.
    WhileTrue(&'static str),
    /// Unless it is true.
    UnlessTrue(&'static str),
}

/// The entities that are watched.
pub(super) const ENTITIES: &[&str] = &[
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
];

const WATCHED: &[Watch] = &[
    Watch {
        entity: User::SHAPE.name,
        there: There::Unless(User::STATUS.name(), UserStatus::Deleted.as_str()),
        ids: &[("userId", User::ID.name())],
        subject: 1,
        noticed: &[
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
    Watch {
        entity: Follow::SHAPE.name,
        there: There::While(Follow::STATUS.name(), FollowStatus::Active.as_str()),
        ids: &[
            ("followerId", Follow::FOLLOWER_ID.name()),
            ("followeeId", Follow::FOLLOWEE_ID.name()),
        ],
        subject: 2,
        noticed: &[],
    },
    Watch {
        entity: Group::SHAPE.name,
        there: There::Always,
        ids: &[("groupId", Group::ID.name()), ("ownerId", Group::OWNER_ID.name())],
        subject: 1,
        noticed: &[
            Group::NAME.name(),
            Group::DESCRIPTION.name(),
            Group::OWNER_ID.name(),
            Group::TAGS.name(),
            Group::IS_PRIVATE.name(),
        ],
    },
    Watch {
        entity: GroupMember::SHAPE.name,
        there: There::While(GroupMember::STATUS.name(), MemberStatus::Active.as_str()),
        ids: &[("groupId", GroupMember::GROUP_ID.name()), ("userId", GroupMember::USER_ID.name())],
        subject: 2,
        noticed: &[GroupMember::ROLE.name()],
    },
    Watch {
        entity: Activity::SHAPE.name,
        there: There::Always,
        ids: &[
            ("activityId", Activity::ACTIVITY_ID.name()),
            ("actorId", Activity::ACTOR_ID.name()),
            ("groupId", Activity::GROUP_ID.name()),
        ],
        subject: 1,
        noticed: &[],
    },
    Watch {
        entity: Post::SHAPE.name,
        there: There::UnlessTrue(Post::IS_DELETED.name()),
        ids: &[
            ("postId", Post::ID.name()),
            ("authorId", Post::AUTHOR_ID.name()),
            ("groupId", Post::GROUP_ID.name()),
        ],
        subject: 1,
        noticed: &[
            Post::CONTENT.name(),
            Post::MEDIA.name(),
            Post::VISIBILITY.name(),
            Post::MODERATION_STATUS.name(),
        ],
    },
    Watch {
        entity: Comment::SHAPE.name,
        there: There::UnlessTrue(Comment::IS_DELETED.name()),
        ids: &[
            ("commentId", Comment::ID.name()),
            ("postId", Comment::POST_ID.name()),
            ("userId", Comment::USER_ID.name()),
            ("parentCommentId", Comment::PARENT_COMMENT_ID.name()),
        ],
        subject: 1,
        noticed: &[Comment::CONTENT.name(), Comment::MODERATION_STATUS.name()],
    },
    Watch {
        entity: Like::SHAPE.name,
        there: There::Always,
        ids: &[("postId", Like::POST_ID.name()), ("userId", Like::USER_ID.name())],
        subject: 2,
        noticed: &[],
    },
    Watch {
        entity: CommentLike::SHAPE.name,
        there: There::Always,
        ids: &[
            ("commentId", CommentLike::COMMENT_ID.name()),
            ("userId", CommentLike::USER_ID.name()),
            ("postId", CommentLike::POST_ID.name()),
        ],
        subject: 2,
        noticed: &[],
    },
    Watch {
        entity: Share::SHAPE.name,
        there: There::Always,
        ids: &[
            ("postId", Share::POST_ID.name()),
            ("userId", Share::USER_ID.name()),
            ("activityId", Share::ACTIVITY_ID.name()),
        ],
        subject: 2,
        noticed: &[],
    },
    Watch {
        entity: ModerationCase::SHAPE.name,
        there: There::Always,
        ids: &[
            ("caseId", ModerationCase::ID.name()),
            ("postId", ModerationCase::POST_ID.name()),
            ("commentId", ModerationCase::COMMENT_ID.name()),
        ],
        subject: 1,
        noticed: &[ModerationCase::STATUS.name()],
    },
    Watch {
        entity: Goal::SHAPE.name,
        there: There::Always,
        ids: &[("goalId", Goal::ID.name()), ("userId", Goal::USER_ID.name())],
        subject: 1,
        noticed: &[
            Goal::TITLE.name(),
            Goal::DESCRIPTION.name(),
            Goal::TAGS.name(),
            Goal::STATUS.name(),
        ],
    },
    Watch {
        entity: Task::SHAPE.name,
        there: There::Always,
        ids: &[
            ("taskId", Task::ID.name()),
            ("goalId", Task::GOAL_ID.name()),
            ("userId", Task::USER_ID.name()),
        ],
        subject: 1,
        noticed: &[Task::TITLE.name(), Task::DUE_AT.name(), Task::DONE.name()],
    },
    Watch {
        entity: Milestone::SHAPE.name,
        there: There::Always,
        ids: &[
            ("milestoneId", Milestone::ID.name()),
            ("goalId", Milestone::GOAL_ID.name()),
            ("userId", Milestone::USER_ID.name()),
        ],
        subject: 1,
        noticed: &[
            Milestone::NAME.name(),
            Milestone::PERCENTAGE.name(),
            Milestone::ACHIEVED.name(),
        ],
    },
    Watch {
        entity: Quest::SHAPE.name,
        there: There::Always,
        ids: &[("questId", Quest::ID.name()), ("userId", Quest::USER_ID.name())],
        subject: 1,
        noticed: &[Quest::TITLE.name(), Quest::STATUS.name()],
    },
    Watch {
        entity: XpEntry::SHAPE.name,
        there: There::Always,
        ids: &[("questId", XpEntry::QUEST_ID.name()), ("userId", XpEntry::USER_ID.name())],
        subject: 1,
        noticed: &[],
    },
    Watch {
        entity: Room::SHAPE.name,
        there: There::Always,
        ids: &[("roomId", Room::ID.name()), ("groupId", Room::GROUP_ID.name())],
        subject: 1,
        noticed: &[],
    },
    Watch {
        entity: Message::SHAPE.name,
        there: There::Always,
        ids: &[
            ("messageId", Message::ID.name()),
            ("roomId", Message::ROOM_ID.name()),
            ("userId", Message::USER_ID.name()),
        ],
        subject: 1,
        noticed: &[],
    },
    Watch {
        entity: AssistThread::SHAPE.name,
        there: There::Always,
        ids: &[
            ("threadId", AssistThread::THREAD_ID.name()),
            ("userId", AssistThread::USER_ID.name()),
        ],
        subject: 1,
        noticed: &[],
    },
    Watch {
        entity: AssistMsg::SHAPE.name,
        there: There::Always,
        ids: &[
            ("messageId", AssistMsg::ID.name()),
            ("threadId", AssistMsg::THREAD_ID.name()),
            ("userId", AssistMsg::USER_ID.name()),
        ],
        subject: 1,
        noticed: &[],
    },
    Watch {
        entity: Company::SHAPE.name,
        there: There::Always,
        ids: &[("companyId", Company::ID.name()), ("ownerId", Company::OWNER_ID.name())],
        subject: 1,
        noticed: &[],
    },
    Watch {
        entity: Offer::SHAPE.name,
        there: There::Always,
        ids: &[("offerId", Offer::ID.name()), ("companyId", Offer::COMPANY_ID.name())],
        subject: 1,
        noticed: &[Offer::TITLE.name(), Offer::TAGS.name(), Offer::STATUS.name()],
    },
    Watch {
        entity: Upload::SHAPE.name,
        there: There::While(Upload::STATE.name(), UploadState::Complete.as_str()),
        ids: &[("mediaKey", Upload::KEY.name()), ("userId", Upload::USER_ID.name())],
        subject: 1,
        noticed: &[],
    },
    Watch {
        entity: Promotion::SHAPE.name,
        there: There::WhileTrue(Promotion::FANOUT_ENABLED.name()),
        ids: &[
            ("subjectId", Promotion::SUBJECT_ID.name()),
            ("userId", Promotion::USER_ID.name()),
            ("groupId", Promotion::GROUP_ID.name()),
        ],
        subject: 1,
        noticed: &[],
    },
];

impl Happened {
    /// The event that a change is, if it is one.
    pub(super) fn of(change: &Change) -> Option<Self> {
        let name = entity(change)?;
        let watch = WATCHED.iter().find(|watch| watch.entity == name)?;
        let is_there = |item: &&Item| item.text(TYPE).is_some() && watch.there.holds(item);
        let old = change.old.as_ref().filter(is_there);
        let new = change.new.as_ref().filter(is_there);
        let (happening, item) = match (old, new) {
            (None, Some(new)) => (Happening::Appeared, new),
            (Some(old), Some(new)) => {
                let other = |name: &&str| old.get(name) != new.get(name);
                watch.noticed.iter().any(other).then_some((Happening::Changed, new))?
            }
            (Some(old), None) => (Happening::Gone, old),
            (None, None) => return None,
        };
        let kind = EventType::of(name, happening)?;
        let ids = || watch.ids.iter().filter_map(|(name, at)| Some((*name, item.text(at)?)));
        let subject: Vec<&str> = ids().take(watch.subject).map(|(_, id)| id).collect();
        Some(Self {
            id: id_of(change),
            kind: kind.name.to_owned(),
            subject: subject.join("/"),
            time: Time::from_ms(change.at_ms),
            ids: ids().map(|(name, id)| (name.to_owned(), id.to_owned())).collect(),
        })
    }
}

impl There {
    fn holds(&self, item: &Item) -> bool {
        match self {
            Self::Always => true,
            Self::While(name, word) => item.text(name) == Some(word),
            Self::Unless(name, word) => item.text(name) != Some(word),
            Self::WhileTrue(name) => item.get(name) == Some(ValueRef::Bool(true)),
            Self::UnlessTrue(name) => item.get(name) != Some(ValueRef::Bool(true)),
        }
    }
}

/// What the event of a change is known by: the item, and which of its changes it is. A change is one
/// event at most.
fn id_of(change: &Change) -> String {
    let part = |scalar: &Scalar| scalar.as_text().unwrap_or_default().to_owned();
    let sort = change.key.sort.as_ref().map(part).unwrap_or_default();
    let partition = part(&change.key.partition);
    hash([partition.as_str(), &sort, change.sequence.as_str(), &change.at_ms.to_string()])
}

#[cfg(test)]
mod tests {
    use roundtable_domain::EVENTS;

    use super::*;

    /// R44: no event is promised that nobody looks out for, and none is looked out for in vain.
    #[test]
    fn what_is_watched_is_what_is_told() {
        assert_eq!(WATCHED.iter().map(|watch| watch.entity).collect::<Vec<_>>(), ENTITIES);
        for event in EVENTS {
            assert!(ENTITIES.contains(&event.entity), "nobody watches {}", event.entity);
        }
        for watch in WATCHED {
            let happens = |happening| EventType::of(watch.entity, happening).is_some();
            assert!(happens(Happening::Appeared), "{}", watch.entity);
            assert_eq!(happens(Happening::Changed), !watch.noticed.is_empty(), "{}", watch.entity);
            assert!((1..=watch.ids.len()).contains(&watch.subject));
        }
    }

    /// I9: what must never be told is not even looked at.
    #[test]
    fn secrets_are_not_watched() {
        for entity in
            ["Credential", "Session", "ApiKey", "EmailLock", "Invitation", "Block", "Report"]
        {
            assert!(!ENTITIES.contains(&entity));
        }
        for watch in WATCHED {
            let names = watch.ids.iter().map(|(_, at)| at);
            let is_id = |at: &str| {
                at.ends_with("Id")
                    || at == "id"
                    || (watch.entity, at) == ("Upload", Upload::KEY.name())
            };
            assert!(names.clone().all(|at| is_id(at)), "{}", watch.entity);
        }
    }
}
