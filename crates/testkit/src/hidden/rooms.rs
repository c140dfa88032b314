//! Secrets that were said in rooms.

use roundtable_model::{MessageId, RoomId, Span};

use super::Hidden;

/// Who said what, and who is meant to know it.
type Said = (&'static str, &'static str, &'static [&'static str]);

impl Hidden {
    /// What is said in rooms, before people block each other or go.
    pub(crate) async fn talk(&mut self) {
        let two: [(&str, &str, &[Said]); 4] = [
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
            self.say_all(room, said).await;
        }
        let members: &[&str] = &["ana", "mel", "gus"];
        let closed = self.groups[1].clone();
        let room = self.town.room_of("ana", &closed).await;
        let said: [Said; 4] = [
            ("ana", "room", members),
            ("mel", "room-of-member", members),
            ("sid", "room-of-suspended", &[]),
            ("dan", "room-of-deleted", &[]),
        ];
        self.say_all(room.clone(), &said).await;
        let (soon, secret) = (self.town.now().plus_ms(1_000), self.secret("expired-message", &[]));
        self.town.say_until("ana", &room, &secret, Some(soon)).await;
        self.town.pass_ms(1_000);
    }

    async fn say_all(&mut self, room: RoomId, said: &[Said]) {
        for (name, word, seen_by) in said {
            let secret = self.secret(word, seen_by);
            self.town.say(name, &room, &secret).await;
        }
        self.rooms.push(room);
    }

    /// Every message that is stored in a room.
    pub async fn said(&self, room: &RoomId) -> Vec<MessageId> {
        let messages = self.town.ground().core().messages(room, Span::ALL).all().await.unwrap();
        messages.into_iter().map(|message| message.id).collect()
    }
}
