//! Secrets in messages.

use roundtable_model::{MessageId, RoomId, Span};

use super::SecretTown;

/// The sender, the word, and the viewers who may see it.
type SecretMessage = (&'static str, &'static str, &'static [&'static str]);

impl SecretTown {
    /// Sends messages before users block each other or leave.
    pub(crate) async fn talk(&mut self) {
        let two: [(&str, &str, &[SecretMessage]); 4] = [
            ("ana", "fay", &[("ana", "dm", &["ana", "fay"]), ("fay", "dm-back", &["ana", "fay"])]),
            (
                "bex",
                "ana",
                &[("ana", "dm-to-blocked", &["ana"]), ("bex", "dm-of-blocked", &["bex"])],
            ),
            (
                "sid",
                "fay",
                &[("fay", "dm-to-suspended", &["fay"]), ("sid", "dm-of-suspended", &[])],
            ),
            ("dan", "fay", &[("fay", "dm-to-deleted", &["fay"]), ("dan", "dm-of-deleted", &[])]),
        ];
        for (one, other, said) in two {
            let room = self.town.room_with(one, other).await;
            self.send_all(room, said).await;
        }
        let members: &[&str] = &["ana", "mel", "gus"];
        let closed = self.groups[1].clone();
        let room = self.town.room_of("ana", &closed).await;
        let said: [SecretMessage; 4] = [
            ("ana", "room", members),
            ("mel", "room-of-member", members),
            ("sid", "room-of-suspended", &[]),
            ("dan", "room-of-deleted", &[]),
        ];
        self.send_all(room.clone(), &said).await;
        let (soon, secret) = (self.town.now().plus_ms(1_000), self.secret("expired-message", &[]));
        self.town.send_expiring_message("ana", &room, &secret, Some(soon)).await;
        self.town.advance_ms(1_000);
    }

    async fn send_all(&mut self, room: RoomId, said: &[SecretMessage]) {
        for (name, word, seen_by) in said {
            let secret = self.secret(word, seen_by);
            self.town.send_message(name, &room, &secret).await;
        }
        self.rooms.push(room);
    }

    /// Returns the ids of all messages stored in a room.
    pub async fn message_ids(&self, room: &RoomId) -> Vec<MessageId> {
        let messages = self.town.context().core().messages(room, Span::ALL).all().await.unwrap();
        messages.into_iter().map(|message| message.id).collect()
    }
}
