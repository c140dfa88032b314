//! Mutations of rooms and messages.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::{NewMessage, NewRoom};
use roundtable_model::{GroupId, MessageId, RoomId, RoomScope, UserId};

use crate::ApiError;
use crate::enums::EnumValue;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::{ApiId, DateTime};
use crate::types::rooms::{Message, Room};

#[derive(Debug, Default)]
pub(super) struct RoomMutations;

/// A new room.
#[derive(Debug, InputObject)]
pub(crate) struct CreateRoomInput {
    /// A direct message room, or the room of a group.
    scope: EnumValue<RoomScope>,
    /// For a dm: the other user; the caller may be included. For a group: empty.
    member_ids: Vec<ApiId<UserId>>,
    group_id: Option<ApiId<GroupId>>,
}

#[Object]
impl RoomMutations {
    /// Creates a room. memberIds may include the caller; an existing dm is returned.
    async fn create_room(
        &self,
        ctx: &Context<'_>,
        input: CreateRoomInput,
        request_id: RequestIdArg,
    ) -> Result<Room, ApiError> {
        let context = RequestContext::of(ctx)?;
        let room = NewRoom {
            scope: input.scope.0,
            member_ids: input.member_ids.into_iter().map(|id| id.0).collect(),
            group_id: input.group_id.map(|id| id.0),
        };
        let rooms = context.services().rooms();
        Ok(rooms.create(context.caller()?, &room, id_ref(&request_id)).await?.into())
    }

    /// Sends a message to a room of the caller.
    async fn send_message(
        &self,
        ctx: &Context<'_>,
        room_id: ApiId<RoomId>,
        text: String,
        expires_at: Option<DateTime>,
        request_id: RequestIdArg,
    ) -> Result<Message, ApiError> {
        let context = RequestContext::of(ctx)?;
        let expires_at = expires_at.map(|at| at.0);
        let message = NewMessage { room_id: room_id.0, text, expires_at };
        let messages = context.services().messages();
        Ok(messages.send(context.caller()?, &message, id_ref(&request_id)).await?.into())
    }

    /// Marks a room as read up to a message.
    async fn mark_room_read(
        &self,
        ctx: &Context<'_>,
        room_id: ApiId<RoomId>,
        #[graphql(desc = "The id of a message.")] up_to: ApiId<MessageId>,
        request_id: RequestIdArg,
    ) -> Result<Room, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (rooms, caller) = (context.services().rooms(), context.caller()?);
        Ok(rooms.mark_read(caller, &room_id.0, &up_to.0, id_ref(&request_id)).await?.into())
    }
}
