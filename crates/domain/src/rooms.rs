//! Conversations: opening them, who is in them, and how far each has read (R15, R28). What is said in
//! them is `messages`.
//!
//! A room of two people is theirs for good: its id follows from who they are. A group's room is for its
//! active members, who come and go with the group's transactions.

mod input;
mod reads;
mod seat;
mod unread;
mod writes;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Block, Group, Room, RoomMember};
use roundtable_model::{
    Entity, GroupId, MessageId, RequestId, RoomId, RoomScope, UserId, UserStatus,
};
use serde::{Deserialize, Serialize};

use crate::access::{Act, Standing, allows};
use crate::once::{Request, Tried};
use crate::{Caller, Ground, Sight, refusals};

pub use input::{NewRoom, room_of_two};
pub use reads::RoomView;
pub(crate) use seat::{Seat, head_of, message_of, other_of, seen, takes};
pub(crate) use writes::{joined, left, opened, room_of};

use input::Wanted;

refusals! {
    /// Why a room was not opened, shown or spoken in.
    RoomError {
        NoSuchRoom: NotFound = "there is no such room",
        NoSuchUser: NotFound = "there is no such person",
        NoSuchGroup: NotFound = "there is no such group",
        NoSuchMessage: NotFound = "there is no such message",
        NotAMember: Forbidden = "only members can be in this group's room",
        Yourself: BadRequest = "nobody can open a room with themselves",
    }
}

/// The rooms of everybody.
#[derive(Clone, Debug)]
pub struct Rooms {
    ground: Ground,
}

/// What a request led to.
#[derive(Debug, Serialize, Deserialize)]
struct Outcome {
    room: RoomId,
}

#[boxed]
impl Rooms {
    /// The rooms on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Opens the room of the caller and somebody else, or goes to that of a group the caller is in. One
    /// that is there already is the answer.
    pub async fn create(
        &self,
        caller: &Caller,
        room: &NewRoom,
        request: Option<&RequestId>,
    ) -> Result<RoomView, RoomError> {
        let me = self.ground.account(caller).await?;
        let wanted = room.checked(&me.id)?;
        let request = self.ground.request(&me.id, request, "createRoom", room)?;
        let opened = self
            .ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| Ok(outcome.room),
                async || match &wanted {
                    Wanted::With(them) => {
                        let sight = self.ground.sight_of(caller, &me, [them], []).await?;
                        may_talk(&sight, them)?;
                        self.open_dm(&me.id, them, request.as_ref()).await
                    }
                    Wanted::Of(group) => self.open_group(&me.id, group, request.as_ref()).await,
                },
            )
            .await?;
        self.room(caller, &opened).await
    }

    /// Notes that the caller has read a room up to a message. It never goes back.
    pub async fn mark_read(
        &self,
        caller: &Caller,
        room: &RoomId,
        up_to: &MessageId,
        request: Option<&RequestId>,
    ) -> Result<RoomView, RoomError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "markRoomRead", &(room, up_to))?;
        let outcome = Outcome { room: room.clone() };
        self.ground
            .once(
                request.as_ref(),
                async |_: Outcome| Ok(()),
                async || {
                    let seat = Seat::of(&self.ground, &me.id, room).await?;
                    let message = message_of(&self.ground, room, up_to).await?;
                    let message = seen(&self.ground, caller, message.into_iter().collect()).await?;
                    let message = message.into_iter().flatten().next();
                    let seq = message.ok_or(RoomError::NoSuchMessage)?.seq;
                    let commit = self.ground.commit();
                    let commit = match &seat.mine {
                        Some(mine) if mine.read_seq >= seq => commit,
                        Some(mine) => commit.with("member", writes::read_up_to(mine, seq)),
                        None => takes(commit, &seat, &me.id, seq, self.ground.now()),
                    };
                    let commit = commit.remembering(request.as_ref(), &outcome)?;
                    Ok::<_, RoomError>(commit.done(()).await?)
                },
            )
            .await?;
        self.room(caller, room).await
    }

    /// Opens the room of two people, once.
    async fn open_dm(
        &self,
        me: &UserId,
        them: &UserId,
        request: Option<&Request>,
    ) -> Result<Tried<RoomId>, RoomError> {
        let id = room_of_two(me, them)?;
        let outcome = Outcome { room: id.clone() };
        if self.ground.core().room(&id).get().await?.is_some() {
            return Ok(self.ground.nothing_to_do(request, &outcome, id).await?);
        }
        let now = self.ground.now();
        let room = Room { id, scope: RoomScope::Dm, group_id: None, created_at: now };
        let mut commit = self
            .ground
            .commit()
            .with("person", writes::live(me))
            .with("person", writes::live(them))
            .with("block", Block::at(me, them).absent())
            .with("block", Block::at(them, me).absent());
        for (name, write) in opened(&room, [me, them]) {
            commit = commit.with(name, write);
        }
        Ok(commit.remembering(request, &outcome)?.done(room.id).await?)
    }

    /// Goes to a group's room, which is made where the group is older than rooms are.
    async fn open_group(
        &self,
        me: &UserId,
        group: &GroupId,
        request: Option<&Request>,
    ) -> Result<Tried<RoomId>, RoomError> {
        let core = self.ground.core();
        let group = core.group(group).get().await?.ok_or(RoomError::NoSuchGroup)?;
        let is_member = seat::is_active(&self.ground, &group.id, me).await?;
        if !allows(Act::OpenGroupRoom, Standing::SIGNED_IN.and_if(is_member, Standing::MEMBER)) {
            return Err(RoomError::NotAMember);
        }
        let (room, mine) = futures::future::try_join(
            core.room(&group.room_id).get(),
            core.room_member(&group.room_id, me).get(),
        )
        .await?;
        let (id, now) = (group.room_id.clone(), self.ground.now());
        let outcome = Outcome { room: id.clone() };
        let mut commit = self.ground.commit();
        if room.is_none() {
            let made = room_of(&group, now);
            commit = commit.with("group", Group::at(&group.id).exists());
            for (name, write) in opened(&made, []) {
                commit = commit.with(name, write);
            }
        }
        if mine.is_none() {
            let read_seq = head_of(&self.ground, &id).await?.map_or(0, |head| head.seq);
            let mine =
                RoomMember { room_id: id.clone(), user_id: me.clone(), read_seq, joined_at: now };
            commit = commit
                .with("membership", writes::active(&group.id, me))
                .with("member", mine.create());
        }
        Ok(commit.remembering(request, &outcome)?.done(id).await?)
    }
}

/// Refuses to talk to somebody whom the caller cannot see, or where one has blocked the other. Staff see
/// who is suspended, or has blocked them, but can talk to neither.
pub(crate) fn may_talk(sight: &Sight, user: &UserId) -> Result<(), RoomError> {
    let person = sight
        .person(user)
        .filter(|person| person.status == UserStatus::Active && !sight.is_blocked(user));
    let standing = Standing::SIGNED_IN.and_if(person.is_some(), Standing::SEES);
    if allows(Act::OpenRoom, standing) { Ok(()) } else { Err(RoomError::NoSuchUser) }
}
