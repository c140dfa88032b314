//! Loads rooms, their members and messages.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::RoomView;
use roundtable_model::{MessageId, RoomId, UserId, entities};

use super::{ViewerLoader, batch_error, by_key};
use crate::ApiError;

impl Loader<RoomId> for ViewerLoader {
    type Value = RoomView;
    type Error = Arc<ApiError>;

    async fn load(&self, ids: &[RoomId]) -> Result<HashMap<RoomId, RoomView>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let rooms = self.services.rooms().rooms(caller, ids).await;
        Ok(by_key(ids, rooms.map_err(batch_error)?))
    }
}

/// The key of the members of a room that the viewer may see.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RoomMembersKey(pub(crate) RoomId);

impl Loader<RoomMembersKey> for ViewerLoader {
    type Value = Vec<UserId>;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[RoomMembersKey],
    ) -> Result<HashMap<RoomMembersKey, Vec<UserId>>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<RoomId> = keys.iter().map(|key| key.0.clone()).collect();
        let members = self.services.rooms().member_ids(caller, &ids).await.map_err(batch_error)?;
        Ok(by_key(keys, members.into_iter().map(Some)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MessageKey(pub(crate) RoomId, pub(crate) MessageId);

impl Loader<MessageKey> for ViewerLoader {
    type Value = entities::Message;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[MessageKey],
    ) -> Result<HashMap<MessageKey, entities::Message>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<_> = keys.iter().map(|key| (key.0.clone(), key.1.clone())).collect();
        let messages = self.services.messages().messages(caller, &ids).await;
        Ok(by_key(keys, messages.map_err(batch_error)?))
    }
}
