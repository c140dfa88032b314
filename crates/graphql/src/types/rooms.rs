//! Conversations and what is said in them, as those in them see it.

use async_graphql::{Context, ID, Object};
use roundtable_domain::RoomView;
use roundtable_model::table::Order;
use roundtable_model::{GroupId, MessageId, RoomId, RoomScope, UserId, entities};

use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::loaders::{MemberIdsOf, MessageAt};
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id, Timestamp};
use crate::words::{ModelSortDirection, Word};

/// A conversation that the viewer is in.
#[derive(Clone, Debug)]
pub(crate) struct Room(pub(crate) RoomView);

impl From<RoomView> for Room {
    fn from(room: RoomView) -> Self {
        Self(room)
    }
}

impl Room {
    /// A room, if the viewer is in it.
    pub(crate) async fn load(ctx: &Context<'_>, id: &RoomId) -> Result<Option<Self>, Refused> {
        Ok(Asked::of(ctx)?.load.one(id.clone()).await?.map(Self))
    }
}

#[Object]
impl Room {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Room", &[&self.0.room.id.to_string()])
    }

    async fn id(&self) -> Id<&RoomId> {
        Id(&self.0.room.id)
    }

    async fn scope(&self) -> Word<RoomScope> {
        Word(self.0.room.scope)
    }

    /// Who is in it: at most the first 100.
    async fn member_ids(&self, ctx: &Context<'_>) -> Result<Vec<Id<UserId>>, Refused> {
        let of = MemberIdsOf(self.0.room.id.clone());
        let ids = Asked::of(ctx)?.load.one(of).await?.unwrap_or_default();
        Ok(ids.into_iter().map(Id).collect())
    }

    /// Who is in it.
    async fn members(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<User>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(members(ctx, &self.0.room.id, paging).await)
    }

    /// The group it belongs to, if it does.
    async fn group_id(&self) -> Option<Id<&GroupId>> {
        self.0.room.group_id.as_ref().map(Id)
    }

    /// How many messages the viewer has not read, a thousand at the most.
    async fn unread_count(&self) -> u64 {
        self.0.unread_count
    }

    /// What was said, the newest first unless asked otherwise.
    async fn messages(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Message>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let order = ModelSortDirection::or(sort_direction, Order::Descending);
        Connection::if_seen(messages(ctx, &self.0.room.id, order, paging).await)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.room.created_at)
    }
}

/// Something said in a room.
#[derive(Clone, Debug)]
pub(crate) struct Message(pub(crate) entities::Message);

impl From<entities::Message> for Message {
    fn from(message: entities::Message) -> Self {
        Self(message)
    }
}

impl Message {
    /// A message of a room, if the viewer may see it.
    pub(crate) async fn load(
        ctx: &Context<'_>,
        room: RoomId,
        id: MessageId,
    ) -> Result<Option<Self>, Refused> {
        Ok(Asked::of(ctx)?.load.one(MessageAt(room, id)).await?.map(Self))
    }
}

#[Object]
impl Message {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Message", &[&self.0.room_id.to_string(), &self.0.id.to_string()])
    }

    async fn id(&self) -> Id<&MessageId> {
        Id(&self.0.id)
    }

    async fn room_id(&self) -> Id<&RoomId> {
        Id(&self.0.room_id)
    }

    async fn user_id(&self) -> Id<&UserId> {
        Id(&self.0.user_id)
    }

    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        User::load(ctx, &self.0.user_id).await
    }

    async fn text(&self) -> &str {
        &self.0.text
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When it goes, if it does.
    async fn ttl(&self) -> Option<Timestamp> {
        self.0.ttl.map(|ttl| Timestamp(ttl.seconds()))
    }
}

/// The rooms the caller is in.
pub(crate) async fn mine(ctx: &Context<'_>, paging: Paging) -> Result<Connection<Room>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, rooms) = (asked.caller()?, asked.services().rooms());
    paging.read(ctx, "rooms", async |page| rooms.mine(caller, page).await).await
}

/// What was said in a room.
pub(crate) async fn messages(
    ctx: &Context<'_>,
    room: &RoomId,
    order: Order,
    paging: Paging,
) -> Result<Connection<Message>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, messages) = (asked.caller()?, &asked.services().messages);
    let list = format!("messages of {room}, {order:?}");
    paging.read(ctx, &list, async |page| messages.list(caller, room, order, page).await).await
}

/// Who is in a room.
async fn members(
    ctx: &Context<'_>,
    room: &RoomId,
    paging: Paging,
) -> Result<Connection<User>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, rooms) = (asked.caller()?, asked.services().rooms());
    let list = format!("members of room {room}");
    let read = async |page: &_| {
        let page = rooms.members(caller, room, page).await?;
        let ids: Vec<UserId> = page.items.iter().map(|(it, _)| it.user_id.clone()).collect();
        let people = asked.services().accounts().people(Some(caller), &ids).await?;
        let found = people.into_iter().zip(page.items);
        let items = found.filter_map(|(person, (_, cursor))| Some((person?, cursor)));
        Ok::<_, Refused>(roundtable_domain::Page { items: items.collect(), next: page.next })
    };
    paging.read(ctx, &list, read).await
}
