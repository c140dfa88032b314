//! Media files in a local directory. The server asks here what a signed URL permits, and passes on the
//! bytes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, pin_mut};
use object_store::local::LocalFileSystem;
use object_store::{ObjectStoreExt, PutPayload};
use roundtable_domain::{
    DeclaredFile, MediaStore, MediaStoreError, MediaStoreProblem, SignedUpload,
};
use roundtable_model::table::Clock;
use roundtable_model::{MediaKey, Time};
use tokio::time::{Instant, timeout};

use crate::MediaConfigError;
use crate::objects::{CHUNK_BYTES, MediaObjects, copy_path, failed, upload_path, write_failed};
use crate::pace::{is_behind, transfer_time};
use crate::partial_files::PartialFiles;
use crate::probe::probe;
use crate::signature::{UrlGrant, UrlSigningKey};
use crate::transfers::{TransferGuard, Transfers, Volume, VolumeSpace};

/// Headers of every response with a file, so that no browser guesses another type or runs it.
pub const SAFE_HEADERS: [(&str, &str); 3] = [
    ("x-content-type-options", "nosniff"),
    ("content-security-policy", "default-src 'none'; sandbox"),
    ("content-disposition", "inline"),
];

#[derive(Clone, Debug)]
pub struct MediaDirectory {
    at: PathBuf,
    objects: MediaObjects,
    partial_files: PartialFiles,
    base: String,
    key: UrlSigningKey,
    clock: Arc<dyn Clock>,
    limits: DirectoryLimits,
    transfers: Transfers,
}

#[derive(Clone, Copy, Debug)]
pub struct DirectoryLimits {
    /// Bytes that stay free on the volume of the directory.
    pub free_bytes_min: u64,
    /// The time that the transfer of one file may take.
    pub transfer_time_max: Duration,
}

/// Permission to upload a file.
#[derive(Clone, Debug)]
pub struct UploadGrant(UrlGrant);

/// An upload under way, until this is dropped.
#[derive(Debug)]
pub struct UploadTransfer {
    grant: UrlGrant,
    guard: TransferGuard,
}

/// Permission to download a file.
#[derive(Clone, Debug)]
pub struct DownloadGrant(UrlGrant);

/// A URL that is not ours, or has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this URL is invalid or has expired; request a new one")]
pub struct InvalidMediaUrl;

/// The reason an upload failed; nothing of it is kept.
#[derive(Clone, Debug, thiserror::Error)]
pub enum UploadError {
    #[error("the content type differs from the announced one")]
    WrongType,
    #[error("the length differs from the announced one")]
    WrongLength,
    #[error("the upload ended early; send the file again")]
    Incomplete,
    #[error("this file is being uploaded already; wait until that has ended")]
    InProgress,
    #[error("this file has been uploaded; complete the upload, or create a new one")]
    AlreadyUploaded,
    #[error("the upload is too slow: it may take {} seconds; use a faster connection", .0.as_secs())]
    TooSlow(Duration),
    #[error(transparent)]
    Failed(#[from] MediaStoreError),
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum DownloadError {
    #[error("there is no such file")]
    NotFound,
    #[error("the range is beyond the end of the file")]
    OutOfRange,
    #[error(transparent)]
    Failed(#[from] MediaStoreError),
}

/// A file to be served with [`SAFE_HEADERS`].
pub struct FileDownload {
    pub content_type: String,
    /// The length of the whole file.
    pub length: u64,
    /// The range that `body` holds.
    pub range: Range<u64>,
    pub body: BoxStream<'static, Result<Bytes, MediaStoreError>>,
}

impl FileDownload {
    /// The longest chunk of a body.
    pub const CHUNK_BYTES: usize = CHUNK_BYTES;
}

impl UploadGrant {
    /// The file that may be uploaded.
    pub const fn key(&self) -> &MediaKey {
        &self.0.key
    }
}

impl MediaDirectory {
    /// Opens or creates the directory. `base` is the URL that the server serves it under, and `secret`
    /// signs URLs.
    pub fn open(
        at: &Path,
        base: &str,
        secret: &[u8; 32],
        clock: Arc<dyn Clock>,
        limits: DirectoryLimits,
    ) -> Result<Self, MediaConfigError> {
        let is_http = base.starts_with("http://") || base.starts_with("https://");
        if !is_http || base.contains(['?', '#']) {
            return Err(MediaConfigError::Address);
        }
        let invalid =
            |error: &dyn std::error::Error| MediaConfigError::Directory(error.to_string());
        std::fs::create_dir_all(at).map_err(|error| invalid(&error))?;
        // A file is complete under its name or absent, also after a power failure.
        let files = LocalFileSystem::new_with_prefix(at).map_err(|error| invalid(&error))?;
        let partial_files = PartialFiles::new(files.clone());
        let files = files.with_fsync(true).with_automatic_cleanup(true);
        let key = UrlSigningKey::new(secret).ok_or(MediaConfigError::Address)?;
        let base = base.trim_end_matches('/').to_owned();
        let objects = MediaObjects::new(Arc::new(files));
        let transfers = Transfers::new(Arc::new(Volume(at.to_owned())), limits.free_bytes_min);
        let at = at.to_owned();
        Ok(Self { at, objects, partial_files, base, key, clock, limits, transfers })
    }

    /// Returns the same directory on a volume with this space.
    #[must_use]
    pub fn with_volume_space(self, space: Arc<dyn VolumeSpace>) -> Self {
        Self { transfers: Transfers::new(space, self.limits.free_bytes_min), ..self }
    }

    /// Returns the free bytes of the volume.
    pub async fn free_bytes(&self) -> Result<u64, MediaStoreError> {
        self.transfers.free_bytes().await
    }

    /// Returns the number of uploads under way.
    pub fn transfer_count(&self) -> usize {
        self.transfers.count()
    }

    /// Checks the URL of an upload: the path after the base, and the query.
    pub fn upload_grant(&self, key: &str, query: &str) -> Result<UploadGrant, InvalidMediaUrl> {
        self.verify("PUT", key, query).map(UploadGrant)
    }

    /// Checks the URL of a download.
    pub fn download_grant(&self, key: &str, query: &str) -> Result<DownloadGrant, InvalidMediaUrl> {
        self.verify("GET", key, query).map(DownloadGrant)
    }

    /// Begins an upload: the only one of its file, which has not arrived yet. While it lasts, no other
    /// one can, so what the caller checks then stays true.
    pub async fn begin(
        &self,
        grant: &UploadGrant,
        content_type: Option<&str>,
    ) -> Result<UploadTransfer, UploadError> {
        let UploadGrant(grant) = grant;
        if content_type != Some(grant.content_type.as_str()) {
            return Err(UploadError::WrongType);
        }
        let guard = self.transfers.start(&grant.key, grant.bytes).await?;
        match self.objects.store().head(&upload_path(&grant.key)?).await {
            Ok(_) => Err(UploadError::AlreadyUploaded),
            Err(object_store::Error::NotFound { .. }) => {
                Ok(UploadTransfer { grant: grant.clone(), guard })
            }
            Err(error) => Err(failed(error).into()),
        }
    }

    /// Stores an upload completely or not at all, within a deadline.
    pub async fn receive<E>(
        &self,
        transfer: UploadTransfer,
        body: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<(), UploadError> {
        let time_max = transfer_time(transfer.grant.bytes, self.limits.transfer_time_max);
        let stored = timeout(time_max, self.store_upload(&transfer, time_max, body)).await;
        stored.unwrap_or(Err(UploadError::TooSlow(time_max)))
    }

    async fn store_upload<E>(
        &self,
        UploadTransfer { grant, guard }: &UploadTransfer,
        time_max: Duration,
        body: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<(), UploadError> {
        let at = upload_path(&grant.key)?;
        // Dropped before completion, it leaves nothing behind.
        let mut upload = self.objects.store().put_multipart(&at).await.map_err(write_failed)?;
        let (mut remaining, started) = (grant.bytes, Instant::now());
        pin_mut!(body);
        while let Some(part) = body.next().await {
            let part = part.map_err(|_| UploadError::Incomplete)?;
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            remaining = remaining.checked_sub(length).ok_or(UploadError::WrongLength)?;
            if is_behind(started.elapsed(), grant.bytes - remaining, grant.bytes, time_max) {
                return Err(UploadError::TooSlow(time_max));
            }
            upload.put_part(PutPayload::from(part)).await.map_err(write_failed)?;
            guard.wrote(length);
        }
        if remaining > 0 {
            return Err(UploadError::WrongLength);
        }
        upload.complete().await.map_err(write_failed)?;
        Ok(())
    }

    /// Finds a file, or a range of it.
    pub async fn fetch(
        &self,
        grant: &DownloadGrant,
        range: Option<Range<u64>>,
    ) -> Result<FileDownload, DownloadError> {
        let DownloadGrant(grant) = grant;
        let at = copy_path(&grant.key, &grant.copy)?;
        let not_found = |error| match error {
            object_store::Error::NotFound { .. } => DownloadError::NotFound,
            error => failed(error).into(),
        };
        let length = self.objects.store().head(&at).await.map_err(not_found)?.size;
        let range = match range {
            None => 0..length,
            Some(range) if range.is_empty() || range.start >= length => {
                return Err(DownloadError::OutOfRange);
            }
            Some(range) => range.start..range.end.min(length),
        };
        let content_type = grant.content_type.clone();
        let body = self.objects.clone().chunks(at, range.clone());
        Ok(FileDownload { content_type, length, range, body: body.boxed() })
    }

    fn verify(
        &self,
        method: &'static str,
        key: &str,
        query: &str,
    ) -> Result<UrlGrant, InvalidMediaUrl> {
        let grant = self.key.read(method, key, query).ok_or(InvalidMediaUrl)?;
        if self.clock.now_seconds() >= grant.expires {
            return Err(InvalidMediaUrl);
        }
        Ok(grant)
    }

    fn url(&self, grant: &UrlGrant) -> String {
        format!("{}/{}?{}", self.base, grant.key, self.key.query(grant))
    }

    /// The second at which a URL expires, at least one from now.
    fn expiry(&self, lasting: Duration) -> u64 {
        self.clock.now_seconds().saturating_add(lasting.as_secs().max(1))
    }
}

#[async_trait]
impl MediaStore for MediaDirectory {
    async fn upload_url(
        &self,
        key: &MediaKey,
        declared: DeclaredFile<'_>,
        lasting: Duration,
    ) -> Result<SignedUpload, MediaStoreError> {
        self.transfers.check_space(declared.bytes).await?;
        let content_type = declared.content_type.to_owned();
        let headers = BTreeMap::from([("content-type".to_owned(), content_type.clone())]);
        let grant = UrlGrant {
            method: "PUT",
            key: key.clone(),
            copy: String::new(),
            content_type,
            bytes: declared.bytes,
            expires: self.expiry(lasting),
        };
        Ok(SignedUpload { url: self.url(&grant), method: grant.method, headers })
    }

    async fn copy_upload(
        &self,
        key: &MediaKey,
        copy: &str,
        bytes: u64,
    ) -> Result<Option<u64>, MediaStoreError> {
        self.objects.copy_upload(key, copy, bytes).await
    }

    async fn read(
        &self,
        key: &MediaKey,
        copy: &str,
        range: Range<u64>,
    ) -> Result<Vec<u8>, MediaStoreError> {
        self.objects.read(key, copy, range).await
    }

    async fn download_url(
        &self,
        key: &MediaKey,
        copy: &str,
        content_type: &str,
        lasting: Duration,
    ) -> Result<String, MediaStoreError> {
        Ok(self.url(&UrlGrant {
            method: "GET",
            key: key.clone(),
            copy: copy.to_owned(),
            content_type: content_type.to_owned(),
            bytes: 0,
            expires: self.expiry(lasting),
        }))
    }

    async fn remove_copy(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.objects.remove_copy(key, copy).await
    }

    async fn remove_others(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.objects.clear(key, Some(copy)).await?;
        self.partial_files.clear(key).await
    }

    async fn remove(&self, key: &MediaKey) -> Result<(), MediaStoreError> {
        self.objects.clear(key, None).await?;
        self.partial_files.clear(key).await
    }

    async fn sweep_uploads(&self, before: Time) -> Result<usize, MediaStoreError> {
        let whole = self.objects.sweep_uploads(before).await?;
        Ok(whole + self.partial_files.sweep(before).await?)
    }

    async fn probe(&self, name: &str) -> Result<(), MediaStoreProblem> {
        let Err((step, error)) = probe(self.objects.store(), name).await else { return Ok(()) };
        match write_failed(error) {
            // Uploads are refused, and everything else works.
            MediaStoreError::Full => Ok(()),
            MediaStoreError::Failed(detail) => Err(MediaStoreProblem {
                problem: format!(
                    "files: the directory {} does not work ({step:?} failed): check that it exists, is one \
                     volume, and that this user may write to it",
                    self.at.display()
                ),
                detail,
            }),
        }
    }
}
