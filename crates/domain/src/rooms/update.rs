//! The setting of a room: whether messages are listed in the timelines of their authors.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Room, RoomMember};
use roundtable_model::table::Check;
use roundtable_model::{Entity, RequestId, RoomId, UserId};

use super::{RoomError, RoomMembership, RoomOutcome, RoomView, Rooms};
use crate::access::{Permission, Relations, allows};
use crate::groups::{member_relations, unchanged_member_check};
use crate::{Caller, ServiceError};

#[boxed]
impl Rooms {
    /// Decides whether messages sent to a room from now on are listed in the timelines of their
    /// authors. For both users of a direct room, and for the owner and admins of a group.
    pub async fn update(
        &self,
        caller: &Caller,
        room: &RoomId,
        message_timeline: bool,
        request: Option<&RequestId>,
    ) -> Result<RoomView, RoomError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("updateRoom", &(room, message_timeline), request)?
            .replay(async |_: RoomOutcome| Ok::<_, RoomError>(()))
            .run(async |me, attempt| {
                let membership = RoomMembership::of(&self.context, &me.id, room).await?;
                let allowed = self.update_check(&me.id, &membership.room).await?;
                let allowed = allowed.ok_or(RoomError::NotGroupStaff)?;
                let outcome = RoomOutcome { room: room.clone() };
                if membership.room.lists_messages() == message_timeline {
                    return attempt.unchanged(outcome, ()).await;
                }
                let patch = membership.room.key().patch();
                attempt
                    .commit()
                    .with("room", patch.set(Room::MESSAGE_TIMELINE, &Some(message_timeline)))
                    .with("member", allowed)
                    .finish(outcome, ())
                    .await
            })
            .await?;
        self.room(caller, room).await
    }

    /// Returns the check of the membership that permits a change of the room, if the user may.
    async fn update_check(&self, me: &UserId, room: &Room) -> Result<Option<Check>, ServiceError> {
        let Some(group) = &room.group_id else {
            // A direct room belongs to both.
            let may = allows(Permission::UpdateRoom, Relations::SIGNED_IN | Relations::OWNER);
            return Ok(may.then(|| RoomMember::at(&room.id, me).exists()));
        };
        let member = self.context.core().member(group, me).get().await?;
        let member =
            member.filter(|member| allows(Permission::UpdateRoom, member_relations(member)));
        Ok(member.as_ref().map(unchanged_member_check))
    }
}
