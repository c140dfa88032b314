//! GraphQL types of rooms and messages, which only members of a room see.

use async_graphql::{Context, ID, Object};
use roundtable_domain::RoomView;
use roundtable_model::table::Order;
use roundtable_model::{GroupId, MessageId, RoomId, RoomScope, UserId, entities};

use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::{EnumValue, ModelSortDirection};
use crate::loaders::{MessageKey, RoomMembersKey};
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime, Timestamp};

#[derive(Clone, Debug)]
pub(crate) struct Room(pub(crate) RoomView);

impl From<RoomView> for Room {
    fn from(room: RoomView) -> Self {
        Self(room)
    }
}

impl Room {
    pub(crate) async fn load(ctx: &Context<'_>, id: &RoomId) -> Result<Option<Self>, ApiError> {
        Ok(RequestContext::of(ctx)?.loaders.load(id.clone()).await?.map(Self))
    }
}

#[Object]
impl Room {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Room", &[&self.0.room.id.to_string()])
    }

    async fn id(&self) -> ApiId<&RoomId> {
        ApiId(&self.0.room.id)
    }

    async fn scope(&self) -> EnumValue<RoomScope> {
        EnumValue(self.0.room.scope)
    }

    /// The ids of at most the first 100 members.
    async fn member_ids(&self, ctx: &Context<'_>) -> Result<Vec<ApiId<UserId>>, ApiError> {
        let key = RoomMembersKey(self.0.room.id.clone());
        let ids = RequestContext::of(ctx)?.loaders.load(key).await?.unwrap_or_default();
        Ok(ids.into_iter().map(ApiId).collect())
    }

    /// The members of the room.
    async fn members(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<User>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(list_members(ctx, &self.0.room.id, paging).await)
    }

    /// The group that the room belongs to, if any.
    async fn group_id(&self) -> Option<ApiId<&GroupId>> {
        self.0.room.group_id.as_ref().map(ApiId)
    }

    /// The number of messages that the viewer has not read, at most 1000.
    async fn unread_count(&self) -> u64 {
        self.0.unread_count
    }

    /// The messages of the room, newest first by default.
    async fn messages(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Message>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        Connection::empty_if_hidden(list_messages(ctx, &self.0.room.id, order, paging).await)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.room.created_at)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Message(pub(crate) entities::Message);

impl From<entities::Message> for Message {
    fn from(message: entities::Message) -> Self {
        Self(message)
    }
}

impl Message {
    pub(crate) async fn load(
        ctx: &Context<'_>,
        room: RoomId,
        id: MessageId,
    ) -> Result<Option<Self>, ApiError> {
        Ok(RequestContext::of(ctx)?.loaders.load(MessageKey(room, id)).await?.map(Self))
    }
}

#[Object]
impl Message {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Message", &[&self.0.room_id.to_string(), &self.0.id.to_string()])
    }

    async fn id(&self) -> ApiId<&MessageId> {
        ApiId(&self.0.id)
    }

    async fn room_id(&self) -> ApiId<&RoomId> {
        ApiId(&self.0.room_id)
    }

    async fn user_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.user_id)
    }

    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        User::load(ctx, &self.0.user_id).await
    }

    async fn text(&self) -> &str {
        &self.0.text
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// The time at which the message expires, if it does.
    async fn ttl(&self) -> Option<Timestamp> {
        self.0.ttl.map(|ttl| Timestamp(ttl.seconds()))
    }
}

pub(crate) async fn list_mine(
    ctx: &Context<'_>,
    paging: PageArguments,
) -> Result<Connection<Room>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, rooms) = (context.caller()?, context.services().rooms());
    paging.read(ctx, "rooms", async |page| rooms.mine(caller, page).await).await
}

pub(crate) async fn list_messages(
    ctx: &Context<'_>,
    room: &RoomId,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<Message>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, messages) = (context.caller()?, context.services().messages());
    let list = format!("messages of {room}, {order:?}");
    paging.read(ctx, &list, async |page| messages.list(caller, room, order, page).await).await
}

async fn list_members(
    ctx: &Context<'_>,
    room: &RoomId,
    paging: PageArguments,
) -> Result<Connection<User>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, rooms) = (context.caller()?, context.services().rooms());
    let list = format!("members of room {room}");
    let read = async |page: &_| {
        let page = rooms.members(caller, room, page).await?;
        let ids: Vec<UserId> = page.items.iter().map(|(it, _)| it.user_id.clone()).collect();
        let users = context.services().accounts().people(Some(caller), &ids).await?;
        let members = users.into_iter().zip(page.items);
        let items = members.filter_map(|(user, (_, cursor))| Some((user?, cursor)));
        Ok::<_, ApiError>(roundtable_domain::Page { items: items.collect(), next: page.next })
    };
    paging.read(ctx, &list, read).await
}
