//! The writes that rooms are changed by; those of a group's room go into the group's transactions.

use roundtable_model::entities::{Group, GroupMember, Room, RoomHead, RoomMember, User};
use roundtable_model::table::{Check, Delete, Write};
use roundtable_model::{Entity, GroupId, MemberStatus, Patch, RoomScope, Time, UserId, UserStatus};

/// A write with the name by which its refusal is told.
type Named = (&'static str, Write);

/// The account can be used: nobody opens a room with somebody who is being deleted.
pub(super) fn live(user: &UserId) -> Check {
    User::at(user).check(User::STATUS.is(&UserStatus::Active))
}

/// Somebody is an active member of a group.
pub(super) fn active(group: &GroupId, user: &UserId) -> Check {
    GroupMember::at(group, user).check(GroupMember::STATUS.is(&MemberStatus::Active))
}

/// A seat that nobody has taken yet.
pub(super) fn new(member: &RoomMember) -> Write {
    member.create().into()
}

/// Somebody has read up to this message, if they had not read further.
pub(super) fn read_up_to(mine: &RoomMember, seq: u64) -> Patch<RoomMember> {
    let behind = RoomMember::READ_SEQ.at_most(&seq);
    mine.key().patch().set(RoomMember::READ_SEQ, &seq).when(behind)
}

/// The room of a group.
pub(crate) fn room_of(group: &Group, now: Time) -> Room {
    let group_id = Some(group.id.clone());
    Room { id: group.room_id.clone(), scope: RoomScope::Group, group_id, created_at: now }
}

/// A new room in which nothing has been said, with these in it.
pub(crate) fn opened<'a>(room: &Room, members: impl IntoIterator<Item = &'a UserId>) -> Vec<Named> {
    let head = RoomHead { room_id: room.id.clone(), last_ts: Time::EPOCH, seq: 0 };
    let mut writes: Vec<Named> =
        vec![("room", room.create().into()), ("head", head.create().into())];
    writes.extend(members.into_iter().map(|user| {
        let (room_id, user_id) = (room.id.clone(), user.clone());
        let member = RoomMember { room_id, user_id, read_seq: 0, joined_at: room.created_at };
        ("seat", new(&member))
    }));
    writes
}

/// The seat in the room of a group, of somebody who comes in when this many messages have been sent.
/// The head is not held on to: a busy room would let nobody in, and what is sent at that very moment
/// may count as unread.
pub(crate) fn joined(group: &Group, user: &UserId, read_seq: u64, now: Time) -> Named {
    let (room_id, user_id) = (group.room_id.clone(), user.clone());
    ("seat", RoomMember { room_id, user_id, read_seq, joined_at: now }.put().into())
}

/// Takes away the seat of somebody who leaves a group, if they had one.
pub(crate) fn left(group: &Group, user: &UserId) -> Named {
    ("seat", Delete::new(RoomMember::at(&group.room_id, user)).into())
}
