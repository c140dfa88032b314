//! Loads the URLs of files.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::MediaUrl;
use roundtable_model::MediaKey;

use super::{ViewerLoader, batch_error, by_key};
use crate::ApiError;

/// The key of a file's URL, which exists if the viewer may see what the file belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MediaUrlKey(pub(crate) MediaKey);

impl Loader<MediaUrlKey> for ViewerLoader {
    type Value = MediaUrl;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[MediaUrlKey],
    ) -> Result<HashMap<MediaUrlKey, MediaUrl>, Arc<ApiError>> {
        let media_keys: Vec<MediaKey> = keys.iter().map(|key| key.0.clone()).collect();
        let urls = self.services.media.urls(self.viewer.as_ref(), &media_keys).await;
        Ok(by_key(keys, urls.map_err(batch_error)?))
    }
}
