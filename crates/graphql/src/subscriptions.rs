//! What can be listened to: one file for each noun. Each event is read for its listener when it is told,
//! so nobody is told of what they may not see by then.

mod chat;
mod feeds;
mod people;
mod posts;
mod pursuits;

use std::pin::Pin;

use async_graphql::{Context, MergedSubscription};
use futures::Stream;
use futures::stream::unfold;
use roundtable_domain::{
    Event, FeedEntry, Listener, LiveFeed, LiveNotifications, LiveRoom, Matter, Notice,
};
use roundtable_model::entities::Message;

use crate::Refused;
use crate::request::Asked;

/// Everything that can be listened to.
#[derive(Debug, Default, MergedSubscription)]
pub struct Subscription(
    chat::RoomsLive,
    feeds::FeedsLive,
    posts::PostsLive,
    people::PeopleLive,
    pursuits::QuestsLive,
);

/// What a listener is told until they go, or are refused: then that is the last they are told.
type Told<T> = Pin<Box<dyn Stream<Item = Result<Option<T>, Refused>> + Send>>;

/// Something that waits for what happens next.
trait Waits: Send + 'static {
    /// What happens.
    type Event: Send;

    /// The next of it.
    fn wait(&mut self) -> impl Future<Output = Result<Self::Event, Refused>> + Send;
}

macro_rules! waits {
    ($($live:ident for $event:ident,)*) => {$(
        impl Waits for $live {
            type Event = $event;

            async fn wait(&mut self) -> Result<$event, Refused> {
                Ok(self.next().await?)
            }
        }
    )*};
}

waits! {
    LiveFeed for FeedEntry,
    LiveRoom for Message,
    LiveNotifications for Notice,
    Listener for Event,
}

/// Tells what happens, as far as it is shown.
fn told<L: Waits, T: Send + 'static>(live: L, shown: fn(L::Event) -> Option<T>) -> Told<T> {
    Box::pin(unfold(Some(live), move |live| async move {
        let mut live = live?;
        loop {
            match live.wait().await {
                Ok(event) => {
                    let Some(event) = shown(event) else { continue };
                    return Some((Ok(Some(event)), Some(live)));
                }
                Err(refused) => return Some((Err(refused), None)),
            }
        }
    }))
}

/// Tells what happens in a matter.
async fn listen<T: Send + 'static>(
    ctx: &Context<'_>,
    matter: Matter,
    shown: fn(Event) -> Option<T>,
) -> Result<Told<T>, Refused> {
    let asked = Asked::of(ctx)?;
    let listener = asked.services().live.listen(asked.caller()?, matter).await?;
    Ok(told(listener, shown))
}
