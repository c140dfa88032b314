//! What is booked about items: facts on one side, what states their sum on the other.

use std::borrow::Cow;

use roundtable_model::shape::Index;

use crate::subject::Subject;

/// One book: accounts of one kind. In each account, facts and statements must balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Book {
    /// The counter of a person or a group.
    Count,
    /// The likes of a post.
    Likes,
    /// The comments of a post.
    Comments,
    /// The shares of a post.
    Shares,
    /// The likes of a comment.
    CommentLikes,
    /// The replies to a comment.
    Replies,
    /// The step under which a post is listed as popular: by its counter, and by the post itself.
    Score,
    /// A unique name: by the profiles that carry it, and by the lock.
    Lock,
    /// An index: by the items that carry its keys, and by what it shows.
    Gsi1,
    /// The second one.
    Gsi2,
    /// The third one.
    Gsi3,
    /// What the stream says an item is, and what it is.
    Stream,
    /// The steps of a quest.
    Steps,
    /// The reward of a quest: by the quest that is completed, and by the ledger of experience.
    Reward,
    /// The references by which a tag leads to what carries it.
    Tag,
    /// Who sits in a group's room: by the members of the group, and by the seats.
    Seat,
    /// What files belong to: by the posts, activities and profiles that show them, and by the files.
    File,
    /// Who was asked for help: by the thread, and by what lists it for them.
    Helper,
}

impl Book {
    /// All of them, in their order.
    pub(crate) const ALL: [Self; 18] = [
        Self::Count,
        Self::Likes,
        Self::Comments,
        Self::Shares,
        Self::CommentLikes,
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
        Self::Seat,
        Self::File,
        Self::Helper,
    ];

    /// The book of an index; the table itself has none.
    pub(crate) const fn of_index(index: Index) -> Option<Self> {
        match index {
            Index::Main => None,
            Index::Gsi1 => Some(Self::Gsi1),
            Index::Gsi2 => Some(Self::Gsi2),
            Index::Gsi3 => Some(Self::Gsi3),
        }
    }

    /// Whether its numbers are stated only while what they are about is there: a purge takes both away
    /// together, and what is left of it counts for nobody.
    pub(crate) const fn has_owner(self) -> bool {
        use Book::{CommentLikes, Comments, Likes, Replies, Score, Shares};
        matches!(self, Likes | Comments | Shares | CommentLikes | Replies | Score)
    }

    /// Whether what is stated is right whatever it says once what it is about is gone: a reward stays when
    /// its quest is deleted.
    pub(crate) const fn outlives_owner(self) -> bool {
        matches!(self, Self::Reward)
    }

    /// The index it is about, if it is about one.
    pub(crate) const fn index(self) -> Option<Index> {
        match self {
            Self::Gsi1 => Some(Index::Gsi1),
            Self::Gsi2 => Some(Index::Gsi2),
            Self::Gsi3 => Some(Index::Gsi3),
            _ => None,
        }
    }
}

/// The side of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// What happened, one by one.
    Fact,
    /// What states the sum of it.
    Stated,
    /// Neither: what it is all about is there. Without that nobody states anything.
    Owner,
}

/// One line of a book.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The book.
    pub(crate) book: Book,
    /// The account: what is counted, named or listed.
    pub(crate) subject: Subject,
    /// What tells lines of one account apart that must balance by themselves: the person a lock is
    /// for, the step of a score. Empty where all lines of an account add up.
    pub(crate) about: Cow<'static, str>,
    /// The side.
    pub(crate) side: Side,
    /// How much.
    pub(crate) amount: i128,
}

impl Entry {
    /// A fact that counts once.
    pub(crate) const fn fact(book: Book, subject: Subject) -> Self {
        Self { book, subject, about: Cow::Borrowed(""), side: Side::Fact, amount: 1 }
    }

    /// What the account is about is there.
    pub(crate) const fn owner(book: Book, subject: Subject) -> Self {
        Self { book, subject, about: Cow::Borrowed(""), side: Side::Owner, amount: 0 }
    }

    /// What an item states.
    pub(crate) const fn stated(book: Book, subject: Subject, amount: i128) -> Self {
        Self { book, subject, about: Cow::Borrowed(""), side: Side::Stated, amount }
    }

    /// This line, counting so much.
    pub(crate) fn times(mut self, amount: i128) -> Self {
        self.amount = amount;
        self
    }

    /// This line, to balance only with others about the same.
    pub(crate) fn about(mut self, about: impl Into<Cow<'static, str>>) -> Self {
        self.about = about.into();
        self
    }
}
