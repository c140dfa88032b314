//! Queries for rooms and their messages.

use async_graphql::{Context, Object};
use roundtable_model::RoomId;
use roundtable_model::table::Order;

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::ModelSortDirection;
use crate::request::RequestContext;
use crate::scalars::ApiId;
use crate::types::rooms::{self, Message, Room};

#[derive(Debug, Default)]
pub(super) struct RoomQueries;

#[Object]
impl RoomQueries {
    /// A room that the caller is a member of.
    async fn get_room(
        &self,
        ctx: &Context<'_>,
        id: ApiId<RoomId>,
    ) -> Result<Option<Room>, ApiError> {
        RequestContext::of(ctx)?.caller()?;
        Room::load(ctx, &id.0).await
    }

    /// The caller's rooms, most recently joined first.
    async fn list_my_rooms(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Room>, ApiError> {
        rooms::list_mine(ctx, PageArguments::new(limit, next_token, first, after)).await
    }

    /// The messages of a room, newest first by default.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn list_messages(
        &self,
        ctx: &Context<'_>,
        room_id: ApiId<RoomId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Message>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        let paging = PageArguments::new(limit, next_token, first, after);
        rooms::list_messages(ctx, &room_id.0, order, paging).await
    }
}
