//! Rooms: their members, the order of messages, and read positions (I15).

use roundtable_model::entities::{GroupMember, Room, RoomHead, RoomMember};
use roundtable_model::table::Delete;
use roundtable_model::{MemberStatus, RoomScope, samples};
use roundtable_verify::Invariant;

use crate::lively::{DM_ROOM, head, message, room_member};
use crate::town::{Town, broken_keys, lines, read};

#[tokio::test]
async fn message_numbers_rise_with_time() {
    let town = Town::lively().await;
    town.put(&message("track", 12, 7)).await;
    let report = town.check().await;
    let [line] = &*lines(&report) else { panic!("{:?}", report.findings) };
    assert!(line.starts_with("I15 ROOM#track / MSG#"), "{line}");
    assert!(line.contains("expected a number above 7"), "{line}");
    assert!(report.findings[0].unrepairable_reason().is_some());
}

#[tokio::test]
async fn no_message_is_newer_than_the_room_head() {
    let town = Town::lively().await;
    town.put(&message("track", 12, 8)).await;
    let report = town.check().await;
    assert!(lines(&report)[0].contains("expected number 7 at most"), "{:?}", lines(&report));
    town.put(&head("track", 8)).await;
    assert!(town.check().await.is_clean());
    town.core().delete(Delete::new(RoomHead::at(&read("track")))).await.unwrap();
    let report = town.check().await;
    assert!(report.total() > 4, "neither messages nor seats nor the room have a head");
}

#[tokio::test]
async fn a_read_position_beyond_the_newest_message_is_found() {
    let town = Town::lively().await;
    town.put(&room_member(DM_ROOM, "bo", 3)).await;
    let report = town.check().await;
    let expected = "expected readSeq 2 at most, the number of the newest message; found 3";
    assert_eq!(lines(&report), [format!("I15 ROOM#{DM_ROOM} / MEMBER#bo: {expected}")]);
}

#[tokio::test]
async fn group_members_are_exactly_the_room_members() {
    let town = Town::lively().await;
    town.core().delete(Delete::new(RoomMember::at(&read("track"), &read("bo")))).await.unwrap();
    // Cleo's membership of the group is pending.
    town.put(&room_member("track", "cleo", 0)).await;
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        [
            "I15 ROOM#track / MEMBER#bo: expected a room member; found none",
            "I15 ROOM#track / MEMBER#cleo: expected none: the user is not in the group; found a room member",
        ]
    );
    assert_eq!(town.repair_all().await, 2);
    let room_member =
        town.tables.core.room_member(&read("track"), &read("bo")).get().await.unwrap();
    assert_eq!(room_member.unwrap().read_seq, 7, "a new member has no unread messages");
    // A deleted group requires no room members.
    let (group_id, user_id, status) = (read("walkers"), read("bo"), MemberStatus::Active);
    let lonely = GroupMember { group_id, user_id, status, ..samples::group_member() };
    town.put(&lonely).await;
    assert_eq!(
        broken_keys(&town.check().await),
        [
            (Invariant::I1, "GROUP#walkers / COUNTER#MEMBERS"),
            (Invariant::I6, "GROUP#walkers / MEMBER#bo"),
        ]
    );
}

#[tokio::test]
async fn two_users_share_one_direct_message_room() {
    let town = Town::lively().await;
    let other = "dm-0000000000000000000000000000000000000000";
    let room = Room { id: read(other), scope: RoomScope::Dm, group_id: None, ..samples::room() };
    town.put(&room).await;
    town.put(&head(other, 0)).await;
    town.put(&room_member(other, "ana", 0)).await;
    assert!(town.check().await.is_clean(), "a single member does not reveal the other");
    town.put(&room_member(other, "bo", 0)).await;
    let report = town.check().await;
    let expected = format!("expected {DM_ROOM}, the room of ana and bo; found another room");
    assert!(lines(&report)[0].contains(&expected), "{:?}", lines(&report));
    town.put(&room_member(DM_ROOM, "cleo", 0)).await;
    assert_eq!(town.check().await.total(), 2);
}
