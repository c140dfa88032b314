//! Signed download URLs, for viewers who may see the file now.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join_all;
use hashbrown::{HashMap, HashSet};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Upload;
use roundtable_model::{MediaKey, Time, UploadState, UserId};

use super::holders::VisibleHolders;
use super::{MediaError, MediaFiles, ms, owner_of};
use crate::{Caller, Context};

#[derive(Clone, PartialEq, Eq)]
pub struct MediaUrl {
    /// A capability: any holder of the URL can fetch the file.
    pub url: Arc<str>,
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
        let visible = uploads.iter().filter(|upload| holders.can_see(upload));
        let urls = try_join_all(visible.map(|upload| self.sign_url(upload))).await?;
        let urls: HashMap<MediaKey, MediaUrl> = urls.into_iter().flatten().collect();
        Ok(keys.iter().map(|key| urls.get(key).cloned()).collect())
    }

    /// Returns the completed uploads, each once.
    async fn completed_uploads(&self, keys: &[MediaKey]) -> Result<Vec<Arc<Upload>>, MediaError> {
        let distinct: HashSet<&MediaKey> = keys.iter().collect();
        let keys: Vec<MediaKey> = distinct.into_iter().cloned().collect();
        let uploads: Vec<Arc<Upload>> = if let Some(memory) = self.context.exact_memory().await {
            memory.uploads(&self.context, &keys).await?.into_values().collect()
        } else {
            let read = read_uploads(&self.context, &keys).await?.into_iter();
            read.flatten().map(Arc::new).collect()
        };
        let is_complete = |upload: &Arc<Upload>| upload.state == UploadState::Complete;
        Ok(uploads.into_iter().filter(is_complete).collect())
    }

    /// Returns a signed URL, which is used again for half of its life.
    async fn sign_url(&self, upload: &Upload) -> Result<Option<(MediaKey, MediaUrl)>, MediaError> {
        let Upload { key, copy: Some(copy), content_type, .. } = upload else { return Ok(None) };
        let valid_for = Duration::from_secs(self.context.settings().media.download_seconds);
        let now = self.context.now();
        if let Some(signed) = self.signed_urls.get(key, copy, now.plus_ms(ms(valid_for) / 2)) {
            return Ok(Some((key.clone(), signed)));
        }
        let url = self.store.download_url(key, copy, content_type, valid_for).await?;
        let signed = MediaUrl { url: url.into(), expires_at: now.plus_ms(ms(valid_for)) };
        self.signed_urls.put(key, copy, &signed);
        Ok(Some((key.clone(), signed)))
    }
}

/// Reads uploads in the order of their keys.
pub(crate) async fn read_uploads(
    context: &Context,
    keys: &[MediaKey],
) -> roundtable_model::Result<Vec<Option<Upload>>> {
    // A key that names no owner is none of ours.
    let owners: Vec<Option<UserId>> = keys.iter().map(owner_of).collect();
    let owned = owners.iter().zip(keys);
    let at = owned.filter_map(|(owner, key)| Some(Upload::at(owner.as_ref()?, key)));
    let mut found = context.items_at("upload", at).await?.into_iter();
    Ok(owners.iter().map(|owner| owner.as_ref().and_then(|_| found.next().flatten())).collect())
}
