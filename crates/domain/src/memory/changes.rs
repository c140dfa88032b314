//! Maps changes of the table to changes of cached entities.

use roundtable_model::entities::{Group, Post, PostCounter, Upload, User, UserCounter};
use roundtable_model::table::{Change, Item};
use roundtable_model::{FromItem as _, GroupId, MediaKey, PostId, Result, TYPE, UserId};

use super::UserCounterId;

/// A change of an entity that may be cached: its id and its new state, `None` if it was removed. It
/// is decoded only if it is cached.
#[derive(Debug)]
pub(super) enum EntityChange<'c> {
    Post(PostId, Option<&'c Item>),
    User(UserId, Option<&'c Item>),
    Group(GroupId, Option<&'c Item>),
    PostCounter(PostId, Option<&'c Item>),
    UserCounter(UserCounterId, Option<&'c Item>),
    Upload(MediaKey, Option<&'c Item>),
    /// A relevant change whose id cannot be read.
    Undecodable,
}

impl<'c> EntityChange<'c> {
    /// `None` if the change is irrelevant.
    pub(super) fn of(change: &'c Change) -> Option<Self> {
        let image = change.new.as_ref().or(change.old.as_ref())?;
        let new = change.new.as_ref();
        let kind = image.text(TYPE)?;
        let read = if kind == Post::ENTITY.name {
            Post::ID.read(image).map(|id| Self::Post(id, new))
        } else if kind == User::ENTITY.name {
            User::ID.read(image).map(|id| Self::User(id, new))
        } else if kind == Group::ENTITY.name {
            Group::ID.read(image).map(|id| Self::Group(id, new))
        } else if kind == PostCounter::ENTITY.name {
            PostCounter::POST_ID.read(image).map(|id| Self::PostCounter(id, new))
        } else if kind == UserCounter::ENTITY.name {
            user_counter_id(image).map(|id| Self::UserCounter(id, new))
        } else if kind == Upload::ENTITY.name {
            Upload::KEY.read(image).map(|key| Self::Upload(key, new))
        } else {
            return None;
        };
        Some(read.unwrap_or_else(|error| {
            tracing::warn!(key = ?change.key, %error, "cannot decode a change; clearing the caches");
            Self::Undecodable
        }))
    }
}

fn user_counter_id(image: &Item) -> Result<UserCounterId> {
    let user = UserCounter::USER_ID.read(image)?;
    Ok((user, UserCounter::COUNTER.read(image)?, UserCounter::SHARD.read(image)?))
}
