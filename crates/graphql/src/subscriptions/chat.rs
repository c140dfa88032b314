//! Listening in rooms, and to what one is told.

use async_graphql::{Context, Subscription};
use roundtable_model::{MessageId, NotificationId, RoomId};

use super::{Told, told};
use crate::Refused;
use crate::request::Asked;
use crate::scalars::Id;
use crate::types::notifications::Notification;
use crate::types::rooms::Message;

/// Subscriptions of rooms and notifications.
#[derive(Debug, Default)]
pub(super) struct RoomsLive;

#[Subscription]
impl RoomsLive {
    /// What is said in a room the caller is in. It ends with an error when they leave.
    async fn on_send_message(
        &self,
        ctx: &Context<'_>,
        room_id: Id<RoomId>,
        #[graphql(desc = "the last id seen; what came since is sent first")] after: Option<
            Id<MessageId>,
        >,
    ) -> Result<Told<Message>, Refused> {
        let asked = Asked::of(ctx)?;
        let (messages, after) = (&asked.services().messages, after.map(|id| id.0));
        let live = messages.live(asked.caller()?, &room_id.0, after.as_ref()).await?;
        Ok(told(live, |message| Some(message.into())))
    }

    /// What the caller is told.
    async fn on_notification(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "the last id seen; what came since is sent first")] after: Option<
            Id<NotificationId>,
        >,
    ) -> Result<Told<Notification>, Refused> {
        let asked = Asked::of(ctx)?;
        let (notifications, after) = (&asked.services().notifications, after.map(|id| id.0));
        let live = notifications.live(asked.caller()?, after.as_ref()).await?;
        Ok(told(live, |notice| Some(notice.into())))
    }
}
