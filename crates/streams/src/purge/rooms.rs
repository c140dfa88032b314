//! What a deleted account leaves behind in rooms: what it said, and its seat. The other one of a room of
//! two keeps the room, and what they said themselves; a room that nobody is left for goes as a whole.

use roundtable_model::entities::{Room, RoomMember};
use roundtable_model::{Entity, RoomScope, UserId, UserStatus};

use super::Purge;
use super::sweep::{PAGE_ITEMS, remove, sweep};
use crate::Failure;

/// Rooms of one page: each may have to be looked into.
const ROOMS_AT_ONCE: usize = 10;

impl Purge {
    /// Takes away a page of what somebody said, in whichever room; whether there was any.
    pub(super) async fn remove_messages(&self, id: &UserId) -> Result<bool, Failure> {
        let messages = self.ground.core().messages_by(id).limit(PAGE_ITEMS).page().await?.items;
        remove(&self.ground, messages.iter().map(|message| message.key().into()).collect()).await?;
        Ok(!messages.is_empty())
    }

    /// Takes away some of somebody's seats, with the rooms that are nobody's then; whether there were any.
    pub(super) async fn leave_rooms(&self, id: &UserId) -> Result<bool, Failure> {
        let seats = self.ground.core().rooms_of(id).limit(ROOMS_AT_ONCE).page().await?.items;
        for seat in &seats {
            // The seat goes last: by it the room is found again when there is more than a page of it.
            if self.is_deserted(seat).await? && self.remove_room(seat).await? {
                continue;
            }
            remove(&self.ground, vec![seat.key().into()]).await?;
        }
        Ok(!seats.is_empty())
    }

    /// Whether a room of two is left to nobody: whoever else has a seat in it is gone, too. A group's
    /// room goes with the group.
    async fn is_deserted(&self, seat: &RoomMember) -> Result<bool, Failure> {
        let core = self.ground.core();
        let room = core.room(&seat.room_id).get().await?;
        if room.is_none_or(|room| room.scope != RoomScope::Dm) {
            return Ok(false);
        }
        let seats = core.room_members(&seat.room_id).strong().limit(PAGE_ITEMS).page().await?.items;
        let others = seats.into_iter().map(|other| other.user_id).filter(|id| *id != seat.user_id);
        let others: Vec<UserId> = others.collect();
        let profiles = core.profiles(&others).strong().get().await?;
        Ok(profiles.iter().flatten().all(|profile| profile.status == UserStatus::Deleted))
    }

    /// Takes away a page of a room, but for the seats in it; whether there was any.
    async fn remove_room(&self, seat: &RoomMember) -> Result<bool, Failure> {
        sweep(&self.ground, Room::at(&seat.room_id), &[RoomMember::SHAPE.name]).await
    }
}
