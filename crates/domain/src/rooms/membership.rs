//! Room memberships. A room does not exist for users who are not in it; every read and every
//! message checks this.

use std::collections::{BTreeSet, HashMap};

use futures::future::try_join;
use roundtable_model::entities::{Group, GroupMember, Message, Room, RoomHead, RoomMember};
use roundtable_model::{GroupId, MemberStatus, MessageId, RoomId, RoomScope, Span, Time, UserId};

use super::{RoomError, writes};
use crate::access::{Permission, Relations, allows};
use crate::commit::Commit;
use crate::groups::active_member_check;
use crate::{Caller, Context, ServiceError};

/// A room and a user's membership in it.
#[derive(Clone, Debug)]
pub(crate) struct RoomMembership {
    pub(crate) room: Room,
    /// The read position. Missing for a user who joined the group before it had a room and has not
    /// opened it since.
    pub(crate) mine: Option<RoomMember>,
    is_archived: bool,
}

impl RoomMembership {
    /// Reads a user's membership in a room; fails if they are not in it.
    pub(crate) async fn of(
        context: &Context,
        me: &UserId,
        room: &RoomId,
    ) -> Result<Self, RoomError> {
        let core = context.core();
        let (room, mine) =
            try_join(core.room(room).get(), core.room_member(room, me).get()).await?;
        let room = room.ok_or(RoomError::NoSuchRoom)?;
        let (is_member, is_archived) = match group_of(&room) {
            Some(group) => {
                let group = joined_group(context, group, me).await?;
                (group.is_some(), group.is_some_and(|group| group.archived_at.is_some()))
            }
            None => (mine.is_some(), false),
        };
        if is_member_seeing(is_member) {
            Ok(Self { room, mine, is_archived })
        } else {
            Err(RoomError::NoSuchRoom)
        }
    }

    /// Refuses to write to the room of an archived group.
    pub(crate) const fn require_writable(&self) -> Result<(), ServiceError> {
        if self.is_archived { Err(ServiceError::GroupArchived) } else { Ok(()) }
    }

    /// Reads a user's memberships in these rooms in one batch, without rooms they are not in.
    pub(crate) async fn among(
        context: &Context,
        me: &UserId,
        rooms: impl IntoIterator<Item = &RoomId>,
    ) -> Result<HashMap<RoomId, Self>, ServiceError> {
        // Each room once, because its membership is moved out of the map.
        let ids: BTreeSet<&RoomId> = rooms.into_iter().collect();
        let memberships = ids.iter().map(|room| RoomMember::at(room, me));
        let rooms = ids.iter().map(|room| Room::at(room));
        let (rooms, memberships) =
            try_join(context.items_at("room", rooms), context.items_at("room_member", memberships))
                .await?;
        let rooms: Vec<Room> = rooms.into_iter().flatten().collect();
        let by_room = |membership: RoomMember| (membership.room_id.clone(), membership);
        let mut memberships: HashMap<RoomId, RoomMember> =
            memberships.into_iter().flatten().map(by_room).collect();
        let active = active_in(context, me, rooms.iter().filter_map(group_of)).await?;
        let members = rooms.into_iter().filter_map(|room| {
            let mine = memberships.remove(&room.id);
            let (is_member, is_archived) = match group_of(&room) {
                Some(group) => {
                    (active.contains_key(group), active.get(group).copied().unwrap_or(false))
                }
                None => (mine.is_some(), false),
            };
            let id = room.id.clone();
            is_member_seeing(is_member).then(|| (id, Self { room, mine, is_archived }))
        });
        Ok(members.collect())
    }
}

fn is_member_seeing(is_member: bool) -> bool {
    allows(Permission::SeeRoom, Relations::SIGNED_IN.with_if(is_member, Relations::MEMBER))
}

/// The group that determines the room's members, if any.
fn group_of(room: &Room) -> Option<&GroupId> {
    room.group_id.as_ref().filter(|_| room.scope == RoomScope::Group)
}

/// Returns those of the groups that exist and have the user as an active member, each with whether it
/// is archived.
async fn active_in<'a>(
    context: &Context,
    user: &UserId,
    groups: impl IntoIterator<Item = &'a GroupId>,
) -> Result<HashMap<GroupId, bool>, ServiceError> {
    let groups: Vec<&GroupId> = groups.into_iter().collect();
    let members = groups.iter().map(|group| GroupMember::at(group, user));
    let groups = groups.iter().map(|group| Group::at(group));
    let (groups, members) =
        try_join(context.items_at("group", groups), context.items_at("member", members)).await?;
    let archived = |group: Group| (group.id, group.archived_at.is_some());
    let existing: HashMap<GroupId, bool> = groups.into_iter().flatten().map(archived).collect();
    let active = members.into_iter().flatten().filter(is_active_member);
    let archived = |member: GroupMember| {
        let is_archived = *existing.get(&member.group_id)?;
        Some((member.group_id, is_archived))
    };
    Ok(active.filter_map(archived).collect())
}

fn is_active_member(member: &GroupMember) -> bool {
    member.status == MemberStatus::Active
}

/// Returns the group if it exists and has the user as an active member.
pub(crate) async fn joined_group(
    context: &Context,
    group: &GroupId,
    user: &UserId,
) -> Result<Option<Group>, ServiceError> {
    let core = context.core();
    let (group, member) = try_join(core.group(group).get(), core.member(group, user).get()).await?;
    Ok(group.filter(|_| member.as_ref().is_some_and(is_active_member)))
}

/// Adds the membership of a group member who has none in the group's room yet.
pub(crate) fn add_membership<'a>(
    commit: Commit<'a>,
    membership: &RoomMembership,
    me: &UserId,
    read_seq: u64,
    now: Time,
) -> Commit<'a> {
    let (room_id, user_id) = (membership.room.id.clone(), me.clone());
    let mine = RoomMember { room_id, user_id, read_seq, joined_at: now };
    let active = membership.room.group_id.as_ref().map(|group| active_member_check(group, me));
    commit.with_all("membership", active).with("member", writes::create_member(&mine))
}

pub(crate) async fn room_head(
    context: &Context,
    room: &RoomId,
) -> Result<Option<RoomHead>, ServiceError> {
    let heads = context.core().room_heads(std::slice::from_ref(room)).get().await?;
    Ok(heads.into_iter().flatten().next())
}

/// Finds a message by its id, which contains its time.
pub(crate) async fn find_message(
    context: &Context,
    room: &RoomId,
    id: &MessageId,
) -> Result<Option<Message>, ServiceError> {
    let Some(at) = id.time() else { return Ok(None) };
    let then = Span::between(at, at.plus_ms(1));
    let found = context.core().messages(room, then).page().await?.items;
    Ok(found.into_iter().find(|message| message.id == *id))
}

/// The other user of a direct room, unless their account is gone.
pub(crate) async fn other_member(
    context: &Context,
    room: &RoomId,
    me: &UserId,
) -> Result<Option<UserId>, ServiceError> {
    let members = context.core().room_members(room).strong().limit(2).page().await?.items;
    Ok(members.into_iter().map(|member| member.user_id).find(|id| id != me))
}

/// Returns what the viewer may see of a room's messages: none by users who are suspended, gone, or
/// blocked by either side. Staff roles do not apply in rooms.
pub(crate) async fn visible_messages(
    context: &Context,
    viewer: &Caller,
    messages: Vec<Message>,
) -> Result<Vec<Option<Message>>, ServiceError> {
    let authors = messages.iter().map(|message| &message.user_id);
    let viewer = Caller::user(viewer.user_id.clone());
    let access = context.viewer_access(Some(&viewer), authors, []).await?;
    let is_visible = |message: &Message| access.visible_user(&message.user_id).is_some();
    Ok(messages.into_iter().map(|message| is_visible(&message).then_some(message)).collect())
}
