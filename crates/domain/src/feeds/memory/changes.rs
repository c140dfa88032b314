//! Maps changes of the table to changes of the feed cache.

use std::str::FromStr;
use std::sync::Arc;

use roundtable_model::entities::{Activity, Group, Post, PostCounter, Upload, User};
use roundtable_model::table::{Change, Item};
use roundtable_model::{ActorId, FromItem, GroupId, MediaKey, PostId, TYPE, UserId};

use super::super::cached_activity::CachedActivity;
use super::super::position::FeedPosition;

/// A relevant change. Entities are decoded only if they are cached.
#[derive(Debug)]
pub(super) enum FeedChange<'c> {
    ActivityAdded(Arc<CachedActivity>),
    ActivityRemoved(ActorId, FeedPosition),
    /// The post's new state, or `None` if it was removed.
    Post(PostId, Option<&'c Item>),
    /// The profile's new state, or `None` if it was removed.
    User(UserId, Option<&'c Item>),
    /// The group's new state, or `None` if it was removed.
    Group(GroupId, Option<&'c Item>),
    /// The counter's new state, or `None` if it was removed.
    PostCounter(PostId, Option<&'c Item>),
    /// The upload's new state, or `None` if it was removed.
    Upload(MediaKey, Option<&'c Item>),
    /// A relevant change that cannot be decoded.
    Undecodable,
}

impl<'c> FeedChange<'c> {
    /// `None` if the change is irrelevant.
    pub(super) fn of(change: &'c Change) -> Option<Self> {
        let image = change.new.as_ref().or(change.old.as_ref())?;
        let new = change.new.as_ref();
        let kind = image.text(TYPE)?;
        let decoded = if kind == Activity::ENTITY.name {
            match Activity::from_item(image) {
                Ok(activity) if new.is_some() => {
                    Some(Self::ActivityAdded(Arc::new(CachedActivity::of(&activity))))
                }
                Ok(activity) => {
                    let home = Activity::home(&activity.actor_id, &activity.group_id);
                    Some(Self::ActivityRemoved(home, FeedPosition::of(&activity)))
                }
                Err(_) => None,
            }
        } else if kind == Post::ENTITY.name {
            id(image, Post::ID.name()).map(|id| Self::Post(id, new))
        } else if kind == User::ENTITY.name {
            id(image, User::ID.name()).map(|id| Self::User(id, new))
        } else if kind == Group::ENTITY.name {
            id(image, Group::ID.name()).map(|id| Self::Group(id, new))
        } else if kind == PostCounter::ENTITY.name {
            id(image, PostCounter::POST_ID.name()).map(|id| Self::PostCounter(id, new))
        } else if kind == Upload::ENTITY.name {
            id(image, Upload::KEY.name()).map(|key| Self::Upload(key, new))
        } else {
            return None;
        };
        Some(decoded.unwrap_or_else(|| {
            tracing::warn!(key = ?change.key, "cannot decode a change; clearing the feed cache");
            Self::Undecodable
        }))
    }
}

fn id<T: FromStr>(item: &Item, attribute: &str) -> Option<T> {
    item.text(attribute)?.parse().ok()
}
