//! Rooms, and what people do in them.

use roundtable_domain::{Caller, Code, NewMessage, NewRoom};
use roundtable_model::{GroupId, MessageId, RequestId, RoomId, Span, UserId};
use roundtable_testkit::{Done, Town};

use crate::deeds::{Deed, told};
use crate::stage::Stage;

/// What ana says, once.
const WORDS: &str = "said once";

/// The rooms there are: ana is in both, and bo has said something.
#[derive(Clone)]
pub(crate) struct Rooms {
    two: RoomId,
    group: RoomId,
    said: MessageId,
}

impl Rooms {
    pub(crate) async fn set(town: &Town, group: &GroupId) -> Self {
        let two = town.room_with("ana", "bo").await;
        let group = town.room_of("ana", group).await;
        let said = town.say("bo", &two, "hello").await.id;
        town.say("bo", &group, "hello").await;
        Self { two, group, said }
    }
}

/// One of these deeds.
#[derive(Clone, Debug)]
pub(crate) enum Talk {
    Open(UserId),
    Enter(GroupId),
    Say(RoomId),
    Read(RoomId, MessageId),
}

impl Talk {
    /// The service and the method that does it.
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Open(_) | Self::Enter(_) => "rooms.create",
            Self::Say(_) => "messages.send",
            Self::Read(..) => "rooms.mark_read",
        }
    }

    pub(crate) async fn be_done(
        &self,
        town: &Town,
        caller: &Caller,
        request: Option<&RequestId>,
    ) -> Result<Done, Code> {
        let rooms = town.rooms();
        match self {
            Self::Open(user) => {
                told(rooms.create(caller, &NewRoom::with(user.clone()), request).await)
            }
            Self::Enter(group) => {
                told(rooms.create(caller, &NewRoom::of(group.clone()), request).await)
            }
            Self::Say(room) => {
                let message = NewMessage::text(room.clone(), WORDS);
                told(town.messages().send(caller, &message, request).await)
            }
            Self::Read(room, up_to) => told(rooms.mark_read(caller, room, up_to, request).await),
        }
    }

    /// What was stopped and done again is there once.
    pub(crate) async fn happened_once(&self, town: &Town, what: &str) {
        let core = town.ground().core();
        match self {
            Self::Say(room) => {
                let messages = core.messages(room, Span::ALL).all().await.unwrap();
                let said = messages.iter().filter(|message| message.text == WORDS).count();
                let numbers: Vec<u64> = messages.iter().map(|message| message.seq).collect();
                assert_eq!((said, numbers), (1, vec![2, 1]), "{what}");
                assert_eq!(town.unread("ana", room).await, 0, "{what}");
                assert_eq!(town.unread("bo", room).await, 1, "{what}");
            }
            Self::Read(room, _) => assert_eq!(town.unread("ana", room).await, 0, "{what}"),
            Self::Open(user) => {
                let room = town.room_with("ana", &user.to_string()).await;
                let rows = town.rows(&format!("ROOM#{room}"), "").await;
                assert_eq!(rows.len(), 4, "{what}: {rows:?}");
            }
            Self::Enter(_) => {}
        }
    }
}

/// What people do in rooms.
pub(crate) fn with_rooms(stage: &Stage, town: &Town) -> Vec<Deed> {
    let Rooms { two, group, said } = stage.rooms.clone();
    let ana = town.caller("ana");
    let deeds = [
        Talk::Open(town.id("cleo")),
        Talk::Enter(stage.group.clone()),
        Talk::Say(two.clone()),
        Talk::Say(group),
        Talk::Read(two, said),
    ];
    deeds.into_iter().map(|deed| Deed::Talk(ana.clone(), deed)).collect()
}
