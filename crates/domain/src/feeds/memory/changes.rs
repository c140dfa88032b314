//! Maps changes of the table to changes of the feed cache.

use std::sync::Arc;

use roundtable_model::entities::Activity;
use roundtable_model::table::Change;
use roundtable_model::{ActorId, FromItem as _, TYPE};

use super::super::cached_activity::CachedActivity;
use super::super::position::FeedPosition;

/// A change of an activity.
#[derive(Debug)]
pub(super) enum FeedChange {
    ActivityAdded(Arc<CachedActivity>),
    ActivityRemoved(ActorId, FeedPosition),
    /// A relevant change that cannot be decoded.
    Undecodable,
}

impl FeedChange {
    /// `None` if the change is irrelevant.
    pub(super) fn of(change: &Change) -> Option<Self> {
        let image = change.new.as_ref().or(change.old.as_ref())?;
        if image.text(TYPE)? != Activity::ENTITY.name {
            return None;
        }
        Some(match Activity::from_item(image) {
            Ok(activity) if change.new.is_some() => {
                Self::ActivityAdded(Arc::new(CachedActivity::of(&activity)))
            }
            Ok(activity) => {
                let home = Activity::home(&activity.actor_id, &activity.group_id);
                Self::ActivityRemoved(home, FeedPosition::of(&activity))
            }
            Err(error) => {
                tracing::warn!(key = ?change.key, %error, "cannot decode a change; clearing the feed cache");
                Self::Undecodable
            }
        })
    }
}
