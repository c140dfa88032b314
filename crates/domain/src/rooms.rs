//! Rooms: opening them, their members, and read positions (R15, R28). Messages are in `messages`.
//!
//! A direct room belongs to two users for good: its id derives from theirs. A group's room is for
//! its active members, who join and leave it in the group's transactions.

mod input;
mod membership;
mod reads;
mod unread;
mod writes;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Block, Group, Room, RoomMember};
use roundtable_model::{
    Entity, GroupId, MessageId, RequestId, RoomId, RoomScope, UserId, UserStatus,
};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, allows};
use crate::idempotency::{AttemptOutcome, IdempotentRequest};
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
        let me = self.context.authorize_write(caller).await?;
        let wanted = room.checked(&me.id)?;
        let request = self.context.idempotent_request(&me.id, request, "createRoom", room)?;
        let opened = self
            .context
            .run_once(
                request.as_ref(),
                async |outcome: RoomOutcome| Ok(outcome.room),
                async || match &wanted {
                    RoomTarget::User(them) => {
                        let access = self.context.viewer_access_of(caller, &me, [them], []).await?;
                        check_may_talk(&access, them)?;
                        self.open_dm(&me.id, them, request.as_ref()).await
                    }
                    RoomTarget::Group(group) => {
                        self.open_group(&me.id, group, request.as_ref()).await
                    }
                },
            )
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
        let me = self.context.authorize_write(caller).await?;
        let request =
            self.context.idempotent_request(&me.id, request, "markRoomRead", &(room, up_to))?;
        let outcome = RoomOutcome { room: room.clone() };
        self.context
            .run_once(
                request.as_ref(),
                async |_: RoomOutcome| Ok(()),
                async || {
                    let membership = RoomMembership::of(&self.context, &me.id, room).await?;
                    let message = find_message(&self.context, room, up_to).await?;
                    let message =
                        visible_messages(&self.context, caller, message.into_iter().collect())
                            .await?;
                    let message = message.into_iter().flatten().next();
                    let seq = message.ok_or(RoomError::NoSuchMessage)?.seq;
                    let commit = self.context.commit();
                    let commit = match &membership.mine {
                        Some(mine) if mine.read_seq >= seq => commit,
                        Some(mine) => commit.with("member", writes::read_up_to(mine, seq)),
                        None => {
                            add_membership(commit, &membership, &me.id, seq, self.context.now())
                        }
                    };
                    let commit = commit.recording(request.as_ref(), &outcome)?;
                    Ok::<_, RoomError>(commit.finish(()).await?)
                },
            )
            .await?;
        self.room(caller, room).await
    }

    /// Opens the direct room of two users, if it does not exist.
    async fn open_dm(
        &self,
        me: &UserId,
        them: &UserId,
        request: Option<&IdempotentRequest>,
    ) -> Result<AttemptOutcome<RoomId>, RoomError> {
        let id = room_of_two(me, them)?;
        let outcome = RoomOutcome { room: id.clone() };
        if self.context.core().room(&id).get().await?.is_some() {
            return Ok(self.context.finish_unchanged(request, &outcome, id).await?);
        }
        let now = self.context.now();
        let room = Room { id, scope: RoomScope::Dm, group_id: None, created_at: now };
        let mut commit = self
            .context
            .commit()
            .with("person", writes::active_user_check(me))
            .with("person", writes::active_user_check(them))
            .with("block", Block::at(me, them).absent())
            .with("block", Block::at(them, me).absent());
        for (name, write) in new_room_writes(&room, [me, them]) {
            commit = commit.with(name, write);
        }
        Ok(commit.recording(request, &outcome)?.finish(room.id).await?)
    }

    /// Opens a group's room, creating it if the group is older than group rooms.
    async fn open_group(
        &self,
        me: &UserId,
        group: &GroupId,
        request: Option<&IdempotentRequest>,
    ) -> Result<AttemptOutcome<RoomId>, RoomError> {
        let core = self.context.core();
        let group = core.group(group).get().await?.ok_or(RoomError::NoSuchGroup)?;
        let is_member = membership::is_active(&self.context, &group.id, me).await?;
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
        let mut commit = self.context.commit();
        if room.is_none() {
            let made = group_room(&group, now);
            commit = commit.with("group", Group::at(&group.id).exists());
            for (name, write) in new_room_writes(&made, []) {
                commit = commit.with(name, write);
            }
        }
        if mine.is_none() {
            let read_seq = room_head(&self.context, &id).await?.map_or(0, |head| head.seq);
            let mine =
                RoomMember { room_id: id.clone(), user_id: me.clone(), read_seq, joined_at: now };
            commit = commit
                .with("membership", writes::active_member_check(&group.id, me))
                .with("member", mine.create());
        }
        Ok(commit.recording(request, &outcome)?.finish(id).await?)
    }
}

/// Fails if the caller cannot see the user, or either blocks the other. Staff can see suspended
/// users and users who block them, but cannot talk to them.
pub(crate) fn check_may_talk(access: &ViewerAccess, user: &UserId) -> Result<(), RoomError> {
    let person = access
        .visible_user(user)
        .filter(|person| person.status == UserStatus::Active && !access.is_blocked(user));
    let relations = Relations::SIGNED_IN.with_if(person.is_some(), Relations::CAN_SEE);
    if allows(Permission::OpenRoom, relations) { Ok(()) } else { Err(RoomError::NoSuchUser) }
}
