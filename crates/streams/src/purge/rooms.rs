//! Removes a deleted account's messages and memberships from rooms. The other member of a direct
//! room keeps the room and their own messages; a room without active members is removed as a whole.

use roundtable_model::entities::{Room, RoomHead, RoomMember};
use roundtable_model::{Entity, RoomId, RoomScope, UserId, UserStatus};

use super::Purge;
use super::sweep::{PAGE_ITEMS, remove, remove_belongings};
use crate::Result;

/// Rooms of one page. Each may have to be read.
const ROOMS_AT_ONCE: usize = 10;

impl Purge {
    /// Removes some of a user's memberships, and abandoned rooms. Returns whether there were any.
    pub(super) async fn leave_rooms(&self, id: &UserId) -> Result<bool> {
        let memberships = self.context.core().rooms_of(id).limit(ROOMS_AT_ONCE).page().await?.items;
        for membership in &memberships {
            // The membership goes last: it leads back to a room of more than one page.
            if self.is_abandoned(membership).await?
                && self.remove_room(&membership.room_id, &[RoomMember::SHAPE.name]).await?
            {
                continue;
            }
            remove(&self.context, vec![membership.key().into()]).await?;
        }
        Ok(!memberships.is_empty())
    }

    /// Returns whether all other members of a direct room are deleted. A group's room goes with the
    /// group.
    async fn is_abandoned(&self, membership: &RoomMember) -> Result<bool> {
        let core = self.context.core();
        let room = core.room(&membership.room_id).get().await?;
        if room.is_none_or(|room| room.scope != RoomScope::Dm) {
            return Ok(false);
        }
        let memberships =
            core.room_members(&membership.room_id).strong().limit(PAGE_ITEMS).page().await?.items;
        let others = memberships
            .into_iter()
            .map(|other| other.user_id)
            .filter(|id| *id != membership.user_id);
        let others: Vec<UserId> = others.collect();
        let profiles = core.profiles(&others).strong().get().await?;
        Ok(profiles.iter().flatten().all(|profile| profile.status == UserStatus::Deleted))
    }

    /// Removes a page of a room, except for items of some entities, and the room with its head last.
    /// Returns whether there was any.
    pub(super) async fn remove_room(&self, id: &RoomId, except: &[&str]) -> Result<bool> {
        let except = [except, &[RoomHead::SHAPE.name]].concat();
        if remove_belongings(&self.context, id, &except).await? {
            return Ok(true);
        }
        remove(&self.context, vec![RoomHead::at(id).into(), Room::at(id).into()]).await?;
        Ok(false)
    }
}
