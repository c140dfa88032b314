//! Asking for conversations and what was said in them.

use async_graphql::{Context, Object};
use roundtable_model::RoomId;
use roundtable_model::table::Order;

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::request::Asked;
use crate::scalars::Id;
use crate::types::rooms::{self, Message, Room};
use crate::words::ModelSortDirection;

/// Queries of rooms.
#[derive(Debug, Default)]
pub(super) struct Rooms;

#[Object]
impl Rooms {
    /// A room the caller is in.
    async fn get_room(&self, ctx: &Context<'_>, id: Id<RoomId>) -> Result<Option<Room>, Refused> {
        Asked::of(ctx)?.caller()?;
        Room::load(ctx, &id.0).await
    }

    /// The rooms the caller is in, the one they came to last first.
    async fn list_my_rooms(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Room>, Refused> {
        rooms::mine(ctx, Paging::new(limit, next_token, first, after)).await
    }

    /// What was said in a room, the newest first unless asked otherwise.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn list_messages(
        &self,
        ctx: &Context<'_>,
        room_id: Id<RoomId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Message>, Refused> {
        let order = ModelSortDirection::or(sort_direction, Order::Descending);
        let paging = Paging::new(limit, next_token, first, after);
        rooms::messages(ctx, &room_id.0, order, paging).await
    }
}
