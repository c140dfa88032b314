//! Rooms and messages of a town.

use roundtable_domain::{Messages, NewMessage, NewRoom, PageInput, Rooms};
use roundtable_model::entities::Message;
use roundtable_model::table::Order;
use roundtable_model::{GroupId, RoomId, Time};

use crate::Town;

impl Town {
    pub fn rooms(&self) -> Rooms {
        Rooms::new(self.context().clone())
    }

    pub fn messages(&self) -> Messages {
        Messages::new(self.context().clone())
    }

    /// Opens the direct-message room of two users, or returns the existing one.
    pub async fn room_with(&self, name: &str, other: &str) -> RoomId {
        let (caller, room) = (self.caller(name), NewRoom::with(self.id(other)));
        self.rooms().create(&caller, &room, None).await.unwrap().room.id
    }

    /// Opens the room of a group as one of its members.
    pub async fn room_of(&self, name: &str, group: &GroupId) -> RoomId {
        let (caller, room) = (self.caller(name), NewRoom::of(group.clone()));
        self.rooms().create(&caller, &room, None).await.unwrap().room.id
    }

    /// Sends a message and advances the clock by a second.
    pub async fn send_message(&self, name: &str, room: &RoomId, text: &str) -> Message {
        self.send_expiring_message(name, room, text, None).await
    }

    pub async fn send_expiring_message(
        &self,
        name: &str,
        room: &RoomId,
        text: &str,
        expires_at: Option<Time>,
    ) -> Message {
        let message = NewMessage { expires_at, ..NewMessage::text(room.clone(), text) };
        let sent = self.messages().send(&self.caller(name), &message, None).await.unwrap();
        self.advance_ms(1_000);
        sent
    }

    /// Returns the texts a user reads in a room, oldest first.
    pub async fn message_texts(&self, name: &str, room: &RoomId) -> Vec<String> {
        let page = PageInput { limit: Some(100), after: None };
        let (messages, caller) = (self.messages(), self.caller(name));
        let page = messages.list(&caller, room, Order::Ascending, &page).await.unwrap();
        page.into_items().into_iter().map(|message| message.text).collect()
    }

    pub async fn unread(&self, name: &str, room: &RoomId) -> u64 {
        self.rooms().room(&self.caller(name), room).await.unwrap().unread_count
    }
}
