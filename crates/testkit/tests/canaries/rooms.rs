//! Secrets that were said in rooms, and everything that shows them.

use futures::FutureExt;
use roundtable_domain::Caller;
use roundtable_model::table::Order;
use roundtable_model::{MessageId, RoomId, Span};

use super::reads::Reader;
use super::secrets::Hidden;

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
    async fn said(&self, room: &RoomId) -> Vec<MessageId> {
        let messages = self.town.ground().core().messages(room, Span::ALL).all().await.unwrap();
        messages.into_iter().map(|message| message.id).collect()
    }
}

impl Reader<'_> {
    /// Everything that somebody can read and hear in rooms.
    pub(crate) async fn rooms(&mut self, caller: &Caller) {
        let Reader { hidden: Hidden { town, rooms: ids, .. }, .. } = *self;
        let (rooms, messages) = (town.rooms(), town.messages());
        self.list("my rooms", async |page| rooms.mine(caller, &page).await).await;
        self.note("rooms", rooms.rooms(caller, ids).await);
        for id in ids {
            self.note(format!("room {id}"), rooms.room(caller, id).await);
            self.list(format!("in {id}"), async |page| rooms.members(caller, id, &page).await)
                .await;
            for order in [Order::Ascending, Order::Descending] {
                self.list(format!("said in {id}"), async |page| {
                    messages.list(caller, id, order, &page).await
                })
                .await;
            }
            for message in self.hidden.said(id).await {
                self.note(format!("one in {id}"), messages.get(caller, id, &message).await);
            }
            self.hear(caller, id).await;
        }
    }

    /// Listens from the beginning on, until there is nothing more to hear.
    async fn hear(&mut self, caller: &Caller, id: &RoomId) {
        let messages = self.hidden.town.messages();
        let beginning = "00000000000000000000000000".parse().unwrap();
        let mut live = match messages.live(caller, id, Some(&beginning)).await {
            Ok(live) => live,
            refused => return self.note(format!("live {id}"), refused),
        };
        while let Some(heard) = live.next().now_or_never() {
            let is_end = heard.is_err();
            self.note(format!("heard in {id}"), heard);
            if is_end {
                return;
            }
        }
    }
}
