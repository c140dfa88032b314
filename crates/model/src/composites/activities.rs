//! The activities of a user or in a group, in one order.

use futures::future::try_join;
use roundtable_table::{Item, Key};

use super::merged::{MergedListing, MergedPage};
use crate::entities::{Activity, ProfileActivity};
use crate::entity::TYPE;
use crate::shape::PatternShape;
use crate::{ActorId, Core, Entity, FromItem, Result, Span, Time};

/// A query for the activities of a user or in a group, those that enter home feeds and the others.
pub type ActivityTimeline<'a> = MergedListing<'a, Activity>;

pub type ActivityTimelinePage = MergedPage<Activity>;

pub(super) fn of<'a>(core: &'a Core, home: &ActorId) -> ActivityTimeline<'a> {
    let partition = |pattern: &PatternShape| {
        let enters_feeds = pattern.entity == Activity::SHAPE.name;
        Some(if enters_feeds {
            Activity::partition(home)
        } else {
            ProfileActivity::partition(home)
        })
    };
    MergedListing::across(core, "activity_timeline", partition, activity)
}

/// Returns the activities of one moment, with their keys.
pub(super) async fn at(core: &Core, home: &ActorId, at: Time) -> Result<Vec<(Activity, Key)>> {
    let moment = Span::between(at, at.plus_ms(1));
    let entering = core.activities_of(home, moment).strong().page();
    let others = core.profile_activities_of(home, moment).strong().page();
    let (entering, others) = try_join(entering, others).await?;
    let entering = entering.items.into_iter().map(|it| {
        let key = it.key().into_key();
        (it, key)
    });
    let others = others.items.into_iter().map(|it| {
        let key = it.key().into_key();
        (it.into(), key)
    });
    Ok(entering.chain(others).collect())
}

fn activity(item: &Item) -> Result<Activity> {
    if item.text(TYPE) == Some(ProfileActivity::SHAPE.name) {
        return Ok(ProfileActivity::from_item(item)?.into());
    }
    Activity::from_item(item)
}
