//! The interface to the store that holds media bytes.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_model::{MediaKey, Time};

use super::MediaError;

/// A store of media files. Clients upload by a signed URL, as often as they like until it expires;
/// what is inspected and shown are copies, which cannot change.
#[async_trait]
pub trait MediaStore: Send + Sync + fmt::Debug + 'static {
    /// Signs an upload of exactly the declared file; [`MediaStoreError::Full`] if there is no space.
    async fn upload_url(
        &self,
        key: &MediaKey,
        declared: DeclaredFile<'_>,
        valid_for: Duration,
    ) -> Result<SignedUpload, MediaStoreError>;

    /// Copies the upload under the name `copy` and returns its length; `None` when nothing was
    /// uploaded. An upload of another length is not copied, because it may be very large.
    async fn copy_upload(
        &self,
        key: &MediaKey,
        copy: &str,
        bytes: u64,
    ) -> Result<Option<u64>, MediaStoreError>;

    /// Reads a range of a copy; shorter where the copy ends.
    async fn read(
        &self,
        key: &MediaKey,
        copy: &str,
        range: Range<u64>,
    ) -> Result<Vec<u8>, MediaStoreError>;

    /// Signs a download of a copy, served with this content type.
    async fn download_url(
        &self,
        key: &MediaKey,
        copy: &str,
        content_type: &str,
        valid_for: Duration,
    ) -> Result<String, MediaStoreError>;

    /// Deletes a copy, whether it exists or not.
    async fn remove_copy(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError>;

    /// Deletes everything of a file except this copy: the upload, aborted uploads, and other
    /// copies.
    async fn remove_others(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError>;

    /// Deletes everything of a file, if there is anything: the upload, aborted uploads, and all
    /// copies.
    async fn remove(&self, key: &MediaKey) -> Result<(), MediaStoreError>;

    /// Deletes the uploads, whole or aborted, that arrived before a time by the store's clock; returns
    /// their number. Copies stay.
    async fn sweep_uploads(&self, before: Time) -> Result<usize, MediaStoreError>;

    /// Does once what services do all the time, with a small file under this name, which no other
    /// process uses: lists, writes, copies, reads and deletes it. A full volume is no problem.
    async fn probe(&self, name: &str) -> Result<(), MediaStoreProblem>;
}

/// The reason that a store cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{problem} ({detail})")]
pub struct MediaStoreProblem {
    /// The problem and its remedy, for operators. Holds no secrets.
    pub problem: String,
    /// For the log.
    pub detail: String,
}

#[derive(Clone, Copy, Debug)]
pub struct DeclaredFile<'a> {
    pub content_type: &'a str,
    pub bytes: u64,
}

#[derive(Clone)]
pub struct SignedUpload {
    pub url: String,
    pub method: &'static str,
    /// Covered by the signature.
    pub headers: BTreeMap<String, String>,
}

/// An error of the store.
#[derive(Clone, Debug, thiserror::Error)]
pub enum MediaStoreError {
    /// The volume of the files has less free space than it should keep.
    #[error("there is no space for files: free some, or enlarge the volume")]
    Full,
    /// For the log only.
    #[error("media store: {0}")]
    Failed(String),
}

impl From<MediaStoreError> for MediaError {
    fn from(error: MediaStoreError) -> Self {
        match error {
            MediaStoreError::Full => Self::StorageFull,
            MediaStoreError::Failed(_) => {
                tracing::error!(%error, "media store request failed");
                Self::StoreUnavailable
            }
        }
    }
}

/// Omits the URL, which is a capability.
impl fmt::Debug for SignedUpload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedUpload").field("method", &self.method).finish_non_exhaustive()
    }
}
