//! What an account is about: something with one item that states its sum, its owner or its place.

use roundtable_model::entities::{
    CommentCounter, EmailLock, GroupCounter, HandleLock, NickLock, Post, PostCounter, UserCounter,
};
use roundtable_model::table::{Key, Scalar};
use roundtable_model::{
    CommentId, Email, GroupId, Handle, Nickname, PostId, Shard, UserCount, UserId,
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
    /// An item, whatever it is.
    Item(Key),
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
