//! Live events. Each is loaded for its subscriber when it is sent, so subscribers never get an event that
//! they may no longer see.

use futures::future::BoxFuture;
use roundtable_domain::{LiveEvent, LiveSource, Topic};
use roundtable_execution::{EventSource, NextEvent};
use roundtable_interface::ApiError;

use crate::request::RequestContext;

/// The events of a subscription. An error is the last one.
pub(crate) type EventStream<T> = Box<dyn EventSource<Result<Option<T>, ApiError>>>;

/// The events of a live source that `convert` keeps.
struct Converted<L: LiveSource, T> {
    live: L,
    convert: fn(L::Event) -> Option<T>,
}

impl<L: LiveSource<Error: Into<ApiError>>, T: Send> EventSource<Result<Option<T>, ApiError>>
    for Converted<L, T>
{
    fn read(&mut self) -> BoxFuture<'_, NextEvent<Result<Option<T>, ApiError>>> {
        Box::pin(async move {
            loop {
                let event = match self.live.read().await {
                    Ok(Some(event)) => (self.convert)(event),
                    Ok(None) => return NextEvent::Later,
                    Err(error) => return NextEvent::Last(Err(error.into())),
                };
                if event.is_some() {
                    return NextEvent::Event(Ok(event));
                }
            }
        })
    }

    fn changed(&mut self) -> BoxFuture<'_, ()> {
        self.live.changed()
    }
}

pub(crate) fn event_stream<L: LiveSource<Error: Into<ApiError>> + 'static, T: Send + 'static>(
    live: L,
    convert: fn(L::Event) -> Option<T>,
) -> EventStream<T> {
    Box::new(Converted { live, convert })
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
