//! What an account is about: something with one item that states its sum, its owner or its place.

use roundtable_model::entities::{
    CommentCounter, EmailLock, GroupCounter, HandleLock, NickLock, Post, PostCounter, Quest,
    RoomMember, TagRef, UserCounter, XpEntry,
};
use roundtable_model::table::{Key, Scalar};
use roundtable_model::{
    CommentId, Email, EntityKind, GroupId, Handle, Nickname, PostId, QuestId, RoomId, Shard,
    SubjectId, Tag, UserCount, UserId,
};

use crate::books::Book;

/// What an account is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A counter of a person.
    Person(UserId, UserCount, Shard),
    /// The members of a group.
    Group(GroupId),
    /// What people did with a post.
    Post(PostId),
    /// What people did with a comment.
    Comment(PostId, CommentId),
    /// A unique e-mail address.
    Email(Email),
    /// A unique nickname.
    Nickname(Nickname),
    /// A unique handle.
    Handle(Handle),
    /// A quest, or what it earned.
    Quest(UserId, QuestId),
    /// Somebody's seat in a room.
    Seat(RoomId, UserId),
    /// That something carries a tag.
    Tagged(Tagged),
    /// An item, whatever it is.
    Item(Key),
}

/// Something that carries a tag, or is said to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tagged {
    /// The tag.
    pub(crate) tag: Tag,
    /// Where the reference was found. It says nothing about whether there should be one: there may have
    /// been fewer shards when it was written.
    pub(crate) shard: Shard,
    /// What kind of thing.
    pub(crate) entity: EntityKind,
    /// Which.
    pub(crate) id: SubjectId,
}

impl Subject {
    /// The item that states it.
    pub(crate) fn key(&self, book: Book) -> Key {
        match self {
            Self::Person(user, counter, shard) => UserCounter::at(user, counter, shard).into_key(),
            Self::Group(group) => GroupCounter::at(group).into_key(),
            Self::Post(post) if book == Book::Score => Post::at(post).into_key(),
            Self::Post(post) => PostCounter::at(post).into_key(),
            Self::Comment(post, comment) => CommentCounter::at(post, comment).into_key(),
            Self::Email(email) => EmailLock::at(email).into_key(),
            Self::Nickname(nickname) => NickLock::at(nickname).into_key(),
            Self::Handle(handle) => HandleLock::at(handle).into_key(),
            Self::Quest(user, quest) if book == Book::Reward => XpEntry::at(user, quest).into_key(),
            Self::Quest(user, quest) => Quest::at(user, quest).into_key(),
            Self::Seat(room, user) => RoomMember::at(room, user).into_key(),
            Self::Tagged(Tagged { tag, entity, id, .. }) => {
                TagRef::at(tag, &Shard::ZERO, entity, id).into_key()
            }
            Self::Item(key) => key.clone(),
        }
    }
}

/// A key as people write it: `USER#ana / PROFILE#ana`.
pub(crate) fn shown(key: &Key) -> String {
    let text = |part: &Scalar| part.as_text().map_or_else(|| part.to_string(), str::to_owned);
    match &key.sort {
        Some(sort) => format!("{} / {}", text(&key.partition), text(sort)),
        None => text(&key.partition),
    }
}
