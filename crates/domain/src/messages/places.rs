//! Messages of many rooms at once: what fields of many items are loaded with.

use std::collections::{HashMap, HashSet};

use futures::future::try_join3;
use roundtable_model::entities::{Message, Room, RoomMember};
use roundtable_model::{MemberStatus, MessageId, RoomId, RoomScope};

use super::Messages;
use crate::access::{Act, Standing, allows};
use crate::media::read_all;
use crate::{Caller, RoomError};

impl Messages {
    /// Messages by their rooms and ids, each in its place; `None` where the caller is not in the room, or
    /// may not see who said it.
    pub async fn messages(
        &self,
        caller: &Caller,
        places: &[(RoomId, MessageId)],
    ) -> Result<Vec<Option<Message>>, RoomError> {
        let (ground, me) = (&self.ground, self.ground.reader(caller).await?.id);
        let rooms: HashSet<&RoomId> = places.iter().map(|(room, _)| room).collect();
        let seats = rooms.iter().map(|room| RoomMember::at(room, &me)).collect();
        let said = places.iter().filter_map(|(room, id)| Some(Message::at(room, &id.time()?, id)));
        let (rooms, seats, said) = try_join3(
            read_all(ground, "rooms", rooms.iter().map(|room| Room::at(room)).collect()),
            read_all(ground, "room_member", seats),
            read_all(ground, "messages", said.collect()),
        )
        .await?;
        let rooms: Vec<Room> = rooms.into_iter().flatten().collect();
        let seats: HashSet<RoomId> = seats.into_iter().flatten().map(|seat| seat.room_id).collect();
        let said: Vec<Message> = said.into_iter().flatten().collect();
        let authors = said.iter().map(|message| &message.user_id);
        let groups = rooms.iter().filter_map(|room| room.group_id.as_ref());
        // Staff see what anybody would: their sight is for their work.
        let sight = ground.sight(Some(&Caller::user(me)), authors, groups).await?;
        let is_in = |room: &&Room| {
            let is_member = match (&room.group_id, room.scope) {
                (Some(group), RoomScope::Group) => sight
                    .membership(group)
                    .is_some_and(|member| member.status == MemberStatus::Active),
                _ => seats.contains(&room.id),
            };
            allows(Act::SeeRoom, Standing::SIGNED_IN.and_if(is_member, Standing::MEMBER))
        };
        let open: HashSet<&RoomId> = rooms.iter().filter(is_in).map(|room| &room.id).collect();
        let shows = |message: &&Message| {
            open.contains(&message.room_id) && sight.person(&message.user_id).is_some()
        };
        let said: HashMap<(&RoomId, &MessageId), &Message> =
            said.iter().filter(shows).map(|it| ((&it.room_id, &it.id), it)).collect();
        Ok(places.iter().map(|(room, id)| said.get(&(room, id)).copied().cloned()).collect())
    }
}
