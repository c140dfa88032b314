//! Listening to what people do.

use async_graphql::{Context, Subscription};
use roundtable_domain::{Event, Matter};
use roundtable_model::{ActivityId, ActorId};

use super::{Told, listen, told};
use crate::Refused;
use crate::request::Asked;
use crate::scalars::Id;
use crate::types::activities::Activity;
use crate::types::feeds::FeedEntry;

/// Subscriptions of feeds.
#[derive(Debug, Default)]
pub(super) struct FeedsLive;

#[Subscription]
impl FeedsLive {
    /// The caller's home feed, as it grows.
    async fn on_feed_entry(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "the last activity seen; what came since is sent first")] after: Option<
            Id<ActivityId>,
        >,
    ) -> Result<Told<FeedEntry>, Refused> {
        let asked = Asked::of(ctx)?;
        let (feeds, after) = (&asked.services().feeds, after.map(|id| id.0));
        let live = feeds.live(asked.caller()?, after.as_ref()).await?;
        Ok(told(live, |entry| Some(entry.into())))
    }

    /// What a person or a group does, or, if nobody is named, everybody.
    async fn on_post_activity(
        &self,
        ctx: &Context<'_>,
        actor_id: Option<Id<ActorId>>,
    ) -> Result<Told<Activity>, Refused> {
        let matter = Matter::Activities(actor_id.map(|id| id.0));
        listen(ctx, matter, |event| match event {
            Event::Activity(activity) => Some((*activity).into()),
            _ => None,
        })
        .await
    }
}
