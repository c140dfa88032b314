//! Rooms: opening them, their members, and read positions (R15, R28). Messages are in `messages`.
//!
//! A direct room belongs to two users for good: its id derives from theirs. A group's room is for
//! its active members, who join and leave it in the group's transactions.

mod input;
mod membership;
mod reads;
mod unread;
mod update;
mod writes;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, Room, RoomMember};
use roundtable_model::{Entity, GroupId, MessageId, RequestId, RoomId, RoomScope, UserId};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, allows};
use crate::account::active_account_check;
use crate::contact::contact_checks;
use crate::groups::active_member_check;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::{Caller, Context, ViewerAccess, refusals};

pub use input::{NewRoom, room_of_two};
pub(crate) use membership::{
    RoomMembership, add_membership, find_message, other_member, room_head, visible_messages,
};
pub use reads::RoomView;
pub(crate) use writes::{group_room, join_write, leave_write, new_room_writes};

use input::RoomTarget;

refusals! {
    RoomError {
        NoSuchRoom: NotFound = "there is no such room",
        NoSuchUser: NotFound = "there is no such user",
        NoSuchGroup: NotFound = "there is no such group",
        NoSuchMessage: NotFound = "there is no such message",
        NotAMember: Forbidden = "only members can be in this group's room",
        NotGroupStaff: Forbidden = "only the group's owner and admins can change its room",
        Yourself: BadRequest = "you cannot open a room with yourself",
    }
}

#[derive(Clone, Debug)]
pub struct Rooms {
    context: Context,
}

/// The recorded outcome of a request.
#[derive(Debug, Serialize, Deserialize)]
struct RoomOutcome {
    room: RoomId,
}

#[boxed]
impl Rooms {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Opens the direct room of the caller and another user, or a group's room. Returns the
    /// existing room if there is one.
    pub async fn create(
        &self,
        caller: &Caller,
        room: &NewRoom,
        request: Option<&RequestId>,
    ) -> Result<RoomView, RoomError> {
        let mutation = self.context.mutation(caller).await?;
        let wanted = room.checked(&mutation.account.id)?;
        let opened = mutation
            .once("createRoom", room, request)?
            .replay(async |outcome: RoomOutcome| Ok(outcome.room))
            .run(async |me, attempt| match &wanted {
                RoomTarget::User(them) => {
                    let access = self.context.viewer_access_of(caller, &me, [them], []).await?;
                    check_may_talk(&access, them)?;
                    self.open_dm(&me.id, them, attempt).await
                }
                RoomTarget::Group(group) => self.open_group(&me.id, group, attempt).await,
            })
            .await?;
        self.room(caller, &opened).await
    }

    /// Marks a room as read up to a message. The position never moves back.
    pub async fn mark_read(
        &self,
        caller: &Caller,
        room: &RoomId,
        up_to: &MessageId,
        request: Option<&RequestId>,
    ) -> Result<RoomView, RoomError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("markRoomRead", &(room, up_to), request)?
            .replay(async |_: RoomOutcome| Ok::<_, RoomError>(()))
            .run(async |me, attempt| {
                let membership = RoomMembership::of(&self.context, &me.id, room).await?;
                let message = find_message(&self.context, room, up_to).await?;
                let message =
                    visible_messages(&self.context, caller, message.into_iter().collect()).await?;
                let message = message.into_iter().flatten().next();
                let seq = message.ok_or(RoomError::NoSuchMessage)?.seq;
                let commit = attempt.commit();
                let commit = match &membership.mine {
                    Some(mine) if mine.read_seq >= seq => commit,
                    Some(mine) => commit.with("member", writes::read_up_to(mine, seq)),
                    None => add_membership(commit, &membership, &me.id, seq, self.context.now()),
                };
                commit.finish(RoomOutcome { room: room.clone() }, ()).await
            })
            .await?;
        self.room(caller, room).await
    }

    /// Opens the direct room of two users, if it does not exist.
    async fn open_dm(
        &self,
        me: &UserId,
        them: &UserId,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<RoomId>, RoomError> {
        let id = room_of_two(me, them)?;
        let outcome = RoomOutcome { room: id.clone() };
        if self.context.core().room(&id).get().await?.is_some() {
            return attempt.unchanged(outcome, id).await;
        }
        let now = self.context.now();
        let (scope, group_id, message_timeline) = (RoomScope::Dm, None, None);
        let room = Room { id, scope, group_id, message_timeline, created_at: now };
        attempt
            .commit()
            .with("person", active_account_check(me))
            .with_all("person", contact_checks(me, them))
            .with_named(new_room_writes(&room, [me, them]))
            .finish(outcome, room.id)
            .await
    }

    /// Opens a group's room, creating it if the group is older than group rooms.
    async fn open_group(
        &self,
        me: &UserId,
        group: &GroupId,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<RoomId>, RoomError> {
        let core = self.context.core();
        let group = core.group(group).get().await?.ok_or(RoomError::NoSuchGroup)?;
        let is_member = membership::joined_group(&self.context, &group.id, me).await?.is_some();
        if !allows(
            Permission::OpenGroupRoom,
            Relations::SIGNED_IN.with_if(is_member, Relations::MEMBER),
        ) {
            return Err(RoomError::NotAMember);
        }
        let (room, mine) = futures::future::try_join(
            core.room(&group.room_id).get(),
            core.room_member(&group.room_id, me).get(),
        )
        .await?;
        let (id, now) = (group.room_id.clone(), self.context.now());
        let outcome = RoomOutcome { room: id.clone() };
        let mut commit = attempt.commit();
        if room.is_none() {
            let made = group_room(&group, now);
            commit = commit
                .with("group", Group::at(&group.id).exists())
                .with_named(new_room_writes(&made, []));
        }
        if mine.is_none() {
            let read_seq = room_head(&self.context, &id).await?.map_or(0, |head| head.seq);
            let mine =
                RoomMember { room_id: id.clone(), user_id: me.clone(), read_seq, joined_at: now };
            commit = commit
                .with("membership", active_member_check(&group.id, me))
                .with("member", mine.create());
        }
        commit.finish(outcome, id).await
    }
}

/// Fails if the caller may not address the user.
pub(crate) fn check_may_talk(access: &ViewerAccess, user: &UserId) -> Result<(), RoomError> {
    let can_see = access.addressable(user).is_some();
    let relations = Relations::SIGNED_IN.with_if(can_see, Relations::CAN_SEE);
    if allows(Permission::OpenRoom, relations) { Ok(()) } else { Err(RoomError::NoSuchUser) }
}
