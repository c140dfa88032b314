//! One type for each thing that is known by an id, so that no id stands where another belongs.

use std::fmt;
use std::str::FromStr;

use super::Id;
use crate::attribute::{Misfit, Text, text_like};
use crate::part::KeyPart;
use crate::time::Time;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Id);

        impl $name {
            /// The time in it, if it is a ULID.
            pub fn time(&self) -> Option<Time> {
                self.0.time()
            }

            /// The same id, of another kind: for those who know that it is.
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
            type Err = Misfit;

            fn from_str(text: &str) -> Result<Self, Misfit> {
                text.parse().map(Self)
            }
        }

        impl Text for $name {
            fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
                self.0.with_text(read)
            }
        }

        /// As [`Display`](fmt::Display).
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
    /// Who somebody is.
    UserId;
    /// Which group.
    GroupId;
    /// Who acts: a person or a group.
    ActorId;
    /// Which goal.
    GoalId;
    /// Which task.
    TaskId;
    /// Which milestone.
    MilestoneId;
    /// Which quest.
    QuestId;
    /// Which activity.
    ActivityId;
    /// Which room.
    RoomId;
    /// Which message.
    MessageId;
    /// Which call for help.
    ThreadId;
    /// Which post.
    PostId;
    /// Which comment.
    CommentId;
    /// Which notification.
    NotificationId;
    /// Which company.
    CompanyId;
    /// Which offer.
    OfferId;
    /// Which signed-in device.
    SessionId;
    /// Which key of a program.
    ApiKeyId;
    /// Which entry of the audit.
    AuditId;
    /// Which moderation case: the id of the post or comment it is about.
    CaseId;
    /// What something is about, of whichever kind.
    SubjectId;
    /// Which job.
    JobId;
    /// Which webhook.
    WebhookId;
}

/// Ids that are also ids of a wider kind.
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
    CaseId: PostId, CommentId;
    SubjectId: UserId, GroupId, ActorId, GoalId, TaskId, MilestoneId, QuestId, ActivityId, RoomId,
        MessageId, ThreadId, PostId, CommentId, CompanyId, OfferId, CaseId;
}
