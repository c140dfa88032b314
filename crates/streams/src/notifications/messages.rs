//! What one person writes to another, which adds up: one notification for each hour, which names the
//! latest message that is still there.

use std::collections::BTreeSet;

use roundtable_domain::{About, CROWD_MS, Cause, hour_of};
use roundtable_model::entities::{Message, Notification, Room};
use roundtable_model::table::Change;
use roundtable_model::{Entity, NotificationKind, RoomId, RoomScope, Span, Time, UserId};

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
        for written in &touched {
            // A group's room counts for itself what its members have not read.
            let is_theirs = |room: &Room| room.scope == RoomScope::Dm;
            if rooms.get(&written.0).is_some_and(is_theirs) {
                self.told_of(written, effects).await?;
            }
        }
        Ok(())
    }

    async fn told_of(&self, written: &Written, effects: &mut Effects) -> Result<(), Failure> {
        let (room, sender, hour) = written;
        let core = self.ground.core();
        let members = core.room_members(room).strong().all().await?;
        let Some(reader) = members.into_iter().find(|member| member.user_id != *sender) else {
            return Ok(());
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
        match (there, latest) {
            (None, None) => {}
            (Some(there), None) => effects.write(core.table(), there.key().delete()),
            (None, Some(_)) => {
                let admitted = self.notifications.admits(&note.user_id, &[cause]).await?;
                if admitted.contains(&true) && !self.is_over(&note) {
                    effects.write(core.table(), note.create());
                }
            }
            (Some(there), Some(latest)) => {
                let read_at = there.read_at.filter(|read| *read >= latest.created_at);
                if there.object != note.object || there.read_at != read_at {
                    let unchanged = Notification::OBJECT
                        .is(&there.object)
                        .and(Notification::READ_AT.is(&there.read_at));
                    let patch = there.key().patch().set(Notification::OBJECT, &note.object);
                    let patch = patch.set(Notification::READ_AT, &read_at).when(unchanged);
                    effects.write(core.table(), patch);
                }
            }
        }
        Ok(())
    }
}
