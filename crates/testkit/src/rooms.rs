//! Rooms of a town, and what is said in them.

use roundtable_domain::{Messages, NewMessage, NewRoom, PageInput, Rooms};
use roundtable_model::entities::Message;
use roundtable_model::table::Order;
use roundtable_model::{GroupId, RoomId, Time};

use crate::Town;

impl Town {
    /// The rooms of this town.
    pub fn rooms(&self) -> Rooms {
        Rooms::new(self.ground().clone())
    }

    /// The messages of this town. Those who listen are told by those who send with the same.
    pub fn messages(&self) -> Messages {
        Messages::new(self.ground().clone())
    }

    /// The room of two people, which one of them opens, or finds open.
    pub async fn room_with(&self, name: &str, other: &str) -> RoomId {
        let (caller, room) = (self.caller(name), NewRoom::with(self.id(other)));
        self.rooms().create(&caller, &room, None).await.unwrap().room.id
    }

    /// The room of a group that somebody is in.
    pub async fn room_of(&self, name: &str, group: &GroupId) -> RoomId {
        let (caller, room) = (self.caller(name), NewRoom::of(group.clone()));
        self.rooms().create(&caller, &room, None).await.unwrap().room.id
    }

    /// Somebody says something; a second passes.
    pub async fn say(&self, name: &str, room: &RoomId, text: &str) -> Message {
        self.say_until(name, room, text, None).await
    }

    /// Somebody says something that goes at a time; a second passes.
    pub async fn say_until(
        &self,
        name: &str,
        room: &RoomId,
        text: &str,
        expires_at: Option<Time>,
    ) -> Message {
        let message = NewMessage { expires_at, ..NewMessage::text(room.clone(), text) };
        let sent = self.messages().send(&self.caller(name), &message, None).await.unwrap();
        self.pass_ms(1_000);
        sent
    }

    /// What somebody reads in a room, oldest first.
    pub async fn heard(&self, name: &str, room: &RoomId) -> Vec<String> {
        let page = PageInput { limit: Some(100), after: None };
        let (messages, caller) = (self.messages(), self.caller(name));
        let page = messages.list(&caller, room, Order::Ascending, &page).await.unwrap();
        page.into_items().into_iter().map(|message| message.text).collect()
    }

    /// How many messages somebody has not read in a room.
    pub async fn unread(&self, name: &str, room: &RoomId) -> u64 {
        self.rooms().room(&self.caller(name), room).await.unwrap().unread_count
    }
}
