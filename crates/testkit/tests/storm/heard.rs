//! Whether rooms and calls for help hold what people remember, and how much of it they have not read
//! (R15, R16, R28).

use std::collections::BTreeMap;

use roundtable_domain::Caller;
use roundtable_model::entities::{Message, RoomMember};
use roundtable_model::{Expiry, MessageId, RoomId, RoomScope, Span, UserId, UserStatus};
use roundtable_testkit::Town;

use crate::life::{Spoken, Talk};
use crate::model::Memory;

/// Compares what was said with what people remember.
pub(crate) async fn heard(memory: &Memory, town: &Town) {
    let mut unread = 0;
    for (id, room) in &memory.life.rooms {
        unread += in_room(memory, town, id, room).await;
    }
    assert!(memory.life.rooms.len() < 20 || unread > 0, "a storm in which everything was read");
    for (id, asked) in &memory.life.threads {
        let there = town.ground().core().assist_messages(id).all().await.unwrap();
        let mut there: Vec<MessageId> = there.into_iter().map(|message| message.id).collect();
        let is_kept = memory.alive(&asked.owner);
        let said = asked.said.iter().filter(|(_, user)| is_kept && memory.alive(user));
        let mut said: Vec<MessageId> = said.map(|(id, _)| id.clone()).collect();
        there.sort_unstable();
        said.sort_unstable();
        assert_eq!(there, said, "{id}");
    }
}

/// Compares one room; how much is unread in it.
async fn in_room(memory: &Memory, town: &Town, id: &RoomId, room: &Talk) -> u64 {
    let core = town.ground().core();
    let seats = core.room_members(id).strong().all().await.unwrap();
    let there = core.messages(id, Span::ALL).all().await.unwrap();
    let Some(stored) = core.room(id).get().await.unwrap() else {
        let is_left = room.two.as_ref().is_some_and(|two| two.iter().any(|it| memory.alive(it)));
        assert!(!is_left && there.is_empty() && seats.is_empty(), "{id} left {there:?} {seats:?}");
        return 0;
    };
    let live = |said: &&Spoken| {
        let is_over = said
            .expires_at
            .is_some_and(|at| Expiry::at(at).seconds() <= town.ground().clock().now_seconds());
        memory.alive(&said.by) && !is_over
    };
    let said: BTreeMap<u64, &Spoken> =
        room.said.iter().filter(live).map(|said| (said.seq, said)).collect();
    let told = |message: &Message| (message.seq, message.id.clone(), message.text.clone());
    let mut there: Vec<_> = there.iter().map(told).collect();
    there.reverse();
    let expected = said.values().map(|said| (said.seq, said.id.clone(), said.text.clone()));
    assert_eq!(there, expected.collect::<Vec<_>>(), "{id}");
    if let Some(two) = &room.two {
        let mut sitting: Vec<&UserId> = seats.iter().map(|seat| &seat.user_id).collect();
        let mut expected: Vec<&UserId> = two.iter().filter(|user| memory.alive(user)).collect();
        sitting.sort_unstable();
        expected.sort_unstable();
        assert_eq!((stored.scope, sitting), (RoomScope::Dm, expected), "{id}");
    }
    let mut unread = 0;
    for seat in &seats {
        unread += by_one(memory, town, room, &said, seat).await;
    }
    unread
}

/// How much one person has not read: what was said behind what they have read, by whom they can hear.
async fn by_one(
    memory: &Memory,
    town: &Town,
    room: &Talk,
    said: &BTreeMap<u64, &Spoken>,
    seat: &RoomMember,
) -> u64 {
    let (core, me) = (town.ground().core(), &seat.user_id);
    let known = room.read.get(me).copied().unwrap_or_default();
    // Whoever comes to a group's room has missed nothing that was said before.
    let fits = if room.two.is_some() { seat.read_seq == known } else { seat.read_seq >= known };
    assert!(fits, "{me} has read up to {known}, and it says {}", seat.read_seq);
    let profile = core.profile(me).strong().get().await.unwrap().unwrap();
    if profile.status != UserStatus::Active {
        return 0;
    }
    let mut expected = 0;
    for said in said.range(seat.read_seq + 1..).map(|(_, said)| *said) {
        let author = core.profile(&said.by).strong().get().await.unwrap().unwrap();
        let is_heard = author.status == UserStatus::Active && !memory.is_blocked(me, &said.by);
        expected += u64::from(said.by == *me || is_heard);
    }
    let view = town.rooms().room(&Caller::user(me.clone()), &seat.room_id).await.unwrap();
    assert_eq!(view.unread_count, expected, "{me} in {}", seat.room_id);
    expected
}

/// What is left of what somebody said.
pub(crate) async fn left_of(town: &Town, user: &UserId) -> usize {
    let core = town.ground().core();
    core.rooms_of(user).all().await.unwrap().len()
        + core.messages_by(user).all().await.unwrap().len()
        + core.assists_of(user).all().await.unwrap().len()
        + core.assist_messages_by(user).all().await.unwrap().len()
        + town.rows(&format!("NOTIF#{user}"), "").await.len()
        + town.rows(&format!("FEED#{user}"), "").await.len()
}
