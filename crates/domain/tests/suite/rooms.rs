//! Rooms, as members see them and as stored items (R9, R15, R28, R32, R33).

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{Code, NewRoom, PageInput, Refusal, RoomError};
use roundtable_model::entities::{Message, Room, RoomHead, RoomMember};
use roundtable_model::table::{BatchWrite, Delete, ManualClock, Recorder, Store};
use roundtable_model::{Entity, GroupId, MessageId, RequestId, RoomId, UserStatus, samples};
use roundtable_testkit::{Town, YieldingBackend};

fn code<T: std::fmt::Debug>(answer: Result<T, RoomError>) -> Code {
    answer.unwrap_err().code()
}

async fn opened(town: &Town, name: &str, other: &str) -> Result<RoomId, RoomError> {
    let room = NewRoom::with(town.id(other));
    town.rooms().create(&town.caller(name), &room, None).await.map(|view| view.room.id)
}

/// The members of a room.
async fn members(town: &Town, room: &RoomId) -> Vec<String> {
    let rows = town.rows(&format!("ROOM#{room}"), "MEMBER#").await;
    let name = |row: &String| row.split([' ', '#']).nth(1).unwrap().to_owned();
    rows.iter().map(name).collect()
}

/// R15, R33: a direct room has one id whichever user opens it, and is created completely.
#[tokio::test]
async fn two_users_share_one_room() {
    let town = Town::of(["ana", "bo"]).await;
    let room = town.room_with("ana", "bo").await;
    assert_eq!(town.room_with("bo", "ana").await, room);
    let rows = town.rows(&format!("ROOM#{room}"), "").await;
    let expected = [
        String::from("HEAD seq=0"),
        String::from("MEMBER#ana readSeq=0"),
        String::from("MEMBER#bo readSeq=0"),
        format!("ROOM#{room} scope=dm"),
    ];
    assert_eq!(rows, expected);
}

/// R15: both users at the same time.
#[tokio::test]
async fn two_users_who_open_it_concurrently_share_one_room() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let backend = Arc::new(Reference::new(clock.clone()));
    let town = Town::on(Store::shared(backend.clone()), clock.clone(), Town::settings(), 0).await;
    for name in ["ana", "bo"] {
        town.add_user(name, |_| {}).await;
    }
    let slow = Store::new(YieldingBackend::shared(backend));
    let slow = Town::on(slow, clock, Town::settings(), 1).await;
    let (anas, bos) = tokio::join!(slow.room_with("ana", "bo"), slow.room_with("bo", "ana"));
    assert_eq!(anas, bos);
    assert_eq!(town.rows(&format!("ROOM#{anas}"), "").await.len(), 4);
}

/// R15: users who are blocked either way, suspended, deleted or missing cannot be talked to.
#[tokio::test]
async fn unreachable_users_cannot_be_talked_to() {
    let town = Town::of(["ana", "bo", "cleo", "sid", "dan"]).await;
    town.block("ana", "bo").await;
    town.block("cleo", "ana").await;
    town.set_status("sid", UserStatus::Suspended).await;
    town.set_status("dan", UserStatus::Deleted).await;
    for other in ["bo", "cleo", "sid", "dan", "nobody"] {
        assert_eq!(code(opened(&town, "ana", other).await), Code::NotFound, "{other}");
    }
    assert_eq!(code(opened(&town, "ana", "ana").await), Code::BadRequest);
    assert_eq!(code(opened(&town, "sid", "ana").await), Code::Forbidden);
    assert_eq!(code(opened(&town, "dan", "ana").await), Code::Unauthenticated);
    town.add_user("mo", |_| {}).await;
    let mo = town.staff("mo", roundtable_model::Role::Moderator);
    let with_sid = NewRoom::with(town.id("sid"));
    assert_eq!(code(town.rooms().create(&mo, &with_sid, None).await), Code::NotFound);
}

/// R15: a block during opening prevents the room, or the room existed before it.
#[tokio::test]
async fn a_concurrent_block_prevents_the_room() {
    for operations in 1.. {
        let town = Town::of(["ana", "bo"]).await;
        let (blocks, bo, ana) = (town.blocks(), town.caller("bo"), town.id("ana"));
        let block = async move || drop(blocks.block(&bo, &ana, None).await.unwrap());
        let (context, meanwhile) = town.interleave(operations, block);
        let rooms = roundtable_domain::Rooms::new(context);
        let room = NewRoom::with(town.id("bo"));
        let answer = rooms.create(&town.caller("ana"), &room, None).await;
        if !meanwhile.happened() {
            answer.unwrap();
            assert!(operations > 3, "too few gaps");
            return;
        }
        match answer {
            Ok(view) => assert_eq!(members(&town, &view.room.id).await, ["ana", "bo"]),
            Err(error) => assert_eq!(error.code(), Code::NotFound, "after {operations}"),
        }
    }
}

/// R9, R15: a group's room is for its active members, exactly while they are active.
#[tokio::test]
async fn members_of_a_group_are_in_its_room() {
    let town = Town::of(["ana", "bo", "cleo", "dora", "eve"]).await;
    let group = town.create_private_group("ana", "readers").await;
    let room = town.room_of("ana", &group).await;
    assert_eq!(members(&town, &room).await, ["ana"], "its founder");
    let (groups, ana) = (town.groups(), town.caller("ana"));
    town.join("bo", &group).await;
    groups.invite(&ana, &group, &town.id("cleo"), None).await.unwrap();
    town.join("dora", &group).await;
    assert_eq!(
        members(&town, &room).await,
        ["ana"],
        "requests and invitations are not memberships"
    );
    town.send_message("ana", &room, "the first chapter").await;
    groups.approve(&ana, &group, &town.id("bo"), None).await.unwrap();
    town.join("cleo", &group).await;
    groups.invite(&ana, &group, &town.id("dora"), None).await.unwrap();
    assert_eq!(members(&town, &room).await, ["ana", "bo", "cleo", "dora"]);
    assert_eq!(town.unread("bo", &room).await, 0, "earlier messages are not unread");
    groups.leave(&town.caller("bo"), &group, None).await.unwrap();
    groups.remove(&ana, &group, &town.id("cleo"), None).await.unwrap();
    assert_eq!(members(&town, &room).await, ["ana", "dora"]);
    for name in ["bo", "cleo", "eve"] {
        let (caller, wanted) = (town.caller(name), NewRoom::of(group.clone()));
        assert_eq!(code(town.rooms().room(&caller, &room).await), Code::NotFound, "{name}");
        assert_eq!(code(town.rooms().create(&caller, &wanted, None).await), Code::Forbidden);
        let page = PageInput::first();
        assert_eq!(code(town.rooms().members(&caller, &room, &page).await), Code::NotFound);
    }
    let nowhere: GroupId = "nowhere".parse().unwrap();
    let answer = town.rooms().create(&ana, &NewRoom::of(nowhere), None).await;
    assert_eq!(code(answer), Code::NotFound);
}

/// R9: a group older than group rooms gets its room when a member opens it.
#[tokio::test]
async fn an_older_group_gets_its_room_when_it_is_needed() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let group = town.create_group("ana", "runners").await;
    town.join("bo", &group).await;
    let core = town.context().core();
    let room = core.group(&group).get().await.unwrap().unwrap().room_id;
    let member = |name| RoomMember::at(&room, &town.id(name)).into_key();
    let items =
        [Room::at(&room).into_key(), RoomHead::at(&room).into_key(), member("ana"), member("bo")];
    for key in items {
        core.table().delete(Delete::new(key)).await.unwrap();
    }
    let (rooms, ana, page) = (town.rooms(), town.caller("ana"), PageInput::first());
    assert_eq!(code(rooms.room(&ana, &room).await), Code::NotFound);
    town.join("cleo", &group).await;
    assert!(rooms.mine(&town.caller("cleo"), &page).await.unwrap().items.is_empty());
    assert_eq!(town.room_of("ana", &group).await, room);
    town.send_message("ana", &room, "shall we?").await;
    assert_eq!(town.unread("cleo", &room).await, 1);
    assert_eq!(town.message_texts("bo", &room).await, ["shall we?"], "who is in the group is in");
    assert_eq!(town.unread("bo", &room).await, 0);
    town.send_message("bo", &room, "tomorrow").await;
    assert_eq!(members(&town, &room).await, ["ana", "bo", "cleo"]);
    assert_eq!(town.unread("ana", &room).await, 1);
}

/// R28: a user's rooms are listed with unread counts, for any page size.
#[tokio::test]
async fn users_list_their_rooms() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let group = town.create_group("ana", "runners").await;
    town.advance_ms(1_000);
    let bos = town.room_with("ana", "bo").await;
    town.advance_ms(1_000);
    let cleos = town.room_with("cleo", "ana").await;
    let runners = town.room_of("ana", &group).await;
    town.send_message("bo", &bos, "hello").await;
    town.send_message("bo", &bos, "are you there?").await;
    let (rooms, ana) = (town.rooms(), town.caller("ana"));
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let input = PageInput { limit: Some(1), after: after.take() };
        let page = rooms.mine(&ana, &input).await.unwrap();
        after.clone_from(&page.next);
        found.extend(page.into_items().into_iter().map(|view| (view.room.id, view.unread_count)));
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, [(cleos, 0), (bos.clone(), 2), (runners, 0)]);
    let bos_rooms = rooms.mine(&town.caller("bo"), &PageInput::first()).await.unwrap();
    assert_eq!(bos_rooms.into_items().len(), 1);
    town.set_status("bo", UserStatus::Suspended).await;
    assert_eq!(code(rooms.mine(&town.caller("bo"), &PageInput::first()).await), Code::Forbidden);
}

/// R15, I9: members of a room are visible to other members who may see them.
#[tokio::test]
async fn members_see_each_other() {
    let town = Town::of(["ana", "bo", "cleo", "sid"]).await;
    let group = town.create_group("ana", "runners").await;
    for name in ["bo", "cleo", "sid"] {
        town.join(name, &group).await;
    }
    let room = town.room_of("ana", &group).await;
    town.block("bo", "ana").await;
    town.set_status("sid", UserStatus::Suspended).await;
    let rooms = town.rooms();
    let page = rooms.members(&town.caller("ana"), &room, &PageInput::first()).await.unwrap();
    let names: Vec<String> =
        page.into_items().iter().map(|member| member.user_id.to_string()).collect();
    assert_eq!(names, ["ana", "cleo"]);
}

/// R32: a repeated request opens nothing, and is refused with other input.
#[tokio::test]
async fn a_repeated_request_opens_no_other_room() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (rooms, ana): (_, _) = (town.rooms(), town.caller("ana"));
    let once: RequestId = "once".parse().unwrap();
    let with_bo = NewRoom::with(town.id("bo"));
    let first = rooms.create(&ana, &with_bo, Some(&once)).await.unwrap();
    assert_eq!(rooms.create(&ana, &with_bo, Some(&once)).await.unwrap(), first);
    let with_cleo = NewRoom::with(town.id("cleo"));
    let other = rooms.create(&ana, &with_cleo, Some(&once)).await;
    assert_eq!(code(other), Code::IdempotencyMismatch);
}

/// R15, I1: a read position moves forward only, and only to a visible message.
#[tokio::test]
async fn read_positions_never_move_back() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let room = town.room_with("ana", "bo").await;
    let others = town.room_with("bo", "cleo").await;
    let first = town.send_message("bo", &room, "one").await;
    let second = town.send_message("bo", &room, "two").await;
    town.send_message("bo", &room, "three").await;
    let elsewhere = town.send_message("bo", &others, "psst").await;
    let (rooms, ana) = (town.rooms(), town.caller("ana"));
    assert_eq!(town.unread("ana", &room).await, 3);
    let read = rooms.mark_read(&ana, &room, &second.id, None).await.unwrap();
    assert_eq!(read.unread_count, 1);
    let back = rooms.mark_read(&ana, &room, &first.id, None).await.unwrap();
    assert_eq!(back.unread_count, 1, "not back");
    assert_eq!(town.rows(&format!("ROOM#{room}"), "MEMBER#ana").await, ["MEMBER#ana readSeq=2"]);
    let none: MessageId = "none".parse().unwrap();
    for id in [elsewhere.id, none] {
        assert_eq!(code(rooms.mark_read(&ana, &room, &id, None).await), Code::NotFound);
    }
    let cleo = town.caller("cleo");
    assert_eq!(code(rooms.mark_read(&cleo, &room, &first.id, None).await), Code::NotFound);
    let once: RequestId = "once".parse().unwrap();
    for _ in 0..2 {
        rooms.mark_read(&ana, &room, &second.id, Some(&once)).await.unwrap();
    }
}

/// I9: staff in a room see and count what any member would.
#[tokio::test]
async fn staff_have_no_special_access_in_rooms() {
    let town = Town::of(["ana", "bo", "sid", "mo"]).await;
    let group = town.create_group("ana", "runners").await;
    for name in ["bo", "sid", "mo"] {
        town.join(name, &group).await;
    }
    let room = town.room_of("ana", &group).await;
    for name in ["ana", "bo", "sid"] {
        town.send_message(name, &room, name).await;
    }
    town.block("bo", "mo").await;
    town.set_status("sid", UserStatus::Suspended).await;
    let (mo, page) = (town.staff("mo", roundtable_model::Role::Moderator), PageInput::first());
    let rooms = town.rooms();
    let members = rooms.members(&mo, &room, &page).await.unwrap().into_items();
    let members: Vec<String> = members.iter().map(|member| member.user_id.to_string()).collect();
    assert_eq!(members, ["ana", "mo"]);
    let order = roundtable_model::table::Order::Ascending;
    let texts = town.messages().list(&mo, &room, order, &page).await.unwrap().into_items();
    let texts: Vec<String> = texts.into_iter().map(|message| message.text).collect();
    assert_eq!(texts, ["ana"]);
    assert_eq!(rooms.room(&mo, &room).await.unwrap().unread_count, 1);
}

/// R15, I1: the unread count is exact up to a thousand, and its reads are bounded over all rooms of
/// a request.
#[tokio::test]
async fn counting_unread_messages_is_bounded() {
    const ROOMS: usize = 40;
    const SAID: u64 = 420;
    let town = Town::of(["ana"]).await;
    let table = town.context().core().table();
    for number in 0..ROOMS {
        let name = format!("p{number}");
        town.add_user(&name, |_| {}).await;
        let room = town.room_with("ana", &name).await;
        let messages: Vec<BatchWrite> = (1..=SAID)
            .map(|seq| {
                let created_at = town.now().plus_ms(seq);
                let message = Message {
                    room_id: room.clone(),
                    id: town.context().ids().next_at(created_at),
                    user_id: town.id(&name),
                    seq,
                    created_at,
                    ttl: None,
                    ..samples::message()
                };
                BatchWrite::Put(message.item())
            })
            .collect();
        for some in messages.chunks(25) {
            table.batch_write(some.to_vec()).await.unwrap();
        }
        let raised = RoomHead::at(&room).patch().set(RoomHead::SEQ, &SAID);
        table.update(raised.into()).await.unwrap();
        town.advance_ms(1_000);
    }
    let recorder = Arc::new(Recorder::default());
    let rooms = roundtable_domain::Rooms::new(town.context().observed(recorder.clone()));
    let ana = town.caller("ana");
    let page = rooms.mine(&ana, &PageInput { limit: Some(1), after: None }).await.unwrap();
    assert_eq!(page.into_items()[0].unread_count, SAID);
    recorder.take();
    let page = rooms.mine(&ana, &PageInput { limit: Some(ROOMS), after: None }).await.unwrap();
    assert!(page.into_items().iter().all(|view| view.unread_count >= 250));
    let read = recorder.take().into_iter().filter(|one| one.pattern == Some("messages"));
    let read: usize = read.map(|one| one.items).sum();
    assert!(read <= 15_000, "{read} messages were read");
}
