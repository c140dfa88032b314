//! One id type for each kind of object, so that ids of different kinds cannot be mixed up.

use std::fmt;
use std::str::FromStr;

use super::Id;
use crate::attribute::{InvalidValue, TextValue, text_like};
use crate::part::KeyPart;
use crate::time::Time;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Id);

        impl $name {
            /// Returns the time in it, if it is a ULID.
            pub fn time(&self) -> Option<Time> {
                self.0.time()
            }

            /// Converts the id to another kind. The caller must know that it is one.
            pub fn recast<Other: From<Id>>(&self) -> Other {
                self.0.clone().into()
            }
        }

        impl From<Id> for $name {
            fn from(id: Id) -> Self {
                Self(id)
            }
        }

        impl AsRef<Id> for $name {
            fn as_ref(&self) -> &Id {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidValue;

            fn from_str(text: &str) -> Result<Self, InvalidValue> {
                text.parse().map(Self)
            }
        }

        impl TextValue for $name {
            fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
                self.0.with_text(read)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl KeyPart for $name {
            const BYTES_MAX: usize = Id::BYTES_MAX;

            fn write_part(&self, key: &mut String) {
                self.0.write_part(key);
            }
        }

        text_like! { $name: stringify!($name); }

        #[cfg(test)]
        impl crate::attribute::Sample for $name {
            fn sample(random: &mut rand::rngs::SmallRng) -> Self {
                Id::sample(random).into()
            }
        }
    )*};
}

ids! {
    UserId;
    GroupId;
    /// The id of a user or a group.
    ActorId;
    GoalId;
    TaskId;
    MilestoneId;
    QuestId;
    ActivityId;
    RoomId;
    MessageId;
    /// The id of a request for help.
    ThreadId;
    PostId;
    CommentId;
    NotificationId;
    CompanyId;
    OfferId;
    SessionId;
    DeviceId;
    ApiKeyId;
    AuditId;
    /// The id of a moderation case, which is the id of its post or comment.
    CaseId;
    /// The id of an object of any kind.
    SubjectId;
    JobId;
    WebhookId;
    /// The id of a feed in the order of rank.
    RankingId;
}

/// Conversions of ids to more general kinds.
macro_rules! widen {
    ($($wide:ident: $($narrow:ident),*;)*) => {$($(
        impl From<$narrow> for $wide {
            fn from(id: $narrow) -> Self {
                Self(id.0)
            }
        }

        impl From<&$narrow> for $wide {
            fn from(id: &$narrow) -> Self {
                id.recast()
            }
        }
    )*)*};
}

widen! {
    ActorId: UserId, GroupId;
    CaseId: PostId, CommentId, UserId, GroupId, MessageId;
    SubjectId: UserId, GroupId, ActorId, GoalId, TaskId, MilestoneId, QuestId, ActivityId, RoomId,
        MessageId, ThreadId, PostId, CommentId, CompanyId, OfferId, CaseId;
}
