//! Notifications about direct messages: one for each sender and hour, which names the latest
//! message that still exists.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use roundtable_domain::{COLLAPSE_MS, Cause, CauseObject, collapse_hour};
use roundtable_model::entities::{Message, Notification, Room};
use roundtable_model::table::{Change, Write};
use roundtable_model::{
    Entity, MessageId, NotificationKind, RoomId, RoomScope, Span, Time, UserId,
};

use super::{NotificationWriter, entity_key, notification_key};
use crate::Result;
use crate::processor::{Effects, Images, entity_type};
use crate::reads::read_all;

/// The messages of one sender in a room in one hour.
type SenderHour = (RoomId, UserId, Time);

impl NotificationWriter {
    pub(super) async fn write_messages(
        &self,
        changes: &[Change],
        effects: &mut Effects,
    ) -> Result<()> {
        let mut touched: BTreeSet<SenderHour> = BTreeSet::new();
        for change in
            changes.iter().filter(|change| entity_type(change) == Some(Message::SHAPE.name))
        {
            let Images { old, new } = Images::<Message>::of(change)?;
            if old.is_some() != new.is_some()
                && let Some(message) = new.or(old)
            {
                let hour = collapse_hour(message.created_at);
                touched.insert((message.room_id, message.user_id, hour));
            }
        }
        let rooms: BTreeSet<&RoomId> = touched.iter().map(|(room, ..)| room).collect();
        let core = self.context.core().table();
        let rooms = read_all(core, rooms.into_iter().map(|id| (id, Room::at(id)))).await?;
        // A group's room counts its members' unread messages itself.
        let is_direct = |room: &Room| room.scope == RoomScope::Dm;
        let direct = touched.iter().filter(|(room, ..)| rooms.get(room).is_some_and(is_direct));
        let writes =
            try_join_all(direct.map(|sender_hour| self.message_write(sender_hour))).await?;
        writes.into_iter().flatten().for_each(|write| effects.write(core, write));
        Ok(())
    }

    /// Returns the write that creates, updates or deletes a notification about a sender's messages.
    async fn message_write(&self, sender_hour: &SenderHour) -> Result<Option<Write>> {
        let (room, sender, hour) = sender_hour;
        let core = self.context.core();
        let members = core.room_members(room).strong().limit(2).page().await?.items;
        let Some(reader) = members.into_iter().find(|member| member.user_id != *sender) else {
            return Ok(None);
        };
        let span = Span::between(*hour, hour.plus_ms(COLLAPSE_MS));
        let latest = core.messages(room, span).filter_by(Message::USER_ID, sender).limit(1);
        let latest = latest.page().await?.items.into_iter().next();
        let id = latest.as_ref().map_or_else(|| room.recast(), |message| message.id.clone());
        let cause = Cause {
            user: reader.user_id,
            kind: NotificationKind::Message,
            actor: Some(sender.clone()),
            about: CauseObject::Message(room.clone(), id),
            at: *hour,
        };
        let latest_at = latest.as_ref().map(|message| message.created_at);
        let notification = Notification { latest_at, ..cause.notification(&self.context)? };
        let existing = read_all(core.table(), [((), entity_key(&notification_key(&notification)))])
            .await?
            .remove(&());
        Ok(match (existing, latest) {
            (None, None) => None,
            (Some(existing), None) => Some(existing.key().delete().into()),
            (None, Some(_)) => {
                let allowed =
                    self.notifications.may_notify(&notification.user_id, &[cause]).await?;
                let is_wanted = allowed.contains(&true) && !self.is_expired(&notification);
                is_wanted.then(|| notification.create().into())
            }
            (Some(existing), Some(latest)) => (existing.object != notification.object)
                .then(|| update_latest(&existing, &notification, &latest.id)),
        })
    }
}

/// Returns the write that makes a notification name the latest message. A later message than it
/// named is news; an earlier one is named because that was deleted. Clocks cannot tell what the
/// reader knew: the notification may have been marked as read after a message that it did not name
/// yet.
fn update_latest(
    existing: &Notification,
    notification: &Notification,
    latest: &MessageId,
) -> Write {
    let named = existing.object.as_ref().map(|object| object.id.recast::<MessageId>());
    // Ids are ordered by time.
    let read_at = existing.read_at.filter(|_| named.is_some_and(|named| *latest < named));
    let unchanged =
        Notification::OBJECT.is(&existing.object).and(Notification::READ_AT.is(&existing.read_at));
    let patch = existing.key().patch().set(Notification::OBJECT, &notification.object);
    let patch = patch.set(Notification::LATEST_AT, &notification.latest_at);
    patch.set(Notification::READ_AT, &read_at).when(unchanged).into()
}
