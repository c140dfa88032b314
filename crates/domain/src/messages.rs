//! Messages in rooms (R15, R28, R31): sent in commit order, listed in either order, and delivered
//! live to subscribers (I15).

mod live;
mod lookup;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Message, RoomHead, RoomMember};
use roundtable_model::table::Order;
use roundtable_model::{
    Entity, Expiry, InvalidValue, MessageId, RequestId, RoomId, RoomScope, Span, Time, UserId,
};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, require};
use crate::commit::Commit;
use crate::contact::unblocked_checks;
use crate::head_locks::lock_head;
use crate::limits::{MESSAGE_CHARS_MAX, check_filled};
use crate::mutation::AttemptOutcome;
use crate::pages::fill_page;
use crate::rooms::{
    RoomMembership, add_membership, check_may_talk, find_message, other_member, room_head,
    visible_messages,
};
use crate::{Caller, Context, Page, PageInput, RoomError, ServiceError};

pub use self::live::LiveRoom;
pub(crate) use self::live::RoomWakeUps;

pub const MESSAGE_ITEMS: usize = 50;

#[derive(Clone, Debug)]
pub struct Messages {
    context: Context,
}

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewMessage {
    pub room_id: RoomId,
    pub text: String,
    pub expires_at: Option<Time>,
}

/// The recorded outcome of a request.
#[derive(Debug, Serialize, Deserialize)]
struct MessageOutcome {
    room: RoomId,
    id: MessageId,
}

impl NewMessage {
    /// A message that does not expire.
    pub fn text(room: RoomId, text: impl Into<String>) -> Self {
        Self { room_id: room, text: text.into(), expires_at: None }
    }
}

#[boxed]
impl Messages {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Sends a message to a room the caller is in, and marks everything before it as read. In a
    /// direct room, fails while either user blocks the other.
    pub async fn send(
        &self,
        caller: &Caller,
        message: &NewMessage,
        request: Option<&RequestId>,
    ) -> Result<Message, RoomError> {
        let mutation = self.context.mutation(caller).await?;
        check_filled("text", &message.text, MESSAGE_CHARS_MAX)?;
        mutation
            .once("sendMessage", message, request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                // Checked inside the attempt: a repeated request must find its message even
                // after it has expired.
                if message.expires_at.is_some_and(|at| at <= self.context.now()) {
                    let invalid = InvalidValue::new("a time in the future", "a time in the past");
                    return Err(ServiceError::bad_input("expiresAt", invalid).into());
                }
                let membership =
                    RoomMembership::of(&self.context, &me.id, &message.room_id).await?;
                require(Permission::SendMessage, Relations::SIGNED_IN | Relations::MEMBER)?;
                membership.require_writable()?;
                let mut commit = attempt.commit();
                if membership.room.scope == RoomScope::Dm {
                    let them = other_member(&self.context, &membership.room.id, &me.id).await?;
                    let them = them.ok_or(RoomError::NoSuchUser)?;
                    let access = self.context.viewer_access_of(caller, &me, [&them], []).await?;
                    check_may_talk(&access, &them)?;
                    commit = commit.with_all("block", unblocked_checks(&me.id, &them));
                }
                self.write_message(commit, &membership, &me.id, message).await
            })
            .await
    }

    /// Writes the room's newest message, unless another one commits first.
    async fn write_message(
        &self,
        commit: Commit<'_>,
        membership: &RoomMembership,
        me: &UserId,
        message: &NewMessage,
    ) -> Result<AttemptOutcome<Message>, RoomError> {
        let room = &membership.room.id;
        // Held until the transaction ends: all senders to this room write its head.
        let _lock = lock_head(&room.to_string()).await;
        let head = room_head(&self.context, room).await?.ok_or(RoomError::NoSuchRoom)?;
        let now = self.context.now();
        let ts = now.max(head.last_ts.plus_ms(1));
        let message = Message {
            room_id: room.clone(),
            id: self.context.ids().next_at(ts),
            user_id: me.clone(),
            seq: head.seq + 1,
            text: message.text.clone(),
            listed: membership.room.lists_messages(),
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
        let commit = match &membership.mine {
            Some(mine) => {
                let read = mine.key().patch().set(RoomMember::READ_SEQ, &message.seq);
                commit.with("member", read)
            }
            None => add_membership(commit, membership, me, message.seq, now),
        };
        let outcome = MessageOutcome { room: room.clone(), id: message.id.clone() };
        commit.finish(outcome, message).await
    }

    /// Lists the messages of a room the caller is in (R28).
    pub async fn list(
        &self,
        caller: &Caller,
        room: &RoomId,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Message>, RoomError> {
        let me = self.context.authorize_read(caller).await?.id;
        RoomMembership::of(&self.context, &me, room).await?;
        let limit = Some(page.size_or(MESSAGE_ITEMS)?);
        fill_page(
            &PageInput { limit, after: page.after.clone() },
            async |limit, after| {
                let listing = self.context.core().messages(room, Span::ALL).order(order);
                listing.limit(limit).after(after).page().await
            },
            async |messages| Ok(visible_messages(&self.context, caller, messages).await?),
        )
        .await
    }

    /// Returns the message as it is now, if the caller is still in the room.
    async fn replayed(
        &self,
        caller: &Caller,
        outcome: MessageOutcome,
    ) -> Result<Message, RoomError> {
        RoomMembership::of(&self.context, &caller.user_id, &outcome.room).await?;
        let message = find_message(&self.context, &outcome.room, &outcome.id).await?;
        message.ok_or(RoomError::NoSuchMessage)
    }
}
