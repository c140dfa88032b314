//! Live events. Each is loaded for its subscriber when it is sent, so subscribers never get an event that
//! they may no longer see.

use std::pin::Pin;

use futures::Stream;
use futures::stream::unfold;
use roundtable_domain::{
    FeedEntry, LiveEvent, LiveFeed, LiveNotifications, LiveRoom, NotificationView, Topic,
    TopicSubscription,
};
use roundtable_interface::ApiError;
use roundtable_model::entities::Message;

use crate::request::RequestContext;

/// The events of a subscription. An error is the last item.
pub(crate) type EventStream<T> = Pin<Box<dyn Stream<Item = Result<Option<T>, ApiError>> + Send>>;

/// A source of live events.
pub(crate) trait EventSource: Send + 'static {
    type Event: Send;

    fn next_event(&mut self) -> impl Future<Output = Result<Self::Event, ApiError>> + Send;
}

macro_rules! event_sources {
    ($($live:ident for $event:ident,)*) => {$(
        impl EventSource for $live {
            type Event = $event;

            async fn next_event(&mut self) -> Result<$event, ApiError> {
                Ok(self.next().await?)
            }
        }
    )*};
}

event_sources! {
    LiveFeed for FeedEntry,
    LiveRoom for Message,
    LiveNotifications for NotificationView,
    TopicSubscription for LiveEvent,
}

/// Streams the events of a source that `convert` keeps.
pub(crate) fn event_stream<L: EventSource, T: Send + 'static>(
    live: L,
    convert: fn(L::Event) -> Option<T>,
) -> EventStream<T> {
    Box::pin(unfold(Some(live), move |live| async move {
        let mut live = live?;
        loop {
            match live.next_event().await {
                Ok(event) => {
                    let Some(event) = convert(event) else { continue };
                    return Some((Ok(Some(event)), Some(live)));
                }
                Err(error) => return Some((Err(error), None)),
            }
        }
    }))
}

/// Subscribes the caller to a topic.
pub(crate) async fn subscribe<T: Send + 'static>(
    context: &RequestContext,
    topic: Topic,
    convert: fn(LiveEvent) -> Option<T>,
) -> Result<EventStream<T>, ApiError> {
    let subscription = context.services().live().subscribe(context.caller()?, topic).await?;
    Ok(event_stream(subscription, convert))
}
