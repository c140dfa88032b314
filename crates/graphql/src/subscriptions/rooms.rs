//! Subscriptions to rooms and notifications.

use async_graphql::{Context, Subscription};
use roundtable_model::{MessageId, NotificationId, RoomId};

use super::{EventStream, event_stream};
use crate::ApiError;
use crate::request::RequestContext;
use crate::scalars::ApiId;
use crate::types::notifications::Notification;
use crate::types::rooms::Message;

#[derive(Debug, Default)]
pub(super) struct RoomSubscriptions;

#[Subscription]
impl RoomSubscriptions {
    /// New messages in a room of the caller. Ends with an error when the caller leaves the room.
    async fn on_send_message(
        &self,
        ctx: &Context<'_>,
        room_id: ApiId<RoomId>,
        #[graphql(desc = "The last id received; newer items are sent first.")] after: Option<
            ApiId<MessageId>,
        >,
    ) -> Result<EventStream<Message>, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (services, after) = (context.services(), after.map(|id| id.0));
        let (messages, caller) = (services.messages(), context.caller()?);
        let live = messages.live(&services.bus, caller, &room_id.0, after.as_ref()).await?;
        Ok(event_stream(live, |message| Some(message.into())))
    }

    /// New notifications of the caller.
    async fn on_notification(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The last id received; newer items are sent first.")] after: Option<
            ApiId<NotificationId>,
        >,
    ) -> Result<EventStream<Notification>, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (services, after) = (context.services(), after.map(|id| id.0));
        let (notifications, caller) = (services.notifications(), context.caller()?);
        let live = notifications.live(&services.bus, caller, after.as_ref()).await?;
        Ok(event_stream(live, |view| Some(view.into())))
    }
}
