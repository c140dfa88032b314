//! Opening conversations, talking in them, and having read them.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::{NewMessage, NewRoom};
use roundtable_model::{GroupId, MessageId, RoomId, RoomScope, UserId};

use crate::Refused;
use crate::request::{Asked, Once, once};
use crate::scalars::{DateTime, Id};
use crate::types::rooms::{Message, Room};
use crate::words::Word;

/// Mutations of rooms.
#[derive(Debug, Default)]
pub(super) struct Talking;

/// A room to be opened.
#[derive(Debug, InputObject)]
pub(crate) struct CreateRoomInput {
    /// Whether it is between two people or a group's.
    scope: Word<RoomScope>,
    /// Of two people: the other one; the caller may be named, too. Of a group: nobody.
    member_ids: Vec<Id<UserId>>,
    group_id: Option<Id<GroupId>>,
}

#[Object]
impl Talking {
    /// Opens a room. memberIds may include the caller; an existing dm is returned.
    async fn create_room(
        &self,
        ctx: &Context<'_>,
        input: CreateRoomInput,
        request_id: Once,
    ) -> Result<Room, Refused> {
        let asked = Asked::of(ctx)?;
        let room = NewRoom {
            scope: input.scope.0,
            member_ids: input.member_ids.into_iter().map(|id| id.0).collect(),
            group_id: input.group_id.map(|id| id.0),
        };
        let rooms = asked.services().rooms();
        Ok(rooms.create(asked.caller()?, &room, once(&request_id)).await?.into())
    }

    /// Says something in a room the caller is in.
    async fn send_message(
        &self,
        ctx: &Context<'_>,
        room_id: Id<RoomId>,
        text: String,
        expires_at: Option<DateTime>,
        request_id: Once,
    ) -> Result<Message, Refused> {
        let asked = Asked::of(ctx)?;
        let expires_at = expires_at.map(|at| at.0);
        let message = NewMessage { room_id: room_id.0, text, expires_at };
        let messages = &asked.services().messages;
        Ok(messages.send(asked.caller()?, &message, once(&request_id)).await?.into())
    }

    /// Notes that the caller has read a room up to a message.
    async fn mark_room_read(
        &self,
        ctx: &Context<'_>,
        room_id: Id<RoomId>,
        #[graphql(desc = "a message's id")] up_to: Id<MessageId>,
        request_id: Once,
    ) -> Result<Room, Refused> {
        let asked = Asked::of(ctx)?;
        let (rooms, caller) = (asked.services().rooms(), asked.caller()?);
        Ok(rooms.mark_read(caller, &room_id.0, &up_to.0, once(&request_id)).await?.into())
    }
}
