//! Messages of many rooms in one batch, for a page.

use std::collections::HashMap;

use futures::future::{TryFutureExt, try_join};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Message;
use roundtable_model::{MessageId, RoomId};

use super::Messages;
use crate::rooms::RoomMembership;
use crate::{Caller, RoomError, ServiceError};

#[boxed]
impl Messages {
    /// Returns the messages with these rooms and ids, in the same order; `None` if the caller is
    /// not in the room or may not see the author.
    pub async fn messages(
        &self,
        caller: &Caller,
        keys: &[(RoomId, MessageId)],
    ) -> Result<Vec<Option<Message>>, RoomError> {
        let (context, me) = (&self.context, self.context.authorize_read(caller).await?.id);
        let messages =
            keys.iter().filter_map(|(room, id)| Some(Message::at(room, &id.time()?, id)));
        let (memberships, messages) = try_join(
            RoomMembership::among(context, &me, keys.iter().map(|(room, _)| room)),
            context.items_at("messages", messages).map_err(ServiceError::from),
        )
        .await?;
        let messages: Vec<Message> = messages.into_iter().flatten().collect();
        let authors = messages.iter().map(|message| &message.user_id);
        // Staff roles do not apply in rooms.
        let access = context.viewer_access(Some(&Caller::user(me)), authors, []).await?;
        let is_visible = |message: &&Message| {
            memberships.contains_key(&message.room_id)
                && access.visible_user(&message.user_id).is_some()
        };
        let messages: HashMap<(&RoomId, &MessageId), &Message> =
            messages.iter().filter(is_visible).map(|it| ((&it.room_id, &it.id), it)).collect();
        Ok(keys.iter().map(|(room, id)| messages.get(&(room, id)).copied().cloned()).collect())
    }
}
