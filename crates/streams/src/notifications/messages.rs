//! What one person writes to another, which adds up: one notification for each hour, which names the
//! latest message that is still there.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use roundtable_domain::{About, CROWD_MS, Cause, hour_of};
use roundtable_model::entities::{Message, Notification, Room};
use roundtable_model::table::{Change, Write};
use roundtable_model::{
    Entity, MessageId, NotificationKind, RoomId, RoomScope, Span, Time, UserId,
};

use super::{Notices, at, place_of};
use crate::Failure;
use crate::processor::{Effects, Images, entity};
use crate::reads::read_all;

/// What somebody wrote in a room in one hour.
type Written = (RoomId, UserId, Time);

impl Notices {
    pub(super) async fn messages(
        &self,
        changes: &[Change],
        effects: &mut Effects,
    ) -> Result<(), Failure> {
        let mut touched: BTreeSet<Written> = BTreeSet::new();
        for change in changes.iter().filter(|change| entity(change) == Some(Message::SHAPE.name)) {
            let Images { old, new } = Images::<Message>::of(change)?;
            if old.is_some() != new.is_some()
                && let Some(message) = new.or(old)
            {
                let hour = hour_of(message.created_at);
                touched.insert((message.room_id, message.user_id, hour));
            }
        }
        let rooms: BTreeSet<&RoomId> = touched.iter().map(|(room, ..)| room).collect();
        let core = self.ground.core().table();
        let rooms = read_all(core, rooms.into_iter().map(|id| (id, Room::at(id)))).await?;
        // A group's room counts for itself what its members have not read.
        let is_theirs = |room: &Room| room.scope == RoomScope::Dm;
        let theirs = touched.iter().filter(|(room, ..)| rooms.get(room).is_some_and(is_theirs));
        let writes = try_join_all(theirs.map(|written| self.told_of(written))).await?;
        writes.into_iter().flatten().for_each(|write| effects.write(core, write));
        Ok(())
    }

    /// The write by which what somebody wrote is told, told anew, or not told any more.
    async fn told_of(&self, written: &Written) -> Result<Option<Write>, Failure> {
        let (room, sender, hour) = written;
        let core = self.ground.core();
        let members = core.room_members(room).strong().limit(2).page().await?.items;
        let Some(reader) = members.into_iter().find(|member| member.user_id != *sender) else {
            return Ok(None);
        };
        let then = Span::between(*hour, hour.plus_ms(CROWD_MS));
        let latest = core.messages(room, then).with(Message::USER_ID, sender).limit(1);
        let latest = latest.page().await?.items.into_iter().next();
        let id = latest.as_ref().map_or_else(|| room.recast(), |message| message.id.clone());
        let cause = Cause {
            user: reader.user_id,
            kind: NotificationKind::Message,
            actor: Some(sender.clone()),
            about: About::Message(room.clone(), id),
            at: *hour,
        };
        let note = cause.notification(&self.ground)?;
        let there = read_all(core.table(), [((), at(&place_of(&note)))]).await?.remove(&());
        Ok(match (there, latest) {
            (None, None) => None,
            (Some(there), None) => Some(there.key().delete().into()),
            (None, Some(_)) => {
                let admitted = self.notifications.admits(&note.user_id, &[cause]).await?;
                let is_told = admitted.contains(&true) && !self.is_over(&note);
                is_told.then(|| note.create().into())
            }
            (Some(there), Some(latest)) => {
                (there.object != note.object).then(|| renamed(&there, &note, &latest.id))
            }
        })
    }
}

/// The write by which what was told before names the latest message. A later one than it named is news;
/// an earlier one is named because that was taken back. Clocks would not tell what its reader knew of:
/// it may have been marked after a message that it did not name yet.
fn renamed(there: &Notification, note: &Notification, latest: &MessageId) -> Write {
    let named = there.object.as_ref().map(|object| object.id.recast::<MessageId>());
    // Ids lie in the order of time.
    let read_at = there.read_at.filter(|_| named.is_some_and(|named| *latest < named));
    let unchanged =
        Notification::OBJECT.is(&there.object).and(Notification::READ_AT.is(&there.read_at));
    let patch = there.key().patch().set(Notification::OBJECT, &note.object);
    patch.set(Notification::READ_AT, &read_at).when(unchanged).into()
}
