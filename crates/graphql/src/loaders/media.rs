//! Where files can be fetched.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::MediaUrl;
use roundtable_model::MediaKey;

use super::{Look, found, shared};
use crate::Refused;

/// Where a file can be fetched, for whoever may see what it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AddressOf(pub(crate) MediaKey);

impl Loader<AddressOf> for Look {
    type Value = MediaUrl;
    type Error = Arc<Refused>;

    async fn load(&self, of: &[AddressOf]) -> Result<HashMap<AddressOf, MediaUrl>, Arc<Refused>> {
        let keys: Vec<MediaKey> = of.iter().map(|of| of.0.clone()).collect();
        let urls = self.services.media.urls(self.viewer.as_ref(), &keys).await;
        Ok(found(of, urls.map_err(shared)?))
    }
}
