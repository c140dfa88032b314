//! Subjects of tallies: anything with one item that states its sum, its owner or its place.

use roundtable_model::entities::{
    CommentCounter, EmailLock, GroupCounter, HandleLock, NickLock, Post, PostCounter, Quest,
    RoomMember, TagRef, UserCounter, XpEntry,
};
use roundtable_model::table::{Key, Scalar};
use roundtable_model::{
    CommentId, Email, EntityKind, GroupId, Handle, Nickname, PostId, QuestId, RoomId, Shard,
    SubjectId, Tag, UserCount, UserId,
};

use crate::tally::TallyKind;

/// The subject of a tally.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TallySubject {
    UserCounter(UserId, UserCount, Shard),
    Group(GroupId),
    /// The likes, comments, shares and score of a post.
    Post(PostId),
    /// The likes and replies of a comment.
    Comment(PostId, CommentId),
    Email(Email),
    Nickname(Nickname),
    Handle(Handle),
    /// A quest, or the reward it earned.
    Quest(UserId, QuestId),
    /// A user's membership of a room.
    RoomMember(RoomId, UserId),
    Tagged(TaggedSubject),
    /// Any item, by its key.
    Item(Key),
}

/// An entity that carries a tag, or that a reference says does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaggedSubject {
    pub(crate) tag: Tag,
    /// The shard in which the reference was found. It is not part of the comparison: there may have
    /// been fewer shards when the reference was written.
    pub(crate) shard: Shard,
    pub(crate) entity: EntityKind,
    pub(crate) id: SubjectId,
}

impl TallySubject {
    /// Returns whether facts of it expire. Reads hide them at once, but they count until the store
    /// deletes them: the stream then subtracts them.
    pub(crate) const fn counts_expiring_facts(&self) -> bool {
        use UserCount::{MediaBytes, PendingUploads, Unread};
        matches!(self, Self::UserCounter(_, Unread | MediaBytes | PendingUploads, _))
    }

    /// The key of the item that states it.
    pub(crate) fn key(&self, kind: TallyKind) -> Key {
        match self {
            Self::UserCounter(user, counter, shard) => {
                UserCounter::at(user, counter, shard).into_key()
            }
            Self::Group(group) => GroupCounter::at(group).into_key(),
            Self::Post(post) if kind == TallyKind::Score => Post::at(post).into_key(),
            Self::Post(post) => PostCounter::at(post).into_key(),
            Self::Comment(post, comment) => CommentCounter::at(post, comment).into_key(),
            Self::Email(email) => EmailLock::at(email).into_key(),
            Self::Nickname(nickname) => NickLock::at(nickname).into_key(),
            Self::Handle(handle) => HandleLock::at(handle).into_key(),
            Self::Quest(user, quest) if kind == TallyKind::Reward => {
                XpEntry::at(user, quest).into_key()
            }
            Self::Quest(user, quest) => Quest::at(user, quest).into_key(),
            Self::RoomMember(room, user) => RoomMember::at(room, user).into_key(),
            Self::Tagged(TaggedSubject { tag, entity, id, .. }) => {
                TagRef::at(tag, &Shard::ZERO, entity, id).into_key()
            }
            Self::Item(key) => key.clone(),
        }
    }
}

/// Formats a key for messages: `USER#ana / PROFILE#ana`.
pub(crate) fn key_text(key: &Key) -> String {
    let text = |part: &Scalar| part.as_text().map_or_else(|| part.to_string(), str::to_owned);
    match &key.sort {
        Some(sort) => format!("{} / {}", text(&key.partition), text(sort)),
        None => text(&key.partition),
    }
}
