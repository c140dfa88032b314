//! Where bytes are: what the services ask of a store of files, whichever it is.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_model::MediaKey;

use super::MediaError;

/// A store of files. A file is sent to it by a signed address, as often as its sender likes until that
/// expires; what is looked at and shown are copies, which nobody can change.
#[async_trait]
pub trait MediaStore: Send + Sync + fmt::Debug + 'static {
    /// Where, and how, exactly this can be sent to for so long.
    async fn upload_url(
        &self,
        key: &MediaKey,
        declared: Declared<'_>,
        lasting: Duration,
    ) -> Result<SignedUpload, MediaStoreError>;

    /// Makes a copy, under this name, of what has arrived; answers with its length, `None` when nothing
    /// has. What is not as long as it should be is not copied: it may be very long.
    async fn take(
        &self,
        key: &MediaKey,
        copy: &str,
        bytes: u64,
    ) -> Result<Option<u64>, MediaStoreError>;

    /// Some bytes of a copy; fewer where it is shorter.
    async fn read(
        &self,
        key: &MediaKey,
        copy: &str,
        range: Range<u64>,
    ) -> Result<Vec<u8>, MediaStoreError>;

    /// Where a copy can be fetched for so long, served as what it is.
    async fn download_url(
        &self,
        key: &MediaKey,
        copy: &str,
        content_type: &str,
        lasting: Duration,
    ) -> Result<String, MediaStoreError>;

    /// Takes a copy away, whether it is there or not.
    async fn discard(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError>;

    /// Takes everything of a file away but this copy: what has arrived, what broke off on its way, and
    /// the other copies.
    async fn tidy(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError>;

    /// Takes everything of a file away: what has arrived, what broke off on its way, and every copy.
    /// There may be nothing.
    async fn remove(&self, key: &MediaKey) -> Result<(), MediaStoreError>;
}

/// What a file is said to be.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'a> {
    /// As a MIME type.
    pub content_type: &'a str,
    /// How long.
    pub bytes: u64,
}

/// A signed address to send something to.
#[derive(Clone)]
pub struct SignedUpload {
    /// Where to.
    pub url: String,
    /// With which method.
    pub method: &'static str,
    /// With these headers, which the signature covers.
    pub headers: BTreeMap<String, String>,
}

/// Why a store did not do something. For the log only.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the store of files: {0}")]
pub struct MediaStoreError(pub String);

impl From<MediaStoreError> for MediaError {
    fn from(error: MediaStoreError) -> Self {
        tracing::error!(%error, "cannot reach files");
        Self::StoreAway
    }
}

/// Not the address: it opens a door.
impl fmt::Debug for SignedUpload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedUpload").field("method", &self.method).finish_non_exhaustive()
    }
}
