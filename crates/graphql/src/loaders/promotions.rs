//! Whose activities are fanned out.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_model::{ActorId, entities};

use super::{Look, found, shared};
use crate::Refused;

/// The promotion of a person or a group, for admins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PromotionOf(pub(crate) ActorId);

impl Loader<PromotionOf> for Look {
    type Value = entities::Promotion;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[PromotionOf],
    ) -> Result<HashMap<PromotionOf, entities::Promotion>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let subjects: Vec<ActorId> = of.iter().map(|of| of.0.clone()).collect();
        let promotions = self.services.promotions().promotions(caller, &subjects).await;
        Ok(found(of, promotions.map_err(shared)?))
    }
}
