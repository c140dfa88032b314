//! What a change of the table means to feeds.

use std::str::FromStr;
use std::sync::Arc;

use roundtable_model::entities::{Activity, Group, Post, User};
use roundtable_model::table::{Change, Item};
use roundtable_model::{ActorId, Answer, GroupId, PostId, TYPE, UserId};

use super::super::entry::Entry;
use super::super::place::Place;

/// A change that matters; things are read only if somebody wants to know them.
#[derive(Debug)]
pub(super) enum Heard<'c> {
    /// Somebody did something.
    Made(Arc<Entry>),
    /// Something that was done here is no more.
    Gone(ActorId, Place),
    /// A post has become this, or is gone.
    Post(PostId, Option<&'c Item>),
    /// A profile has become this, or is gone.
    User(UserId, Option<&'c Item>),
    /// A group has become this, or is gone.
    Group(GroupId, Option<&'c Item>),
    /// Something that matters, and cannot be read.
    Unreadable,
}

impl<'c> Heard<'c> {
    /// What a change means; `None` when nothing.
    pub(super) fn of(change: &'c Change) -> Option<Self> {
        let image = change.new.as_ref().or(change.old.as_ref())?;
        let new = change.new.as_ref();
        let kind = image.text(TYPE)?;
        let heard = if kind == Activity::ENTITY.name {
            match Activity::from_item(image) {
                Ok(activity) if new.is_some() => Some(Self::Made(Arc::new(Entry::of(&activity)))),
                Ok(activity) => {
                    let home = Activity::home(&activity.actor_id, &activity.group_id);
                    Some(Self::Gone(home, Place::of(&activity)))
                }
                Err(_) => None,
            }
        } else if kind == Post::ENTITY.name {
            id(image, Post::ID.name()).map(|id| Self::Post(id, new))
        } else if kind == User::ENTITY.name {
            id(image, User::ID.name()).map(|id| Self::User(id, new))
        } else if kind == Group::ENTITY.name {
            id(image, Group::ID.name()).map(|id| Self::Group(id, new))
        } else {
            return None;
        };
        Some(heard.unwrap_or_else(|| {
            tracing::warn!(key = ?change.key, "a change cannot be read: feeds forget what they know");
            Self::Unreadable
        }))
    }
}

/// Whether an item is an activity.
pub(super) fn is_activity(item: &Item) -> bool {
    item.text(TYPE) == Some(Activity::ENTITY.name)
}

fn id<T: FromStr>(item: &Item, attribute: &str) -> Option<T> {
    item.text(attribute)?.parse().ok()
}
