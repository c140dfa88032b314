//! Subscriptions to feeds and activities.

use async_graphql::{Context, Subscription};
use roundtable_domain::{LiveEvent, Topic};
use roundtable_model::{ActivityId, ActorId};

use super::{EventStream, event_stream, subscribe};
use crate::ApiError;
use crate::request::RequestContext;
use crate::scalars::ApiId;
use crate::types::activities::Activity;
use crate::types::feeds::FeedEntry;

#[derive(Debug, Default)]
pub(super) struct FeedSubscriptions;

#[Subscription]
impl FeedSubscriptions {
    /// New entries of the caller's home feed.
    async fn on_feed_entry(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The last activity received; newer entries are sent first.")]
        after: Option<ApiId<ActivityId>>,
    ) -> Result<EventStream<FeedEntry>, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (feeds, after) = (&context.services().feeds, after.map(|id| id.0));
        let live = feeds.live(context.caller()?, after.as_ref()).await?;
        Ok(event_stream(live, |entry| Some(entry.into())))
    }

    /// New activities of a user or a group, or of all.
    async fn on_post_activity(
        &self,
        ctx: &Context<'_>,
        actor_id: Option<ApiId<ActorId>>,
    ) -> Result<EventStream<Activity>, ApiError> {
        let topic = Topic::Activities(actor_id.map(|id| id.0));
        subscribe(ctx, topic, |event| match event {
            LiveEvent::Activity(activity) => Some((*activity).into()),
            _ => None,
        })
        .await
    }
}
