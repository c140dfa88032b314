//! Rooms and messages, which only members of a room see: their types, queries, mutations and
//! subscription.

use roundtable_domain::{NewMessage, NewRoom, Page, RoomView};
use roundtable_execution::{FieldError, SharedValue};
use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::table::Order;
use roundtable_model::{MessageId, RequestId, RoomId, Time, UserId, entities};

use crate::connection::{Connection, PageArguments};
use crate::enums::ModelSortDirection;
use crate::events::{EventStream, event_stream};
use crate::memo::Memo;
use crate::node::node_id;
use crate::objects::{converted, objects, only};
use crate::request::RequestContext;
use crate::scalars::Timestamp;
use crate::users::User;

objects! {
    Room of RoomView;
    Message of entities::Message;
}

impl Room {
    /// Returns rooms in the order of their ids; `None` where the viewer is not a member.
    pub(crate) async fn load(
        context: &RequestContext,
        ids: &[RoomId],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let Some(viewer) = context.viewer() else { return Ok(vec![None; ids.len()]) };
        let read = async |ids: &[RoomId]| {
            Ok(converted(context.services().rooms().rooms(viewer, ids).await?))
        };
        // The service would count the unread messages of a repeated room again.
        Memo::default().get(ids, read).await
    }
}

/// The ids of the first members of a room.
#[derive(Clone, Default)]
pub(crate) struct FirstMembers(Vec<UserId>);

impl SharedValue<Room> for FirstMembers {
    async fn read(rooms: &[Room], context: &RequestContext) -> Result<Vec<Self>, FieldError> {
        let Some(viewer) = context.viewer() else { return Ok(vec![Self::default(); rooms.len()]) };
        let ids: Vec<RoomId> = rooms.iter().map(|room| room.0.room.id.clone()).collect();
        let read = async |ids: &[RoomId]| {
            let members = context.services().rooms().member_ids(viewer, ids).await?;
            Ok(members.into_iter().map(|ids| Some(Self(ids))).collect())
        };
        // The service would list the members of a repeated room again.
        let members = Memo::default().get(&ids, read).await?;
        Ok(members.into_iter().map(Option::unwrap_or_default).collect())
    }
}

#[object(of = self.0.room)]
impl Room {
    fn node_id(&self) -> String {
        node_id("Room", &[&self.0.room.id])
    }

    fn member_ids(members: &FirstMembers) -> &[UserId] {
        &members.0
    }

    async fn members(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<User>, ApiError> {
        Connection::empty_if_hidden(list_members(context, &self.0.room.id, paging).await)
    }

    fn message_timeline(&self) -> bool {
        self.0.room.lists_messages()
    }

    fn unread_count(&self) -> u64 {
        self.0.unread_count
    }

    async fn messages(
        &self,
        context: &RequestContext,
        paging: PageArguments,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Message>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        let list = list_messages(context, &self.0.room.id, order, paging).await;
        Connection::empty_if_hidden(list)
    }
}

impl Message {
    /// Returns messages in the order of their keys; `None` where the viewer may not see one.
    pub(crate) async fn load(
        context: &RequestContext,
        keys: &[(RoomId, MessageId)],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let Some(viewer) = context.viewer() else { return Ok(vec![None; keys.len()]) };
        Ok(converted(context.services().messages().messages(viewer, keys).await?))
    }
}

#[object(of = self.0)]
impl Message {
    fn node_id(&self) -> String {
        node_id("Message", &[&self.0.room_id, &self.0.id])
    }

    fn user(&self) -> &UserId {
        &self.0.user_id
    }

    fn ttl(&self) -> Option<Timestamp> {
        self.0.ttl.map(|ttl| Timestamp(ttl.seconds()))
    }
}

async fn list_messages(
    context: &RequestContext,
    room: &RoomId,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<Message>, ApiError> {
    let (caller, messages) = (context.caller()?, context.services().messages());
    let list = format!("messages of {room}, {order:?}");
    paging.read(context, &list, async |page| messages.list(caller, room, order, page).await).await
}

async fn list_members(
    context: &RequestContext,
    room: &RoomId,
    paging: PageArguments,
) -> Result<Connection<User>, ApiError> {
    let (caller, rooms) = (context.caller()?, context.services().rooms());
    let list = format!("members of room {room}");
    let read = async |page: &_| {
        let page = rooms.members(caller, room, page).await?;
        let ids: Vec<UserId> = page.items.iter().map(|(it, _)| it.user_id.clone()).collect();
        let members = User::load(context, &ids).await?.into_iter().zip(page.items);
        let items = members.filter_map(|(user, (_, cursor))| Some((user?, cursor)));
        Ok::<_, ApiError>(Page { items: items.collect(), next: page.next })
    };
    paging.read(context, &list, read).await
}

pub(crate) struct RoomQueries;

#[fields(Query)]
impl RoomQueries {
    async fn get_room(context: &RequestContext, id: RoomId) -> Result<Option<Room>, ApiError> {
        context.caller()?;
        Ok(only(Room::load(context, &[id]).await?))
    }

    async fn list_my_rooms(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Room>, ApiError> {
        let (caller, rooms) = (context.caller()?, context.services().rooms());
        paging.read(context, "rooms", async |page| rooms.mine(caller, page).await).await
    }

    async fn list_messages(
        context: &RequestContext,
        room_id: RoomId,
        paging: PageArguments,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Message>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        list_messages(context, &room_id, order, paging).await
    }
}

pub(crate) struct RoomMutations;

#[fields(Mutation)]
impl RoomMutations {
    async fn create_room(
        context: &RequestContext,
        input: NewRoom,
        request_id: Option<RequestId>,
    ) -> Result<Room, ApiError> {
        let (rooms, caller) = (context.services().rooms(), context.caller()?);
        Ok(rooms.create(caller, &input, request_id.as_ref()).await?.into())
    }

    async fn update_room(
        context: &RequestContext,
        room_id: RoomId,
        message_timeline: bool,
        request_id: Option<RequestId>,
    ) -> Result<Room, ApiError> {
        let (rooms, caller) = (context.services().rooms(), context.caller()?);
        Ok(rooms.update(caller, &room_id, message_timeline, request_id.as_ref()).await?.into())
    }

    async fn send_message(
        context: &RequestContext,
        room_id: RoomId,
        text: String,
        expires_at: Option<Time>,
        request_id: Option<RequestId>,
    ) -> Result<Message, ApiError> {
        let message = NewMessage { room_id, text, expires_at };
        let (messages, caller) = (context.services().messages(), context.caller()?);
        Ok(messages.send(caller, &message, request_id.as_ref()).await?.into())
    }

    async fn mark_room_read(
        context: &RequestContext,
        room_id: RoomId,
        up_to: MessageId,
        request_id: Option<RequestId>,
    ) -> Result<Room, ApiError> {
        let (rooms, caller) = (context.services().rooms(), context.caller()?);
        Ok(rooms.mark_read(caller, &room_id, &up_to, request_id.as_ref()).await?.into())
    }
}

pub(crate) struct RoomSubscriptions;

#[fields(Subscription)]
impl RoomSubscriptions {
    async fn on_send_message(
        context: &RequestContext,
        room_id: RoomId,
        after: Option<MessageId>,
    ) -> Result<EventStream<Message>, ApiError> {
        let (services, caller) = (context.services(), context.caller()?);
        let messages = services.messages();
        let live = messages.live(&services.bus, caller, &room_id, after.as_ref()).await?;
        Ok(event_stream(live, |message| Some(message.into())))
    }
}
