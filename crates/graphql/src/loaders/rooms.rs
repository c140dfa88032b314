//! Rooms, who is in them, and what was said in them.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::RoomView;
use roundtable_model::{MessageId, RoomId, UserId, entities};

use super::{Look, found, shared};
use crate::Refused;

impl Loader<RoomId> for Look {
    type Value = RoomView;
    type Error = Arc<Refused>;

    async fn load(&self, ids: &[RoomId]) -> Result<HashMap<RoomId, RoomView>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let rooms = self.services.rooms().rooms(caller, ids).await;
        Ok(found(ids, rooms.map_err(shared)?))
    }
}

/// Who is in a room that the viewer has been shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MemberIdsOf(pub(crate) RoomId);

impl Loader<MemberIdsOf> for Look {
    type Value = Vec<UserId>;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[MemberIdsOf],
    ) -> Result<HashMap<MemberIdsOf, Vec<UserId>>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<RoomId> = of.iter().map(|of| of.0.clone()).collect();
        let members = self.services.rooms().member_ids(caller, &ids).await.map_err(shared)?;
        Ok(found(of, members.into_iter().map(Some)))
    }
}

/// A message of a room.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MessageAt(pub(crate) RoomId, pub(crate) MessageId);

impl Loader<MessageAt> for Look {
    type Value = entities::Message;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        at: &[MessageAt],
    ) -> Result<HashMap<MessageAt, entities::Message>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let places: Vec<_> = at.iter().map(|at| (at.0.clone(), at.1.clone())).collect();
        let messages = self.services.messages.messages(caller, &places).await;
        Ok(found(at, messages.map_err(shared)?))
    }
}
