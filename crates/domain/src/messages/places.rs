//! Messages of many rooms at once: what fields of many items are loaded with.

use std::collections::HashMap;

use futures::future::{TryFutureExt, try_join};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Message;
use roundtable_model::{MessageId, RoomId};

use super::Messages;
use crate::rooms::Seat;
use crate::{Caller, Failure, RoomError};

#[boxed]
impl Messages {
    /// Messages by their rooms and ids, each in its place; `None` where the caller is not in the room, or
    /// may not see who said it.
    pub async fn messages(
        &self,
        caller: &Caller,
        places: &[(RoomId, MessageId)],
    ) -> Result<Vec<Option<Message>>, RoomError> {
        let (ground, me) = (&self.ground, self.ground.reader(caller).await?.id);
        let said = places.iter().filter_map(|(room, id)| Some(Message::at(room, &id.time()?, id)));
        let (seats, said) = try_join(
            Seat::among(ground, &me, places.iter().map(|(room, _)| room)),
            ground.at("messages", said).map_err(Failure::from),
        )
        .await?;
        let said: Vec<Message> = said.into_iter().flatten().collect();
        let authors = said.iter().map(|message| &message.user_id);
        // Staff see what anybody would: their sight is for their work.
        let sight = ground.sight(Some(&Caller::user(me)), authors, []).await?;
        let shows = |message: &&Message| {
            seats.contains_key(&message.room_id) && sight.person(&message.user_id).is_some()
        };
        let said: HashMap<(&RoomId, &MessageId), &Message> =
            said.iter().filter(shows).map(|it| ((&it.room_id, &it.id), it)).collect();
        Ok(places.iter().map(|(room, id)| said.get(&(room, id)).copied().cloned()).collect())
    }
}
