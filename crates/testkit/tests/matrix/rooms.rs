//! Rows about rooms: even staff only see rooms they are in.

use std::collections::HashMap;

use futures::FutureExt;
use roundtable_domain::{Caller, LiveSource as _, NewMessage, NewRoom};
use roundtable_model::table::Order;
use roundtable_model::{GroupId, MessageId, RoomId};
use roundtable_testkit::Town;
use tokio::task::unconstrained;

use super::operations::{Answer, lists, page, shows};
use super::user_actions::person;

/// Like the main table. Ana talks with fay, and talked with bex before she blocked her.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

room of two              | rooms.room rooms.members rooms.mark_read                             | -    ok   ok   404  404  404  404  404  404  404  403
room of two              | messages.list messages.live messages.next messages.send              | -    ok   ok   404  404  404  404  404  404  404  403
room of two              | rooms.update                                                         | -    ok   ok   404  404  404  404  404  404  404  403
room of two              | rooms.mine                                                           | -    ok   ok   no   no   no   no   no   no   no   403
room of two              | moderation.report_message                                            | -    400  ok   404  404  404  404  404  404  404  403
room of two              | rooms.rooms rooms.member_ids messages.messages                       | -    ok   ok   no   no   no   no   no   no   no   403

room with blocked        | rooms.room messages.live                                             | -    ok   404  404  ok   404  404  404  404  404  403
room with blocked        | rooms.members messages.list messages.next                            | -    ok   404  404  no   404  404  404  404  404  403
room with blocked        | rooms.mark_read                                                      | -    ok   404  404  404  404  404  404  404  404  403
room with blocked        | rooms.update                                                         | -    ok   404  404  ok   404  404  404  404  404  403
room with blocked        | rooms.mine                                                           | -    ok   no   no   ok   no   no   no   no   no   403
room with blocked        | moderation.report_message                                            | -    400  404  404  404  404  404  404  404  404  403
room with blocked        | rooms.rooms                                                          | -    ok   no   no   ok   no   no   no   no   no   403
room with blocked        | rooms.member_ids messages.messages                                   | -    ok   no   no   no   no   no   no   no   no   403
room with blocked        | messages.send                                                        | -    404  404  404  404  404  404  404  404  404  403

group's room             | rooms.room rooms.members rooms.mark_read                             | -    ok   404  404  404  ok   404  ok   404  404  403
group's room             | messages.list messages.live messages.next messages.send              | -    ok   404  404  404  ok   404  ok   404  404  403
group's room             | rooms.update                                                         | -    ok   404  404  404  403  404  ok   404  404  403
group's room             | rooms.mine                                                           | -    ok   no   no   no   ok   no   ok   no   no   403
group's room             | moderation.report_message                                            | -    400  404  404  404  ok   404  ok   404  404  403
group's room             | rooms.rooms rooms.member_ids messages.messages                       | -    ok   no   no   no   ok   no   ok   no   no   403
group's room             | rooms.create                                                         | -    ok   403  403  403  ok   403  ok   403  403  403

private group's room     | rooms.room rooms.members rooms.mark_read                             | -    ok   404  404  404  ok   404  ok   404  404  403
private group's room     | messages.list messages.live messages.next messages.send              | -    ok   404  404  404  ok   404  ok   404  404  403
private group's room     | rooms.update                                                         | -    ok   404  404  404  403  404  ok   404  404  403
private group's room     | rooms.mine                                                           | -    ok   no   no   no   ok   no   ok   no   no   403
private group's room     | moderation.report_message                                            | -    400  404  404  404  ok   404  ok   404  404  403
private group's room     | rooms.rooms rooms.member_ids messages.messages                       | -    ok   no   no   no   ok   no   ok   no   no   403
private group's room     | rooms.create                                                         | -    ok   403  403  403  ok   403  ok   403  403  403

profile                  | rooms.create                                                         | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
private profile          | rooms.create                                                         | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
suspended profile        | rooms.create                                                         | -    403  404  404  404  404  404  404  404  404  403
deleted profile          | rooms.create                                                         | -    401  404  404  404  404  404  404  404  404  403
";

/// The rooms; ana has sent two messages to each.
#[derive(Default)]
pub(crate) struct Rooms {
    rooms: HashMap<&'static str, Talked>,
}

struct Talked {
    room: RoomId,
    group: Option<GroupId>,
    first: MessageId,
    second: MessageId,
}

impl Rooms {
    /// Creates the rooms, before users are blocked or suspended.
    pub(crate) async fn set(town: &Town, open: &GroupId, closed: &GroupId) -> Self {
        let rooms = [
            ("room of two", town.room_with("ana", "fay").await, None),
            ("room with blocked", town.room_with("bex", "ana").await, None),
            ("group's room", town.room_of("ana", open).await, Some(open.clone())),
            ("private group's room", town.room_of("ana", closed).await, Some(closed.clone())),
        ];
        let mut all = Self::default();
        for (name, room, group) in rooms {
            let first = town.send_message("ana", &room, "hello").await.id;
            let second = town.send_message("ana", &room, "how are you?").await.id;
            all.rooms.insert(name, Talked { room, group, first, second });
        }
        all
    }

    pub(crate) async fn answer(
        &self,
        town: &Town,
        operation: &str,
        object: &str,
        viewer: Option<&Caller>,
    ) -> Answer {
        let Some(caller) = viewer else { return "-" };
        let (rooms, messages) = (town.rooms(), town.messages());
        let bus = town.new_bus();
        let Some(Talked { room, group, first, second }) = self.rooms.get(object) else {
            let wanted = NewRoom::with(person(object));
            return shows(rooms.create(caller, &wanted, None).await, |_| true);
        };
        match operation {
            "rooms.create" => {
                let wanted = NewRoom::of(group.clone().unwrap());
                shows(rooms.create(caller, &wanted, None).await, |view| view.room.id == *room)
            }
            "rooms.room" => shows(rooms.room(caller, room).await, |view| view.room.id == *room),
            "rooms.mine" => lists(rooms.mine(caller, &page()).await, |view| view.room.id == *room),
            "rooms.rooms" => {
                let found = rooms.rooms(caller, std::slice::from_ref(room)).await;
                shows(found, |found| found.iter().flatten().any(|view| view.room.id == *room))
            }
            "rooms.member_ids" => {
                let found = rooms.member_ids(caller, std::slice::from_ref(room)).await;
                shows(found, |found| found.concat().contains(&town.id("ana")))
            }
            "rooms.members" => {
                let ana = town.id("ana");
                let members = rooms.members(caller, room, &page()).await;
                lists(members, |member| member.user_id == ana)
            }
            "rooms.update" => shows(rooms.update(caller, room, false, None).await, |_| true),
            "moderation.report_message" => {
                let moderation = town.moderation();
                let reported = moderation.report_message(caller, room, second, "rude", None);
                shows(reported.await, |_| true)
            }
            "rooms.mark_read" => shows(rooms.mark_read(caller, room, second, None).await, |_| true),
            "messages.messages" => {
                let said = messages.messages(caller, &[(room.clone(), second.clone())]).await;
                shows(said, |said| said.iter().flatten().any(|message| message.id == *second))
            }
            "messages.list" => {
                let said = messages.list(caller, room, Order::Descending, &page()).await;
                lists(said, |message| message.id == *second)
            }
            "messages.live" => shows(messages.live(&bus, caller, room, None).await, |_| true),
            "messages.next" => {
                let mut live = match messages.live(&bus, caller, room, Some(first)).await {
                    Ok(live) => live,
                    refused => return shows(refused, |_| true),
                };
                // A subscription that has to wait receives nothing.
                let Some(next) = unconstrained(live.next()).now_or_never() else { return "no" };
                shows(next, |message| message.id == *second)
            }
            "messages.send" => {
                let message = NewMessage::text(room.clone(), "well");
                shows(messages.send(caller, &message, None).await, |_| true)
            }
            other => panic!("no row handler for {other} of {object}"),
        }
    }
}
