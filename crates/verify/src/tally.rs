//! Entries of tallies: facts, and the items that state their sum.

use std::borrow::Cow;

use roundtable_model::shape::Index;

use crate::subject::TallySubject;

/// A kind of tally. In each tally, the facts must add up to the stated amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum TallyKind {
    /// A counter of a user or a group.
    Counter,
    Likes,
    /// The likes of one type, as for `Laughs`.
    Loves,
    Laughs,
    Comments,
    Shares,
    CommentLikes,
    CommentLoves,
    CommentLaughs,
    Replies,
    /// The score under which a post is listed as popular: facts are in its counter, the post states
    /// it.
    Score,
    /// A unique name: facts are profiles that carry it, the lock states its owner.
    Lock,
    /// An index: facts are items with its key attributes, its entries state them.
    Gsi1,
    Gsi2,
    Gsi3,
    /// The stored items against the last images of the stream.
    Stream,
    Steps,
    /// The reward of a quest: facts are completed quests, an `XpEntry` states it.
    Reward,
    /// Tag references, against the entities that carry the tags.
    Tag,
    /// Members of a group's room, against the members of the group.
    RoomMember,
    /// Holders of files: facts are posts, activities and profiles that show a file, the upload
    /// states its holder.
    File,
    /// Users asked for help: facts are in the thread, an `AssistHelper` states each.
    AssistHelper,
}

impl TallyKind {
    pub(crate) const ALL: [Self; 22] = [
        Self::Counter,
        Self::Likes,
        Self::Loves,
        Self::Laughs,
        Self::Comments,
        Self::Shares,
        Self::CommentLikes,
        Self::CommentLoves,
        Self::CommentLaughs,
        Self::Replies,
        Self::Score,
        Self::Lock,
        Self::Gsi1,
        Self::Gsi2,
        Self::Gsi3,
        Self::Stream,
        Self::Steps,
        Self::Reward,
        Self::Tag,
        Self::RoomMember,
        Self::File,
        Self::AssistHelper,
    ];

    /// The tally kind of an index; `None` for the table itself.
    pub(crate) const fn of_index(index: Index) -> Option<Self> {
        match index {
            Index::Main => None,
            Index::Gsi1 => Some(Self::Gsi1),
            Index::Gsi2 => Some(Self::Gsi2),
            Index::Gsi3 => Some(Self::Gsi3),
        }
    }

    /// Returns `true` if amounts are stated only while their owner exists: a purge deletes both,
    /// and remaining facts do not count.
    pub(crate) const fn needs_owner(self) -> bool {
        use TallyKind::{
            CommentLaughs, CommentLikes, CommentLoves, Comments, Laughs, Likes, Loves, Replies,
            Score, Shares,
        };
        matches!(self, Likes | Loves | Laughs | Comments | Shares | Replies | Score)
            || matches!(self, CommentLikes | CommentLoves | CommentLaughs)
    }

    /// Returns `true` if any stated amount is right once the owner is gone: a reward stays when its
    /// quest is deleted.
    pub(crate) const fn outlives_owner(self) -> bool {
        matches!(self, Self::Reward)
    }

    pub(crate) const fn index(self) -> Option<Index> {
        match self {
            Self::Gsi1 => Some(Index::Gsi1),
            Self::Gsi2 => Some(Index::Gsi2),
            Self::Gsi3 => Some(Index::Gsi3),
            _ => None,
        }
    }
}

/// The role of an entry in its tally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryRole {
    Fact,
    /// An item that states the sum of the facts.
    Stated,
    /// The owner of the tally exists. Without an owner, amounts need not be stated.
    Owner,
}

/// An item's contribution to a tally.
#[derive(Clone, Debug)]
pub(crate) struct TallyEntry {
    pub(crate) kind: TallyKind,
    pub(crate) subject: TallySubject,
    /// Separates entries of one tally that must add up by themselves: the user of a lock, the step
    /// of a score. Empty where all entries of a tally add up.
    pub(crate) label: Cow<'static, str>,
    pub(crate) role: EntryRole,
    pub(crate) amount: i128,
}

impl TallyEntry {
    pub(crate) const fn fact(kind: TallyKind, subject: TallySubject) -> Self {
        Self { kind, subject, label: Cow::Borrowed(""), role: EntryRole::Fact, amount: 1 }
    }

    pub(crate) const fn owner(kind: TallyKind, subject: TallySubject) -> Self {
        Self { kind, subject, label: Cow::Borrowed(""), role: EntryRole::Owner, amount: 0 }
    }

    pub(crate) const fn stated(kind: TallyKind, subject: TallySubject, amount: i128) -> Self {
        Self { kind, subject, label: Cow::Borrowed(""), role: EntryRole::Stated, amount }
    }

    pub(crate) fn amount(mut self, amount: i128) -> Self {
        self.amount = amount;
        self
    }

    pub(crate) fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.label = label.into();
        self
    }
}
