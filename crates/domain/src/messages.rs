//! Messages in rooms (R15, R28, R31): sent in commit order, listed in either order, and delivered
//! live to subscribers (I15).

mod live;
mod lookup;
mod signals;

use std::sync::Arc;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Block, Message, RoomHead, RoomMember};
use roundtable_model::table::{Change, Order};
use roundtable_model::{
    Entity, Expiry, FromItem, InvalidValue, MessageId, RequestId, RoomId, RoomScope, Span, TYPE,
    Time, UserId,
};
use serde::{Deserialize, Serialize};

use self::signals::RoomSignals;
use crate::access::{Permission, Relations, allows};
use crate::commit::Commit;
use crate::head_locks::lock_head;
use crate::idempotency::{AttemptOutcome, IdempotentRequest};
use crate::limits::{MESSAGE_CHARS_MAX, check_filled};
use crate::pages::fill_page;
use crate::rooms::{
    RoomMembership, add_membership, check_may_talk, find_message, other_member, room_head,
    visible_messages,
};
use crate::{Caller, Context, Page, PageInput, RoomError, ServiceError};

pub use live::LiveRoom;

pub const MESSAGE_ITEMS: usize = 50;

#[derive(Clone, Debug)]
pub struct Messages {
    context: Context,
    signals: Arc<RoomSignals>,
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
    /// Creates the service. A process has one instance, so that senders wake the subscribers.
    pub fn new(context: Context) -> Self {
        Self { context, signals: Arc::default() }
    }

    /// Returns the same service with another context, to measure one request's cost.
    #[must_use]
    pub fn with_context(&self, context: Context) -> Self {
        Self { context, signals: Arc::clone(&self.signals) }
    }

    /// Sends a message to a room the caller is in, and marks everything before it as read. In a
    /// direct room, fails while either user blocks the other.
    pub async fn send(
        &self,
        caller: &Caller,
        message: &NewMessage,
        request: Option<&RequestId>,
    ) -> Result<Message, RoomError> {
        let me = self.context.authorize_write(caller).await?;
        check_filled("text", &message.text, MESSAGE_CHARS_MAX)?;
        let request = self.context.idempotent_request(&me.id, request, "sendMessage", message)?;
        let sent = self
            .context
            .run_once(
                request.as_ref(),
                async |outcome: MessageOutcome| self.replayed(caller, outcome).await,
                async || {
                    // Checked inside the attempt: a repeated request must find its message even
                    // after it has expired.
                    if message.expires_at.is_some_and(|at| at <= self.context.now()) {
                        let invalid =
                            InvalidValue::new("a time in the future", "a time in the past");
                        return Err(ServiceError::bad_input("expiresAt", invalid).into());
                    }
                    let membership =
                        RoomMembership::of(&self.context, &me.id, &message.room_id).await?;
                    if !allows(Permission::SendMessage, Relations::SIGNED_IN | Relations::MEMBER) {
                        return Err(ServiceError::Forbidden.into());
                    }
                    let commit = self.context.commit();
                    let commit = if membership.room.scope == RoomScope::Dm {
                        let them = other_member(&self.context, &membership.room.id, &me.id).await?;
                        let them = them.ok_or(RoomError::NoSuchUser)?;
                        let access =
                            self.context.viewer_access_of(caller, &me, [&them], []).await?;
                        check_may_talk(&access, &them)?;
                        unblocked(commit, &me.id, &them)
                    } else {
                        commit
                    };
                    self.write_message(commit, &membership, &me.id, message, request.as_ref()).await
                },
            )
            .await?;
        self.signals.notify(&sent.room_id);
        Ok(sent)
    }

    /// Writes the room's newest message, unless another one commits first.
    async fn write_message(
        &self,
        commit: Commit<'_>,
        membership: &RoomMembership,
        me: &UserId,
        message: &NewMessage,
        request: Option<&IdempotentRequest>,
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
            // Always set: the purge of an account finds all its messages by it, also in rooms it
            // has left.
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
        let commit = match &membership.mine {
            Some(mine) => {
                let read = mine.key().patch().set(RoomMember::READ_SEQ, &message.seq);
                commit.with("member", read)
            }
            None => add_membership(commit, membership, me, message.seq, now),
        };
        let outcome = MessageOutcome { room: room.clone(), id: message.id.clone() };
        Ok(commit.recording(request, &outcome)?.finish(message).await?)
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

    /// Applies changes of the core table that another task has read, to wake local subscribers
    /// where other processes write as well.
    pub fn apply(&self, changes: &[Change]) {
        let new = changes.iter().filter_map(|change| change.new.as_ref());
        let messages = new.filter(|item| item.text(TYPE) == Some(Message::SHAPE.name));
        for item in messages {
            if let Ok(message) = Message::from_item(item) {
                self.signals.notify(&message.room_id);
            }
        }
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

/// Adds the conditions that neither user blocks the other.
fn unblocked<'a>(commit: Commit<'a>, one: &UserId, other: &UserId) -> Commit<'a> {
    commit
        .with("block", Block::at(one, other).absent())
        .with("block", Block::at(other, one).absent())
}
