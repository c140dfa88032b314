//! A live room: delivers each message once, in the order sent, from where the subscriber left off (I15).
//!
//! Within a room, time order is commit order, so a message newer than the last one delivered stays
//! behind it: nothing that commits later can come before. Access is checked again for every message.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Message;
use roundtable_model::table::{Change, Item, Order};
use roundtable_model::{FromItem, MessageId, RoomId, Span, TYPE, Time};
use tokio::time::timeout;

use super::Messages;
use crate::bus::{Channels, Sink, Subscriber};
use crate::rooms::{RoomMembership, room_head, visible_messages};
use crate::{Caller, LiveBus, LiveSource, RoomError};

const BATCH: usize = 100;
/// Subscribers poll at this interval, because changes may be relayed late or not at all.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// One subscription to a room.
#[derive(Debug)]
pub struct LiveRoom {
    messages: Messages,
    caller: Caller,
    room: RoomId,
    /// The time of the last message that was delivered or hidden.
    last: Time,
    /// Messages read but not delivered.
    pending: VecDeque<Message>,
    wake_ups: Subscriber<RoomId, ()>,
}

/// Wake-ups for subscribers of rooms. They carry no data: messages are read from the table, so a
/// spurious one is harmless.
#[derive(Debug, Default)]
pub(crate) struct RoomWakeUps(Arc<Channels<RoomId, ()>>);

impl RoomWakeUps {
    pub(crate) const ENTITY_TYPES: &[&str] = &[Message::ENTITY.name];

    fn subscribe(&self, room: &RoomId) -> Subscriber<RoomId, ()> {
        // One is enough: further ones say the same.
        self.0.subscribe(room.clone(), 1)
    }
}

impl Sink for RoomWakeUps {
    fn apply(&self, changes: &[Change]) {
        let is_message = |item: &&Item| item.text(TYPE) == Some(Message::ENTITY.name);
        for item in changes.iter().filter_map(|change| change.new.as_ref()).filter(is_message) {
            if self.0.is_empty() {
                return;
            }
            if let Ok(message) = Message::from_item(item) {
                self.0.send([&message.room_id], &());
            }
        }
    }

    /// Missed messages are in the table.
    fn reset(&self, _is_complete: bool) {
        self.0.send_to_all(&());
    }
}

#[boxed]
impl Messages {
    /// Subscribes to a room from now on, or from after the last message the caller saw.
    pub async fn live(
        &self,
        bus: &LiveBus,
        caller: &Caller,
        room: &RoomId,
        after: Option<&MessageId>,
    ) -> Result<LiveRoom, RoomError> {
        let me = self.context.authorize_read(caller).await?.id;
        RoomMembership::of(&self.context, &me, room).await?;
        // Before the head is read: a message sent meanwhile is newer, and wakes the subscriber.
        let wake_ups = bus.rooms().subscribe(room);
        let last = match after {
            // The id of an expired message still contains its time.
            Some(after) => after.time().ok_or(RoomError::NoSuchMessage)?,
            None => room_head(&self.context, room).await?.map_or(Time::EPOCH, |head| head.last_ts),
        };
        let (messages, caller, room) = (self.clone(), caller.clone(), room.clone());
        Ok(LiveRoom { messages, caller, room, last, pending: VecDeque::new(), wake_ups })
    }
}

impl LiveSource for LiveRoom {
    type Event = Message;
    type Error = RoomError;

    /// Fails once the subscriber is no longer in the room.
    fn read(&mut self) -> BoxFuture<'_, Result<Option<Message>, RoomError>> {
        Box::pin(async move {
            loop {
                // Before the room is read: a later message ends the wait.
                self.wake_ups.clear();
                if self.pending.is_empty() {
                    self.read_newer().await?;
                }
                let Some(message) = self.pending.front().cloned() else { return Ok(None) };
                // Removed only after this await, so that cancellation loses nothing.
                let (at, shown) = (message.created_at, self.visible(message).await?);
                self.pending.pop_front();
                self.last = at;
                if shown.is_some() {
                    return Ok(shown);
                }
            }
        })
    }

    fn changed(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let _ = timeout(POLL_INTERVAL, self.wake_ups.next()).await;
        })
    }
}

impl LiveRoom {
    /// Reads messages newer than the last one delivered.
    async fn read_newer(&mut self) -> Result<(), RoomError> {
        let newer = Span::since(self.last.plus_ms(1));
        let listing = self.messages.context.core().messages(&self.room, newer);
        let page = listing.order(Order::Ascending).limit(BATCH).page().await?;
        self.pending.extend(page.items);
        Ok(())
    }

    /// Returns the message if the subscriber may see it now.
    async fn visible(&self, message: Message) -> Result<Option<Message>, RoomError> {
        let context = &self.messages.context;
        let me = context.authorize_read(&self.caller).await?.id;
        RoomMembership::of(context, &me, &self.room).await?;
        let expired = message.ttl.is_some_and(|ttl| ttl.time() <= context.now());
        let shown = visible_messages(context, &self.caller, vec![message]).await?;
        Ok(shown.into_iter().flatten().next().filter(|_| !expired))
    }
}
