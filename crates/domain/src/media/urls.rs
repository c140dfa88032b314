//! Where a file can be fetched, for whoever may see it now.

use std::fmt;
use std::time::Duration;

use futures::future::try_join_all;
use hashbrown::{HashMap, HashSet};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Upload;
use roundtable_model::{MediaKey, Time, UploadState};

use super::holders::Holders;
use super::{MediaError, MediaFiles, ms, owner};
use crate::Caller;

/// An address that serves a file for a while.
#[derive(Clone, PartialEq, Eq)]
pub struct MediaUrl {
    /// The address: whoever knows it can fetch the file.
    pub url: String,
    /// Until then.
    pub expires_at: Time,
}

/// Not the address: it opens a door.
impl fmt::Debug for MediaUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MediaUrl").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

#[boxed]
impl MediaFiles {
    /// Where a file can be fetched: its owner's, and that of whoever may see the post, activity or
    /// profile it belongs to, as that is now. To all others it is not there.
    pub async fn url(
        &self,
        viewer: Option<&Caller>,
        key: &MediaKey,
    ) -> Result<MediaUrl, MediaError> {
        let urls = self.urls(viewer, std::slice::from_ref(key)).await?;
        urls.into_iter().flatten().next().ok_or(MediaError::NoSuchMedia)
    }

    /// The same of several files, each in its place: `None` where there is none for the viewer. They
    /// are read together, so that a page of posts or people costs a few reads and not one for each.
    pub async fn urls(
        &self,
        viewer: Option<&Caller>,
        keys: &[MediaKey],
    ) -> Result<Vec<Option<MediaUrl>>, MediaError> {
        let uploads = self.arrived(keys).await?;
        let holders = Holders::of(&self.ground, viewer, &uploads).await?;
        let shown = uploads.into_iter().filter(|upload| holders.show(upload));
        let urls = try_join_all(shown.map(|upload| self.signed(upload))).await?;
        let urls: HashMap<MediaKey, MediaUrl> = urls.into_iter().flatten().collect();
        Ok(keys.iter().map(|key| urls.get(key).cloned()).collect())
    }

    /// Those of the files that are there and whole, each once.
    async fn arrived(&self, keys: &[MediaKey]) -> Result<Vec<Upload>, MediaError> {
        let distinct: HashSet<&MediaKey> = keys.iter().collect();
        let places = distinct.into_iter().filter_map(|key| Some(Upload::at(&owner(key)?, key)));
        let found = self.ground.at("upload", places).await?.into_iter().flatten();
        Ok(found.filter(|upload| upload.state == UploadState::Complete).collect())
    }

    async fn signed(&self, upload: Upload) -> Result<Option<(MediaKey, MediaUrl)>, MediaError> {
        let Upload { key, copy: Some(copy), content_type, .. } = upload else { return Ok(None) };
        let lasting = Duration::from_secs(self.ground.settings().media.download_seconds);
        let expires_at = self.ground.now().plus_ms(ms(lasting));
        let url = self.store.download_url(&key, &copy, &content_type, lasting).await?;
        Ok(Some((key, MediaUrl { url, expires_at })))
    }
}
