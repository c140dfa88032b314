//! Causes of notifications and their keys. The same cause has the same key, so it notifies once.
//!
//! Repeated actions on one object collapse into one notification per hour ([`COLLAPSE_MS`]). Its
//! key contains the hour, never an actor. So a like that is repeated, late or undone finds the one
//! item it belongs to and changes only the actor named there.

use roundtable_model::entities::{Notification, ObjectRef};
use roundtable_model::{
    CommentId, EntityKind, Expiry, GoalId, GroupId, MessageId, NotificationId, NotificationKind,
    PostId, QuestId, RoomId, SubjectId, TaskId, ThreadId, Time, UserId,
};

use crate::{Context, ServiceError};

/// The window in which likes and shares of a post, likes of a comment, or messages of a user collapse into
/// one notification.
pub const COLLAPSE_MS: u64 = 60 * 60 * 1000;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The cause of a notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub user: UserId,
    pub kind: NotificationKind,
    /// `None` for the system, and where the actor is confidential.
    pub actor: Option<UserId>,
    pub about: CauseObject,
    pub at: Time,
}

/// The object of a notification, with the container it is stored in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CauseObject {
    Person(UserId),
    Post(PostId),
    Comment(PostId, CommentId),
    Message(RoomId, MessageId),
    Group(GroupId),
    /// A user's request to join a group.
    JoinRequest(GroupId, UserId),
    Quest(QuestId),
    Task(GoalId, TaskId),
    /// A request for help, and the user who opened or answered it.
    Assist(ThreadId, UserId),
}

impl CauseObject {
    pub(super) fn object(&self) -> ObjectRef {
        let (entity, id) = match self {
            Self::Person(id) | Self::Assist(_, id) => (EntityKind::User, id.into()),
            Self::Post(id) => (EntityKind::Post, id.into()),
            Self::Comment(_, id) => (EntityKind::Comment, id.into()),
            Self::Message(_, id) => (EntityKind::Message, id.into()),
            Self::Group(id) | Self::JoinRequest(id, _) => (EntityKind::Group, id.into()),
            Self::Quest(id) => (EntityKind::Quest, id.into()),
            Self::Task(_, id) => (EntityKind::Task, id.into()),
        };
        ObjectRef { entity, id }
    }

    /// The container the object is stored in.
    fn within(&self) -> Option<SubjectId> {
        match self {
            Self::Comment(post, _) => Some(post.into()),
            Self::Message(room, _) => Some(room.into()),
            Self::Task(goal, _) => Some(goal.into()),
            Self::JoinRequest(_, user) => Some(user.into()),
            Self::Assist(thread, _) => Some(thread.into()),
            Self::Person(_) | Self::Post(_) | Self::Group(_) | Self::Quest(_) => None,
        }
    }

    /// `None` if the object can no longer be identified.
    fn of(note: &Notification) -> Option<Self> {
        let ObjectRef { entity, id } = note.object.as_ref()?;
        let within = note.within.as_ref();
        Some(match entity {
            EntityKind::User => match within {
                Some(thread) => Self::Assist(thread.recast(), id.recast()),
                None => Self::Person(id.recast()),
            },
            EntityKind::Post => Self::Post(id.recast()),
            EntityKind::Comment => Self::Comment(within?.recast(), id.recast()),
            EntityKind::Message => Self::Message(within?.recast(), id.recast()),
            EntityKind::Group => match within {
                Some(user) => Self::JoinRequest(id.recast(), user.recast()),
                None => Self::Group(id.recast()),
            },
            EntityKind::Quest => Self::Quest(id.recast()),
            EntityKind::Task => Self::Task(within?.recast(), id.recast()),
            _ => return None,
        })
    }

    /// The text that stays the same while more actions collapse, and differs between other causes.
    fn collapse_key(&self) -> String {
        match self {
            Self::Message(room, _) => room.to_string(),
            Self::JoinRequest(group, user) => format!("{group}#{user}"),
            Self::Assist(thread, user) => format!("{thread}#{user}"),
            other => other.object().id.to_string(),
        }
    }
}

impl Cause {
    /// `None` if the object can no longer be identified.
    pub(super) fn of(note: &Notification) -> Option<Self> {
        let (user, actor) = (note.user_id.clone(), note.actor_id.clone());
        Some(Self {
            user,
            kind: note.kind,
            actor,
            about: CauseObject::of(note)?,
            at: note.created_at,
        })
    }

    pub fn notification(&self, context: &Context) -> Result<Notification, ServiceError> {
        let created_at = if collapses(self.kind) { collapse_hour(self.at) } else { self.at };
        let days = u64::from(context.settings().notifications.ttl_days);
        Ok(Notification {
            user_id: self.user.clone(),
            id: self.id(created_at)?,
            kind: self.kind,
            actor_id: self.actor.clone(),
            object: Some(self.about.object()),
            within: self.about.within(),
            latest_at: None,
            read_at: None,
            created_at,
            // A collapsed notification must outlive the last action of its hour.
            ttl: Expiry::at(created_at.plus_ms(days * DAY_MS + COLLAPSE_MS)),
        })
    }

    /// A ULID of this time whose other bits are a hash of the cause.
    fn id(&self, at: Time) -> Result<NotificationId, ServiceError> {
        let text = format!("{}#{}#{}", self.user, self.kind, self.about.collapse_key());
        let hash = blake3::hash(text.as_bytes());
        let random_bits = hash.as_bytes().iter().take(10);
        let random_bits = random_bits.fold(0, |bits: u128, byte| bits << 8 | u128::from(*byte));
        let ulid = u128::from(at.ms()) << 80 | random_bits;
        let digit = |index: u32| {
            let value = usize::try_from(ulid >> (5 * index) & 31).unwrap_or_default();
            DIGITS.get(value).copied().map_or('0', char::from)
        };
        let text: String = (0..26).rev().map(digit).collect();
        text.parse().map_err(|invalid: roundtable_model::InvalidValue| {
            ServiceError::Internal(invalid.to_string())
        })
    }
}

/// Returns whether notifications of this kind collapse.
pub const fn collapses(kind: NotificationKind) -> bool {
    matches!(
        kind,
        NotificationKind::Like
            | NotificationKind::CommentLike
            | NotificationKind::Share
            | NotificationKind::Message
    )
}

/// The start of the hour that an action collapses into.
pub const fn collapse_hour(at: Time) -> Time {
    Time::from_ms(at.ms() / COLLAPSE_MS * COLLAPSE_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(kind: NotificationKind, actor: &str, at_ms: u64) -> Cause {
        let about = CauseObject::Post("hello".parse().unwrap());
        let (user, actor) = ("ana".parse().unwrap(), Some(actor.parse().unwrap()));
        Cause { user, kind, actor, about, at: Time::from_ms(at_ms) }
    }

    #[test]
    fn an_id_contains_its_time_and_is_stable_for_a_cause() {
        let at = Time::from_ms(1_737_991_800_123);
        let id = |kind, actor| cause(kind, actor, at.ms()).id(at).unwrap();
        let mention = id(NotificationKind::Mention, "bo");
        assert_eq!(mention.time(), Some(at));
        assert_eq!(mention.to_string().len(), 26);
        assert_eq!(mention, id(NotificationKind::Mention, "bo"));
        assert_ne!(mention, id(NotificationKind::Like, "bo"));
    }

    #[test]
    fn notifications_collapse_within_an_hour() {
        assert_eq!(
            collapse_hour(Time::from_ms(COLLAPSE_MS * 7 + 1)),
            Time::from_ms(COLLAPSE_MS * 7)
        );
        assert_eq!(collapse_hour(Time::from_ms(COLLAPSE_MS * 7)), Time::from_ms(COLLAPSE_MS * 7));
        assert!(collapses(NotificationKind::Like) && !collapses(NotificationKind::Comment));
    }
}
