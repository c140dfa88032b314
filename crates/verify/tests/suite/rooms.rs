//! Rooms: who is in them, in which order they were spoken in, and how far people have read (I15).

use roundtable_model::entities::{GroupMember, Room, RoomHead, RoomMember};
use roundtable_model::table::Delete;
use roundtable_model::{MemberStatus, RoomScope, samples};
use roundtable_verify::Invariant;

use crate::lively::{TWO, head, message, seat};
use crate::town::{Town, lines, places, read};

/// R15
#[tokio::test]
async fn no_two_messages_have_one_number_and_later_ones_have_higher_ones() {
    let town = Town::lively().await;
    town.put(&message("track", 12, 7)).await;
    let report = town.check().await;
    let [line] = &*lines(&report) else { panic!("{:?}", report.findings) };
    assert!(line.starts_with("I15 ROOM#track / MSG#"), "{line}");
    assert!(line.contains("expected a number above 7"), "{line}");
    assert!(report.findings[0].beyond_repair().is_some());
}

/// R15
#[tokio::test]
async fn no_message_is_ahead_of_its_room() {
    let town = Town::lively().await;
    town.put(&message("track", 12, 8)).await;
    let report = town.check().await;
    assert!(lines(&report)[0].contains("expected number 7 at the most"), "{:?}", lines(&report));
    town.put(&head("track", 8)).await;
    assert!(town.check().await.is_clean());
    town.core().delete(Delete::new(RoomHead::at(&read("track")))).await.unwrap();
    let report = town.check().await;
    assert!(report.total() > 4, "neither messages nor seats nor the room have a head");
}

/// R15
#[tokio::test]
async fn nobody_has_read_what_was_not_said() {
    let town = Town::lively().await;
    town.put(&seat(TWO, "bo", 3)).await;
    let report = town.check().await;
    let expected = "expected readSeq 2 at the most, the number of the newest message; found 3";
    assert_eq!(lines(&report), [format!("I15 ROOM#{TWO} / MEMBER#bo: {expected}")]);
}

/// R15
#[tokio::test]
async fn whoever_is_in_a_group_is_in_its_room_and_nobody_else_is() {
    let town = Town::lively().await;
    town.core().delete(Delete::new(RoomMember::at(&read("track"), &read("bo")))).await.unwrap();
    // Who only asks to be in the group.
    town.put(&seat("track", "cleo", 0)).await;
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        [
            "I15 ROOM#track / MEMBER#bo: expected a seat of a member; found none",
            "I15 ROOM#track / MEMBER#cleo: expected no seat of somebody else; found a seat of a member",
        ]
    );
    assert_eq!(town.mend().await, 2);
    let seat = town.tables.core.room_member(&read("track"), &read("bo")).get().await.unwrap();
    assert_eq!(seat.unwrap().read_seq, 7, "whoever comes in has missed nothing");
    // A group that is gone has no members whom a seat could be for.
    let (group_id, user_id, status) = (read("walkers"), read("bo"), MemberStatus::Active);
    let lonely = GroupMember { group_id, user_id, status, ..samples::group_member() };
    town.put(&lonely).await;
    assert_eq!(places(&town.check().await), [(Invariant::I1, "GROUP#walkers / COUNTER#MEMBERS")]);
}

/// R15
#[tokio::test]
async fn two_people_have_one_room() {
    let town = Town::lively().await;
    let other = "dm-0000000000000000000000000000000000000000";
    let room = Room { id: read(other), scope: RoomScope::Dm, group_id: None, ..samples::room() };
    town.put(&room).await;
    town.put(&head(other, 0)).await;
    town.put(&seat(other, "ana", 0)).await;
    assert!(town.check().await.is_clean(), "nobody can tell whose it was beside hers");
    town.put(&seat(other, "bo", 0)).await;
    let report = town.check().await;
    let expected = format!("expected {TWO}, the room of ana and bo; found another room");
    assert!(lines(&report)[0].contains(&expected), "{:?}", lines(&report));
    town.put(&seat(TWO, "cleo", 0)).await;
    assert_eq!(town.check().await.total(), 2);
}
