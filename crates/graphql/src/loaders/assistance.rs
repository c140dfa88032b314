//! Loads assist threads and their messages.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_model::{MessageId, ThreadId, entities};

use super::{ViewerLoader, batch_error, by_key};
use crate::ApiError;

impl Loader<ThreadId> for ViewerLoader {
    type Value = entities::AssistThread;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        ids: &[ThreadId],
    ) -> Result<HashMap<ThreadId, entities::AssistThread>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let threads = self.services.assistance().threads(caller, ids).await;
        Ok(by_key(ids, threads.map_err(batch_error)?))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AssistMessageKey(pub(crate) ThreadId, pub(crate) MessageId);

impl Loader<AssistMessageKey> for ViewerLoader {
    type Value = entities::AssistMsg;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[AssistMessageKey],
    ) -> Result<HashMap<AssistMessageKey, entities::AssistMsg>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<_> = keys.iter().map(|key| (key.0.clone(), key.1.clone())).collect();
        let messages = self.services.assistance().messages_by_id(caller, &ids).await;
        Ok(by_key(keys, messages.map_err(batch_error)?))
    }
}
