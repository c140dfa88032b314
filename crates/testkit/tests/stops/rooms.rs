//! Mutations of rooms and messages.

use roundtable_domain::{Caller, Code, NewMessage, NewRoom};
use roundtable_model::{GroupId, MessageId, RequestId, RoomId, Span, UserId};
use roundtable_testkit::{ActionOutcome, Town};

use crate::mutations::{Mutation, reduce};
use crate::stage::Stage;

/// The text of ana's only message.
const WORDS: &str = "said once";

/// Rooms with ana in both, and a message of bo's.
#[derive(Clone)]
pub(crate) struct RoomFixture {
    two: RoomId,
    group: RoomId,
    said: MessageId,
}

impl RoomFixture {
    pub(crate) async fn set(town: &Town, group: &GroupId) -> Self {
        let two = town.room_with("ana", "bo").await;
        let group = town.room_of("ana", group).await;
        let said = town.send_message("bo", &two, "hello").await.id;
        town.send_message("bo", &group, "hello").await;
        Self { two, group, said }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum RoomMutation {
    Open(UserId),
    Enter(GroupId),
    Say(RoomId),
    Read(RoomId, MessageId),
    Unlist(RoomId),
    Report(RoomId, MessageId),
}

impl RoomMutation {
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Open(_) | Self::Enter(_) => "rooms.create",
            Self::Say(_) => "messages.send",
            Self::Read(..) => "rooms.mark_read",
            Self::Unlist(_) => "rooms.update",
            Self::Report(..) => "moderation.report_message",
        }
    }

    pub(crate) async fn perform(
        &self,
        town: &Town,
        caller: &Caller,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        let rooms = town.rooms();
        match self {
            Self::Open(user) => {
                reduce(rooms.create(caller, &NewRoom::with(user.clone()), request).await)
            }
            Self::Enter(group) => {
                reduce(rooms.create(caller, &NewRoom::of(group.clone()), request).await)
            }
            Self::Say(room) => {
                let message = NewMessage::text(room.clone(), WORDS);
                reduce(town.messages().send(caller, &message, request).await)
            }
            Self::Read(room, up_to) => reduce(rooms.mark_read(caller, room, up_to, request).await),
            Self::Unlist(room) => reduce(rooms.update(caller, room, false, request).await),
            Self::Report(room, id) => {
                let moderation = town.moderation();
                reduce(moderation.report_message(caller, room, id, "rude", request).await)
            }
        }
    }

    pub(crate) async fn assert_happened_once(&self, town: &Town, what: &str) {
        let core = town.context().core();
        match self {
            Self::Say(room) => {
                let messages = core.messages(room, Span::ALL).all().await.unwrap();
                let said = messages.iter().filter(|message| message.text == WORDS).count();
                let numbers: Vec<u64> = messages.iter().map(|message| message.seq).collect();
                assert_eq!((said, numbers), (1, vec![2, 1]), "{what}");
                assert_eq!(town.unread("ana", room).await, 0, "{what}");
                assert_eq!(town.unread("bo", room).await, 1, "{what}");
            }
            Self::Unlist(room) => {
                let now = core.room(room).get().await.unwrap().unwrap();
                assert!(!now.lists_messages(), "{what}");
            }
            Self::Read(room, _) => assert_eq!(town.unread("ana", room).await, 0, "{what}"),
            Self::Open(user) => {
                let room = town.room_with("ana", &user.to_string()).await;
                let rows = town.rows(&format!("ROOM#{room}"), "").await;
                assert_eq!(rows.len(), 4, "{what}: {rows:?}");
            }
            Self::Report(_, id) => {
                let rows = town.rows(&format!("CASE#{id}"), "").await;
                assert_eq!(rows.len(), 2, "{what}: {rows:?}");
            }
            Self::Enter(_) => {}
        }
    }
}

pub(crate) fn room_mutations(stage: &Stage, town: &Town) -> Vec<Mutation> {
    let RoomFixture { two, group, said } = stage.rooms.clone();
    let ana = town.caller("ana");
    let mutations = [
        RoomMutation::Open(town.id("cleo")),
        RoomMutation::Enter(stage.group.clone()),
        RoomMutation::Say(two.clone()),
        RoomMutation::Say(group),
        RoomMutation::Unlist(two.clone()),
        RoomMutation::Read(two.clone(), said.clone()),
        RoomMutation::Report(two, said),
    ];
    mutations.into_iter().map(|mutation| Mutation::Room(ana.clone(), mutation)).collect()
}
