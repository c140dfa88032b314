//! Walks down the activities of all actors by time, in the table itself: at any depth, and also while
//! memory is still being filled. Only the embedded store keeps activities in this order.

use std::sync::Arc;

use roundtable_model::entities::Activity;
use roundtable_model::table::{Key, Walk};
use roundtable_model::{ActorId, Entity, FromItem, Result, UserId};

use super::cached_activity::CachedActivity;
use super::position::FeedPosition;
use super::ring::RingWalk;
use crate::Context;

/// The bounds of a walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkBounds {
    /// Activities to find.
    pub(super) wanted: usize,
    /// Activities to pass, wanted or not.
    pub(super) passed_max: usize,
}

/// Walks down the activities of all actors from below a position, and finds those whose home is wanted.
/// Returns `None` on stores that do not keep them by time.
pub(super) async fn walk_activities(
    context: &Context,
    below: Option<&FeedPosition>,
    bounds: WalkBounds,
    wants: impl Fn(&ActorId) -> bool + Send + Sync,
) -> Result<Option<RingWalk>> {
    let WalkBounds { wanted, passed_max } = bounds;
    let capabilities = context.store().capabilities();
    // Other processes may write with clocks of their own, below where a reader is.
    if wanted == 0 || passed_max == 0 || !capabilities.walks || !capabilities.single_process {
        return Ok(None);
    }
    let prefix = Activity::SHAPE.main().partition.prefix();
    let wants = |partition: &str| {
        let home = partition.strip_prefix(prefix).and_then(|home| home.parse().ok());
        home.is_some_and(|home| wants(&home))
    };
    let walk = Walk { below: below.and_then(sort_key), wants: &wants, limit: wanted, passed_max };
    let page = context.core().table().walk(walk).await?;
    let entry = |item| Ok(Arc::new(CachedActivity::of(&Activity::from_item(item)?)));
    let entries = page.items.iter().map(entry).collect::<Result<Vec<_>>>()?;
    let is_sparse = entries.len() < wanted && page.down_to.is_some();
    let down_to = page.down_to.as_deref().and_then(position);
    Ok(Some(RingWalk { entries, down_to, is_sparse }))
}

/// The sort key of an activity, which does not depend on its actor.
fn sort_key(position: &FeedPosition) -> Option<String> {
    let actor = ActorId::from(position.id.recast::<UserId>());
    let key = Activity::at(&actor, &position.at, &position.id).into_key();
    key.sort?.as_text().map(str::to_owned)
}

fn position(sort: &str) -> Option<FeedPosition> {
    let key = Key::new("", sort);
    Some(FeedPosition {
        at: Activity::CREATED_AT.part_of(&key)?,
        id: Activity::ACTIVITY_ID.part_of(&key)?,
    })
}

#[cfg(test)]
mod tests {
    use roundtable_model::Time;

    use super::*;

    #[test]
    fn a_position_is_read_back_from_its_sort_key() {
        for id in ["01JJM5E3S0PQ0M3ZJ5Y3W4YQZC", "-", "a0001"] {
            let at = FeedPosition { at: Time::from_ms(1_737_991_800_000), id: id.parse().unwrap() };
            assert_eq!(position(&sort_key(&at).unwrap()), Some(at));
        }
    }
}
