//! What makes a notification, and where it lies: under the same key for the same cause, so that nobody
//! is told twice.
//!
//! What many do to the same thing is one notification for each hour ([`CROWD_MS`]): its key says the hour
//! in which they did it, never who was first or last. So a like that comes again, late, or is taken back
//! finds the one item it belongs to, and only whom that names can change.

use roundtable_model::entities::{Notification, ObjectRef};
use roundtable_model::{
    CommentId, EntityKind, Expiry, GoalId, GroupId, MessageId, NotificationId, NotificationKind,
    PostId, QuestId, RoomId, SubjectId, TaskId, Time, UserId,
};

use crate::{Failure, Ground};

/// For how long likes and shares of a post, or messages of a person, add up in one notification.
pub const CROWD_MS: u64 = 60 * 60 * 1000;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// The digits of a ULID.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Why somebody is told something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Who is told.
    pub user: UserId,
    /// What happened.
    pub kind: NotificationKind,
    /// Who did it; nobody where the system did, or where it is nobody's business.
    pub actor: Option<UserId>,
    /// To what.
    pub about: About,
    /// When it happened.
    pub at: Time,
}

/// What a notification is about, and where that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// The person who did it.
    Person(UserId),
    /// A post.
    Post(PostId),
    /// A comment on a post.
    Comment(PostId, CommentId),
    /// What somebody wrote in a room.
    Message(RoomId, MessageId),
    /// A group.
    Group(GroupId),
    /// A quest.
    Quest(QuestId),
    /// A task of a goal.
    Task(GoalId, TaskId),
}

impl About {
    pub(super) fn object(&self) -> ObjectRef {
        let (entity, id) = match self {
            Self::Person(id) => (EntityKind::User, id.into()),
            Self::Post(id) => (EntityKind::Post, id.into()),
            Self::Comment(_, id) => (EntityKind::Comment, id.into()),
            Self::Message(_, id) => (EntityKind::Message, id.into()),
            Self::Group(id) => (EntityKind::Group, id.into()),
            Self::Quest(id) => (EntityKind::Quest, id.into()),
            Self::Task(_, id) => (EntityKind::Task, id.into()),
        };
        ObjectRef { entity, id }
    }

    /// Where it is found.
    fn within(&self) -> Option<SubjectId> {
        match self {
            Self::Comment(post, _) => Some(post.into()),
            Self::Message(room, _) => Some(room.into()),
            Self::Task(goal, _) => Some(goal.into()),
            Self::Person(_) | Self::Post(_) | Self::Group(_) | Self::Quest(_) => None,
        }
    }

    /// What a notification is about; `None` where that cannot be found any more.
    fn of(note: &Notification) -> Option<Self> {
        let ObjectRef { entity, id } = note.object.as_ref()?;
        let within = note.within.as_ref();
        Some(match entity {
            EntityKind::User => Self::Person(id.recast()),
            EntityKind::Post => Self::Post(id.recast()),
            EntityKind::Comment => Self::Comment(within?.recast(), id.recast()),
            EntityKind::Message => Self::Message(within?.recast(), id.recast()),
            EntityKind::Group => Self::Group(id.recast()),
            EntityKind::Quest => Self::Quest(id.recast()),
            EntityKind::Task => Self::Task(within?.recast(), id.recast()),
            _ => return None,
        })
    }

    /// What stays the same while more of it adds up.
    fn whole(&self) -> SubjectId {
        match self {
            Self::Message(room, _) => room.into(),
            other => other.object().id,
        }
    }
}

impl Cause {
    /// Why somebody was told something; `None` where what it is about cannot be found any more.
    pub(super) fn of(note: &Notification) -> Option<Self> {
        let (user, actor) = (note.user_id.clone(), note.actor_id.clone());
        Some(Self { user, kind: note.kind, actor, about: About::of(note)?, at: note.created_at })
    }

    /// The notification, unread.
    pub fn notification(&self, ground: &Ground) -> Result<Notification, Failure> {
        let created_at = if adds_up(self.kind) { hour_of(self.at) } else { self.at };
        let days = u64::from(ground.settings().notifications.ttl_days);
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
            // An hour is over before what happened at its end may go.
            ttl: Expiry::at(created_at.plus_ms(days * DAY_MS + CROWD_MS)),
        })
    }

    /// A ULID of the time it lies under, whose other bits follow from the cause.
    fn id(&self, at: Time) -> Result<NotificationId, Failure> {
        let text = format!("{}#{}#{}", self.user, self.kind, self.about.whole());
        let hash = blake3::hash(text.as_bytes());
        let chance = hash.as_bytes().iter().take(10);
        let chance = chance.fold(0, |bits: u128, byte| bits << 8 | u128::from(*byte));
        let ulid = u128::from(at.ms()) << 80 | chance;
        let digit = |place: u32| {
            let value = usize::try_from(ulid >> (5 * place) & 31).unwrap_or_default();
            DIGITS.get(value).copied().map_or('0', char::from)
        };
        let text: String = (0..26).rev().map(digit).collect();
        text.parse()
            .map_err(|misfit: roundtable_model::Misfit| Failure::Internal(misfit.to_string()))
    }
}

/// Whether what many do is one notification.
pub const fn adds_up(kind: NotificationKind) -> bool {
    matches!(kind, NotificationKind::Like | NotificationKind::Share | NotificationKind::Message)
}

/// The beginning of the hour in which something that adds up happened.
pub const fn hour_of(at: Time) -> Time {
    Time::from_ms(at.ms() / CROWD_MS * CROWD_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(kind: NotificationKind, actor: &str, at_ms: u64) -> Cause {
        let about = About::Post("hello".parse().unwrap());
        let (user, actor) = ("ana".parse().unwrap(), Some(actor.parse().unwrap()));
        Cause { user, kind, actor, about, at: Time::from_ms(at_ms) }
    }

    #[test]
    fn an_id_tells_its_time_and_is_the_same_for_the_same_cause() {
        let at = Time::from_ms(1_737_991_800_123);
        let id = |kind, actor| cause(kind, actor, at.ms()).id(at).unwrap();
        let mention = id(NotificationKind::Mention, "bo");
        assert_eq!(mention.time(), Some(at));
        assert_eq!(mention.to_string().len(), 26);
        assert_eq!(mention, id(NotificationKind::Mention, "bo"));
        assert_ne!(mention, id(NotificationKind::Like, "bo"));
    }

    #[test]
    fn what_adds_up_does_so_for_an_hour() {
        assert_eq!(hour_of(Time::from_ms(CROWD_MS * 7 + 1)), Time::from_ms(CROWD_MS * 7));
        assert_eq!(hour_of(Time::from_ms(CROWD_MS * 7)), Time::from_ms(CROWD_MS * 7));
        assert!(adds_up(NotificationKind::Like) && !adds_up(NotificationKind::Comment));
    }
}
