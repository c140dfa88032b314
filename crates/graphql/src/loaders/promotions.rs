//! Loads promotions.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_model::{ActorId, entities};

use super::{ViewerLoader, batch_error, by_key};
use crate::ApiError;

/// The key of a user's or a group's promotion, which only admins see.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PromotionKey(pub(crate) ActorId);

impl Loader<PromotionKey> for ViewerLoader {
    type Value = entities::Promotion;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[PromotionKey],
    ) -> Result<HashMap<PromotionKey, entities::Promotion>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let subjects: Vec<ActorId> = keys.iter().map(|key| key.0.clone()).collect();
        let promotions = self.services.promotions().promotions(caller, &subjects).await;
        Ok(by_key(keys, promotions.map_err(batch_error)?))
    }
}
