//! Somebody's seat in a room: who is not in it finds no such room, at every read and every message.

use std::collections::{BTreeSet, HashMap, HashSet};

use futures::future::try_join;
use roundtable_model::entities::{Group, GroupMember, Message, Room, RoomHead, RoomMember};
use roundtable_model::{GroupId, MemberStatus, MessageId, RoomId, RoomScope, Span, Time, UserId};

use super::{RoomError, writes};
use crate::access::{Act, Standing, allows};
use crate::commit::Commit;
use crate::{Caller, Failure, Ground};

/// A room, and the place in it of somebody who is in.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    /// The room.
    pub(crate) room: Room,
    /// How far they have read. Absent where they were in the group before it had a room, and have not
    /// been here since.
    pub(crate) mine: Option<RoomMember>,
}

impl Seat {
    /// Somebody's seat in a room; refused to whoever is not in it.
    pub(crate) async fn of(ground: &Ground, me: &UserId, room: &RoomId) -> Result<Self, RoomError> {
        let core = ground.core();
        let (room, mine) =
            try_join(core.room(room).get(), core.room_member(room, me).get()).await?;
        let room = room.ok_or(RoomError::NoSuchRoom)?;
        let is_member = match group_of(&room) {
            Some(group) => is_active(ground, group, me).await?,
            None => mine.is_some(),
        };
        if is_member_seeing(is_member) {
            Ok(Self { room, mine })
        } else {
            Err(RoomError::NoSuchRoom)
        }
    }

    /// Somebody's seats in those of the rooms that they are in: all are asked for at once.
    pub(crate) async fn among(
        ground: &Ground,
        me: &UserId,
        rooms: impl IntoIterator<Item = &RoomId>,
    ) -> Result<HashMap<RoomId, Self>, Failure> {
        // Each once: a seat is taken by one room.
        let ids: BTreeSet<&RoomId> = rooms.into_iter().collect();
        let seats = ids.iter().map(|room| RoomMember::at(room, me));
        let rooms = ids.iter().map(|room| Room::at(room));
        let (rooms, seats) =
            try_join(ground.at("room", rooms), ground.at("room_member", seats)).await?;
        let rooms: Vec<Room> = rooms.into_iter().flatten().collect();
        let by_room = |seat: RoomMember| (seat.room_id.clone(), seat);
        let mut seats: HashMap<RoomId, RoomMember> =
            seats.into_iter().flatten().map(by_room).collect();
        let active = active_in(ground, me, rooms.iter().filter_map(group_of)).await?;
        let seated = rooms.into_iter().filter_map(|room| {
            let mine = seats.remove(&room.id);
            let is_member = match group_of(&room) {
                Some(group) => active.contains(group),
                None => mine.is_some(),
            };
            is_member_seeing(is_member).then(|| (room.id.clone(), Self { room, mine }))
        });
        Ok(seated.collect())
    }
}

fn is_member_seeing(is_member: bool) -> bool {
    allows(Act::SeeRoom, Standing::SIGNED_IN.and_if(is_member, Standing::MEMBER))
}

/// The group whose members are in the room, whoever they are.
fn group_of(room: &Room) -> Option<&GroupId> {
    room.group_id.as_ref().filter(|_| room.scope == RoomScope::Group)
}

/// Those of the groups that are there, and of which somebody is an active member.
async fn active_in<'a>(
    ground: &Ground,
    user: &UserId,
    groups: impl IntoIterator<Item = &'a GroupId>,
) -> Result<HashSet<GroupId>, Failure> {
    let groups: Vec<&GroupId> = groups.into_iter().collect();
    let members = groups.iter().map(|group| GroupMember::at(group, user));
    let groups = groups.iter().map(|group| Group::at(group));
    let (groups, members) =
        try_join(ground.at("group", groups), ground.at("member", members)).await?;
    let there: HashSet<GroupId> = groups.into_iter().flatten().map(|group| group.id).collect();
    let active = members.into_iter().flatten().filter(is_active_member);
    Ok(active.map(|member| member.group_id).filter(|group| there.contains(group)).collect())
}

fn is_active_member(member: &GroupMember) -> bool {
    member.status == MemberStatus::Active
}

/// Whether somebody is an active member of a group that is there.
pub(crate) async fn is_active(
    ground: &Ground,
    group: &GroupId,
    user: &UserId,
) -> Result<bool, Failure> {
    let core = ground.core();
    let (group, member) = try_join(core.group(group).get(), core.member(group, user).get()).await?;
    Ok(group.is_some() && member.as_ref().is_some_and(is_active_member))
}

/// Gives somebody in the group their seat in its room, who has read up to a message.
pub(crate) fn takes<'a>(
    commit: Commit<'a>,
    seat: &Seat,
    me: &UserId,
    read_seq: u64,
    now: Time,
) -> Commit<'a> {
    let (room_id, user_id) = (seat.room.id.clone(), me.clone());
    let mine = RoomMember { room_id, user_id, read_seq, joined_at: now };
    let active = seat.room.group_id.as_ref().map(|group| writes::active(group, me));
    commit.with_any("membership", active).with("member", writes::new(&mine))
}

/// The newest message of a room.
pub(crate) async fn head_of(ground: &Ground, room: &RoomId) -> Result<Option<RoomHead>, Failure> {
    let heads = ground.core().room_heads(std::slice::from_ref(room)).get().await?;
    Ok(heads.into_iter().flatten().next())
}

/// A message of a room, if it is there: its time is in its id.
pub(crate) async fn message_of(
    ground: &Ground,
    room: &RoomId,
    id: &MessageId,
) -> Result<Option<Message>, Failure> {
    let Some(at) = id.time() else { return Ok(None) };
    let then = Span::between(at, at.plus_ms(1));
    let found = ground.core().messages(room, then).page().await?.items;
    Ok(found.into_iter().find(|message| message.id == *id))
}

/// The other one in a room of two, unless they are gone.
pub(crate) async fn other_of(
    ground: &Ground,
    room: &RoomId,
    me: &UserId,
) -> Result<Option<UserId>, Failure> {
    let members = ground.core().room_members(room).strong().limit(2).page().await?.items;
    Ok(members.into_iter().map(|member| member.user_id).find(|id| id != me))
}

/// Those of the messages in a room the viewer is in that they may see: nothing by whoever one of the two
/// has blocked, is suspended, or is gone. Staff see what anybody would: their sight is for their work.
pub(crate) async fn seen(
    ground: &Ground,
    viewer: &Caller,
    messages: Vec<Message>,
) -> Result<Vec<Option<Message>>, Failure> {
    let authors = messages.iter().map(|message| &message.user_id);
    let viewer = Caller::user(viewer.user_id.clone());
    let sight = ground.sight(Some(&viewer), authors, []).await?;
    let seen = |message: &Message| sight.person(&message.user_id).is_some();
    Ok(messages.into_iter().map(|message| seen(&message).then_some(message)).collect())
}
