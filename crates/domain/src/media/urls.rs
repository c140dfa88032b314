//! Signed download URLs, for viewers who may see the file now.

use std::fmt;
use std::time::Duration;

use futures::future::try_join_all;
use hashbrown::{HashMap, HashSet};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Upload;
use roundtable_model::{MediaKey, Time, UploadState};

use super::holders::VisibleHolders;
use super::{MediaError, MediaFiles, ms, owner_of};
use crate::Caller;

#[derive(Clone, PartialEq, Eq)]
pub struct MediaUrl {
    /// A capability: any holder of the URL can fetch the file.
    pub url: String,
    pub expires_at: Time,
}

/// Omits the URL, which is a capability.
impl fmt::Debug for MediaUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MediaUrl").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

#[boxed]
impl MediaFiles {
    /// Returns a download URL, for the owner and for viewers who may see the post, activity or
    /// profile it belongs to. To all others the file does not exist.
    pub async fn url(
        &self,
        viewer: Option<&Caller>,
        key: &MediaKey,
    ) -> Result<MediaUrl, MediaError> {
        let urls = self.urls(viewer, std::slice::from_ref(key)).await?;
        urls.into_iter().flatten().next().ok_or(MediaError::NoSuchMedia)
    }

    /// Returns download URLs in the order of `keys`; `None` where the viewer may not see the file.
    /// Files are read together, so a page of posts costs a few reads and not one for each.
    pub async fn urls(
        &self,
        viewer: Option<&Caller>,
        keys: &[MediaKey],
    ) -> Result<Vec<Option<MediaUrl>>, MediaError> {
        let uploads = self.completed_uploads(keys).await?;
        let holders = VisibleHolders::of(&self.context, viewer, &uploads).await?;
        let visible = uploads.into_iter().filter(|upload| holders.can_see(upload));
        let urls = try_join_all(visible.map(|upload| self.sign_url(upload))).await?;
        let urls: HashMap<MediaKey, MediaUrl> = urls.into_iter().flatten().collect();
        Ok(keys.iter().map(|key| urls.get(key).cloned()).collect())
    }

    /// Reads the completed uploads, each once.
    async fn completed_uploads(&self, keys: &[MediaKey]) -> Result<Vec<Upload>, MediaError> {
        let distinct: HashSet<&MediaKey> = keys.iter().collect();
        let item_keys =
            distinct.into_iter().filter_map(|key| Some(Upload::at(&owner_of(key)?, key)));
        let found = self.context.items_at("upload", item_keys).await?.into_iter().flatten();
        Ok(found.filter(|upload| upload.state == UploadState::Complete).collect())
    }

    async fn sign_url(&self, upload: Upload) -> Result<Option<(MediaKey, MediaUrl)>, MediaError> {
        let Upload { key, copy: Some(copy), content_type, .. } = upload else { return Ok(None) };
        let valid_for = Duration::from_secs(self.context.settings().media.download_seconds);
        let expires_at = self.context.now().plus_ms(ms(valid_for));
        let url = self.store.download_url(&key, &copy, &content_type, valid_for).await?;
        Ok(Some((key, MediaUrl { url, expires_at })))
    }
}
