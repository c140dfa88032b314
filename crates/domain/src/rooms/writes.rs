//! Writes of rooms. Those of a group's room are part of the group's transactions.

use roundtable_model::entities::{Group, Room, RoomHead, RoomMember};
use roundtable_model::table::{Delete, Write};
use roundtable_model::{Entity, Patch, RoomScope, Time, UserId};

/// A write with its name in a transaction.
type NamedWrite = (&'static str, Write);

pub(super) fn create_member(member: &RoomMember) -> Write {
    member.create().into()
}

/// Raises the read position; the condition fails if it is already further.
pub(super) fn read_up_to(mine: &RoomMember, seq: u64) -> Patch<RoomMember> {
    let behind = RoomMember::READ_SEQ.at_most(&seq);
    mine.key().patch().set(RoomMember::READ_SEQ, &seq).when(behind)
}

pub(crate) fn group_room(group: &Group, now: Time) -> Room {
    let group_id = Some(group.id.clone());
    Room {
        id: group.room_id.clone(),
        scope: RoomScope::Group,
        group_id,
        message_timeline: None,
        created_at: now,
    }
}

/// The writes of a new room with these members.
pub(crate) fn new_room_writes<'a>(
    room: &Room,
    members: impl IntoIterator<Item = &'a UserId>,
) -> Vec<NamedWrite> {
    let head = RoomHead { room_id: room.id.clone(), last_ts: Time::EPOCH, seq: 0 };
    let mut writes: Vec<NamedWrite> =
        vec![("room", room.create().into()), ("head", head.create().into())];
    writes.extend(members.into_iter().map(|user| {
        let (room_id, user_id) = (room.id.clone(), user.clone());
        let member = RoomMember { room_id, user_id, read_seq: 0, joined_at: room.created_at };
        ("room member", create_member(&member))
    }));
    writes
}

/// Adds a user to a group's room at the current message number. The write is not conditional on the
/// head, which would keep new members out of a busy room; a message sent at the same moment may
/// count as unread.
pub(crate) fn join_write(group: &Group, user: &UserId, read_seq: u64, now: Time) -> NamedWrite {
    let (room_id, user_id) = (group.room_id.clone(), user.clone());
    ("room member", RoomMember { room_id, user_id, read_seq, joined_at: now }.put().into())
}

/// Removes a user from a group's room, if they are in it.
pub(crate) fn leave_write(group: &Group, user: &UserId) -> NamedWrite {
    ("room member", Delete::new(RoomMember::at(&group.room_id, user)).into())
}
