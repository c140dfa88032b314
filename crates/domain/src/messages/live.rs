//! A room as it is listened to: each message once, in the order they were sent, from where a listener
//! left off (I15).
//!
//! Within a room time order is commit order, so whatever is newer than the last message seen is behind
//! it for good: nothing that commits later can come before. Whether the listener may still hear it is
//! asked for every message.

use std::collections::VecDeque;
use std::time::Duration;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Message;
use roundtable_model::table::Order;
use roundtable_model::{MessageId, RoomId, Span, Time};
use tokio::time::timeout;

use super::Messages;
use super::bells::Ear;
use crate::rooms::{Seat, head_of, seen};
use crate::{Caller, RoomError};

/// Messages read in one go.
const LOOK: usize = 100;
/// After so long a listener looks by itself: another process may have sent something unheard.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// One listener in a room.
#[derive(Debug)]
pub struct LiveRoom {
    messages: Messages,
    caller: Caller,
    room: RoomId,
    /// When the last message was sent that the listener knows of, or was kept from.
    last: Time,
    /// What has been read and not told yet.
    ready: VecDeque<Message>,
    ear: Ear,
}

#[boxed]
impl Messages {
    /// What is said in a room from now on, or since the message that the caller saw last.
    pub async fn live(
        &self,
        caller: &Caller,
        room: &RoomId,
        after: Option<&MessageId>,
    ) -> Result<LiveRoom, RoomError> {
        let me = self.ground.reader(caller).await?.id;
        Seat::of(&self.ground, &me, room).await?;
        // Before the head is read: what is sent meanwhile is newer, and heard.
        let ear = self.bells.listen(room);
        let last = match after {
            // A message that has expired since still tells when it was.
            Some(after) => after.time().ok_or(RoomError::NoSuchMessage)?,
            None => head_of(&self.ground, room).await?.map_or(Time::EPOCH, |head| head.last_ts),
        };
        let (messages, caller, room) = (self.clone(), caller.clone(), room.clone());
        Ok(LiveRoom { messages, caller, room, last, ready: VecDeque::new(), ear })
    }
}

#[boxed]
impl LiveRoom {
    /// The next message; waits for it. Refused from the moment on at which the listener is not in the
    /// room any more.
    pub async fn next(&mut self) -> Result<Message, RoomError> {
        loop {
            // Before the room is looked at: what comes later ends the wait below.
            self.ear.clear();
            if self.ready.is_empty() {
                self.look().await?;
            }
            let Some(message) = self.ready.front().cloned() else {
                let _ = timeout(LOOK_AGAIN, self.ear.hear()).await;
                continue;
            };
            // Taken off when it is known what becomes of it: whoever stops waiting here loses nothing.
            let (at, shown) = (message.created_at, self.authorized(message).await?);
            self.ready.pop_front();
            self.last = at;
            if let Some(message) = shown {
                return Ok(message);
            }
        }
    }

    /// Reads what is newer than what was told last.
    async fn look(&mut self) -> Result<(), RoomError> {
        let newer = Span::since(self.last.plus_ms(1));
        let listing = self.messages.ground.core().messages(&self.room, newer);
        let page = listing.order(Order::Ascending).limit(LOOK).page().await?;
        self.ready.extend(page.items);
        Ok(())
    }

    /// The message, if the listener may hear it at this moment.
    async fn authorized(&self, message: Message) -> Result<Option<Message>, RoomError> {
        let ground = &self.messages.ground;
        let me = ground.reader(&self.caller).await?.id;
        Seat::of(ground, &me, &self.room).await?;
        let expired = message.ttl.is_some_and(|ttl| ttl.time() <= ground.now());
        let shown = seen(ground, &self.caller, vec![message]).await?;
        Ok(shown.into_iter().flatten().next().filter(|_| !expired))
    }
}
