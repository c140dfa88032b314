//! Where a file can be fetched, for whoever may see it now.

use std::fmt;
use std::time::Duration;

use roundtable_model::entities::Upload;
use roundtable_model::{MediaKey, Time, UploadState};

use super::{MediaError, MediaFiles, ms, owner};
use crate::posts::visible;
use crate::{Caller, Failure};

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

impl MediaFiles {
    /// Where a file can be fetched: its owner's, and that of whoever may see the post it belongs to, as
    /// that is now. To all others it is not there.
    pub async fn url(
        &self,
        viewer: Option<&Caller>,
        key: &MediaKey,
    ) -> Result<MediaUrl, MediaError> {
        let owner = owner(key).ok_or(MediaError::NoSuchMedia)?;
        let upload = self.upload(&owner, key).await?;
        let upload = upload.filter(|upload| upload.state == UploadState::Complete);
        let upload = upload.ok_or(MediaError::NoSuchMedia)?;
        let Some(copy) = &upload.copy else { return Err(MediaError::NoSuchMedia) };
        if !self.sees(viewer, &upload).await? {
            return Err(MediaError::NoSuchMedia);
        }
        let lasting = Duration::from_secs(self.ground.settings().media.download_seconds);
        let expires_at = self.ground.now().plus_ms(ms(lasting));
        let content_type = &upload.content_type;
        let url = self.store.download_url(key, copy, content_type, lasting).await?;
        Ok(MediaUrl { url, expires_at })
    }

    async fn sees(&self, viewer: Option<&Caller>, upload: &Upload) -> Result<bool, Failure> {
        if let Some(post) = &upload.post_id {
            let post = visible(&self.ground, viewer, post).await?;
            return Ok(post.is_some_and(|post| {
                post.author_id == upload.user_id
                    && post.media.iter().any(|media| media.s3_key == upload.key)
            }));
        }
        let Some(viewer) = viewer.filter(|viewer| viewer.user_id == upload.user_id) else {
            return Ok(false);
        };
        let sight = self.ground.sight(Some(viewer), [&upload.user_id], []).await?;
        Ok(sight.person(&upload.user_id).is_some())
    }
}
