//! Loads companies and offers.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_model::{CompanyId, OfferId, entities};

use super::{ViewerLoader, batch_error, by_key};
use crate::ApiError;

impl Loader<CompanyId> for ViewerLoader {
    type Value = entities::Company;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        ids: &[CompanyId],
    ) -> Result<HashMap<CompanyId, entities::Company>, Arc<ApiError>> {
        let companies = self.services.companies().companies(self.viewer.as_ref(), ids).await;
        Ok(by_key(ids, companies.map_err(batch_error)?))
    }
}

impl Loader<OfferId> for ViewerLoader {
    type Value = entities::Offer;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        ids: &[OfferId],
    ) -> Result<HashMap<OfferId, entities::Offer>, Arc<ApiError>> {
        let offers = self.services.offers().offers(self.viewer.as_ref(), ids).await;
        Ok(by_key(ids, offers.map_err(batch_error)?))
    }
}
