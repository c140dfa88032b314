//! Companies and offers.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_model::{CompanyId, OfferId, entities};

use super::{Look, found, shared};
use crate::Refused;

impl Loader<CompanyId> for Look {
    type Value = entities::Company;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        ids: &[CompanyId],
    ) -> Result<HashMap<CompanyId, entities::Company>, Arc<Refused>> {
        let companies = self.services.companies().companies(self.viewer.as_ref(), ids).await;
        Ok(found(ids, companies.map_err(shared)?))
    }
}

impl Loader<OfferId> for Look {
    type Value = entities::Offer;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        ids: &[OfferId],
    ) -> Result<HashMap<OfferId, entities::Offer>, Arc<Refused>> {
        let offers = self.services.offers().offers(self.viewer.as_ref(), ids).await;
        Ok(found(ids, offers.map_err(shared)?))
    }
}
