//! What is said in rooms (R15, R28, R31): sent in the order of commits, read in either order, and heard
//! by those who listen (I15).

mod bells;
mod live;
mod places;

use std::sync::Arc;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Block, Message, RoomHead, RoomMember};
use roundtable_model::table::{Change, Order};
use roundtable_model::{
    Answer, Entity, Expiry, MessageId, Misfit, RequestId, RoomId, RoomScope, Span, TYPE, Time,
    UserId,
};
use serde::{Deserialize, Serialize};

use self::bells::Bells;
use crate::access::{Act, Standing, allows};
use crate::commit::Commit;
use crate::limits::{MESSAGE_CHARS_MAX, check_filled};
use crate::once::{Request, Tried};
use crate::pages::fill;
use crate::rooms::{Seat, head_of, may_talk, message_of, other_of, seen, takes};
use crate::turns::turn_of;
use crate::{Caller, Failure, Ground, Page, PageInput, RoomError};

pub use live::LiveRoom;

/// Messages of a page, unless asked otherwise.
pub const MESSAGE_ITEMS: usize = 50;

/// The messages of everybody.
#[derive(Clone, Debug)]
pub struct Messages {
    ground: Ground,
    bells: Arc<Bells>,
}

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewMessage {
    /// To whom.
    pub room_id: RoomId,
    /// What is said.
    pub text: String,
    /// When it goes, if it does.
    pub expires_at: Option<Time>,
}

/// What a request led to.
#[derive(Debug, Serialize, Deserialize)]
struct Outcome {
    room: RoomId,
    id: MessageId,
}

impl NewMessage {
    /// A text that stays.
    pub fn text(room: RoomId, text: impl Into<String>) -> Self {
        Self { room_id: room, text: text.into(), expires_at: None }
    }
}

#[boxed]
impl Messages {
    /// The messages on this ground. There is one of these in a process: those who send tell those who
    /// listen.
    pub fn new(ground: Ground) -> Self {
        Self { ground, bells: Arc::default() }
    }

    /// The same messages, read and written through this ground: for one request's cost.
    #[must_use]
    pub fn on(&self, ground: Ground) -> Self {
        Self { ground, bells: Arc::clone(&self.bells) }
    }

    /// Says something in a room the caller is in, who has thereby read all before it. In a room of two,
    /// not while one has blocked the other.
    pub async fn send(
        &self,
        caller: &Caller,
        message: &NewMessage,
        request: Option<&RequestId>,
    ) -> Result<Message, RoomError> {
        let me = self.ground.account(caller).await?;
        check_filled("text", &message.text, MESSAGE_CHARS_MAX)?;
        let request = self.ground.request(&me.id, request, "sendMessage", message)?;
        let sent = self
            .ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, outcome).await,
                async || {
                    // Before it is looked at: a repetition must find its message even when it is gone.
                    if message.expires_at.is_some_and(|at| at <= self.ground.now()) {
                        let misfit = Misfit::new("a time to come", "one that has passed");
                        return Err(Failure::bad("expiresAt", misfit).into());
                    }
                    let seat = Seat::of(&self.ground, &me.id, &message.room_id).await?;
                    if !allows(Act::SendMessage, Standing::SIGNED_IN | Standing::MEMBER) {
                        return Err(Failure::Forbidden.into());
                    }
                    let commit = self.ground.commit();
                    let commit = if seat.room.scope == RoomScope::Dm {
                        let them = other_of(&self.ground, &seat.room.id, &me.id).await?;
                        let them = them.ok_or(RoomError::NoSuchUser)?;
                        let sight = self.ground.sight_of(caller, &me, [&them], []).await?;
                        may_talk(&sight, &them)?;
                        unblocked(commit, &me.id, &them)
                    } else {
                        commit
                    };
                    self.say(commit, &seat, &me.id, message, request.as_ref()).await
                },
            )
            .await?;
        self.bells.ring(&sent.room_id);
        Ok(sent)
    }

    /// Writes a message as the newest of its room, unless another one comes first.
    async fn say(
        &self,
        commit: Commit<'_>,
        seat: &Seat,
        me: &UserId,
        message: &NewMessage,
        request: Option<&Request>,
    ) -> Result<Tried<Message>, RoomError> {
        let room = &seat.room.id;
        // From here to the end: all who send to this room write its head.
        let _turn = turn_of(&room.to_string()).await;
        let head = head_of(&self.ground, room).await?.ok_or(RoomError::NoSuchRoom)?;
        let now = self.ground.now();
        let ts = now.max(head.last_ts.plus_ms(1));
        let message = Message {
            room_id: room.clone(),
            id: self.ground.ids().next_at(ts),
            user_id: me.clone(),
            seq: head.seq + 1,
            text: message.text.clone(),
            // Always: by this the purge of an account finds them all, also in rooms it has left.
            listed: true,
            created_at: ts,
            ttl: message.expires_at.map(Expiry::at),
        };
        let raised = head
            .key()
            .patch()
            .set(RoomHead::LAST_TS, &ts)
            .set(RoomHead::SEQ, &message.seq)
            .when(RoomHead::SEQ.is(&head.seq));
        let commit = commit.with("message", message.create()).with("head", raised);
        let commit = match &seat.mine {
            Some(mine) => {
                let read = mine.key().patch().set(RoomMember::READ_SEQ, &message.seq);
                commit.with("member", read)
            }
            None => takes(commit, seat, me, message.seq, now),
        };
        let outcome = Outcome { room: room.clone(), id: message.id.clone() };
        Ok(commit.remembering(request, &outcome)?.done(message).await?)
    }

    /// What has been said in a room the caller is in (R28).
    pub async fn list(
        &self,
        caller: &Caller,
        room: &RoomId,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Message>, RoomError> {
        let me = self.ground.reader(caller).await?.id;
        Seat::of(&self.ground, &me, room).await?;
        let limit = Some(page.size_or(MESSAGE_ITEMS)?);
        fill(
            &PageInput { limit, after: page.after.clone() },
            async |limit, after| {
                let listing = self.ground.core().messages(room, Span::ALL).order(order);
                listing.limit(limit).after(after).page().await
            },
            async |messages| Ok(seen(&self.ground, caller, messages).await?),
        )
        .await
    }

    /// Hears of changes of the core table: for those who read the stream where other processes write as
    /// well, so that whoever listens here is told at once.
    pub fn apply(&self, changes: &[Change]) {
        let new = changes.iter().filter_map(|change| change.new.as_ref());
        let messages = new.filter(|item| item.text(TYPE) == Some(Message::SHAPE.name));
        for item in messages {
            if let Ok(message) = Message::from_item(item) {
                self.bells.ring(&message.room_id);
            }
        }
    }

    /// A message as it is now, if the caller is still in the room.
    async fn replayed(&self, caller: &Caller, outcome: Outcome) -> Result<Message, RoomError> {
        Seat::of(&self.ground, &caller.user_id, &outcome.room).await?;
        let message = message_of(&self.ground, &outcome.room, &outcome.id).await?;
        message.ok_or(RoomError::NoSuchMessage)
    }
}

/// Demands that neither has blocked the other.
fn unblocked<'a>(commit: Commit<'a>, one: &UserId, other: &UserId) -> Commit<'a> {
    commit
        .with("block", Block::at(one, other).absent())
        .with("block", Block::at(other, one).absent())
}
