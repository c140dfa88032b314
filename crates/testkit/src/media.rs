//! The media files of a town: a store in memory that can be made to fail, and uploads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_domain::{
    DeclaredFile, MediaFiles, MediaStore, MediaStoreError, MediaStoreProblem, NewMedia, NewUpload,
    SignedUpload,
};
use roundtable_model::entities::{Media, Upload};
use roundtable_model::{Entity, MediaKey, Time, UploadState, samples};
use tokio::task::yield_now;

use crate::Town;

/// The name of an uploaded copy before it is accepted.
const INCOMING: &str = "";

/// A media store in memory.
#[derive(Debug, Default)]
pub struct MemoryMediaStore {
    files: Mutex<BTreeMap<(MediaKey, String), Vec<u8>>>,
    is_unavailable: AtomicBool,
    is_undeletable: AtomicBool,
}

impl MemoryMediaStore {
    /// Stores an uploaded file, even if it differs from the declared one.
    pub fn put_incoming(&self, key: &MediaKey, bytes: &[u8]) {
        self.files.lock().insert((key.clone(), INCOMING.into()), bytes.to_vec());
    }

    /// Makes every operation fail.
    pub fn set_unavailable(&self, is_unavailable: bool) {
        self.is_unavailable.store(is_unavailable, Ordering::SeqCst);
    }

    /// Makes every deletion fail.
    pub fn set_undeletable(&self, is_undeletable: bool) {
        self.is_undeletable.store(is_undeletable, Ordering::SeqCst);
    }

    /// The number of stored copies, of all files.
    pub fn count(&self) -> usize {
        self.files.lock().len()
    }

    /// Returns the bytes behind a download URL.
    pub fn fetch(&self, url: &str) -> Option<Vec<u8>> {
        let (key, copy) = url.strip_prefix("memory:")?.split_once('?')?;
        self.files.lock().get(&(key.parse().ok()?, copy.to_owned())).cloned()
    }

    /// Yields like a remote store, then fails if unavailable.
    async fn check_available(&self) -> Result<(), MediaStoreError> {
        yield_now().await;
        if self.is_unavailable.load(Ordering::SeqCst) {
            return Err(MediaStoreError::Failed("it is away".into()));
        }
        Ok(())
    }

    /// Like `reached`, and fails if deletions must fail.
    async fn check_deletable(&self) -> Result<(), MediaStoreError> {
        self.check_available().await?;
        if self.is_undeletable.load(Ordering::SeqCst) {
            return Err(MediaStoreError::Failed("it takes nothing away".into()));
        }
        Ok(())
    }
}

#[async_trait]
impl MediaStore for MemoryMediaStore {
    async fn upload_url(
        &self,
        key: &MediaKey,
        declared: DeclaredFile<'_>,
        _lasting: Duration,
    ) -> Result<SignedUpload, MediaStoreError> {
        self.check_available().await?;
        let headers = BTreeMap::from([("content-type".into(), declared.content_type.into())]);
        Ok(SignedUpload { url: format!("memory:{key}"), method: "PUT", headers })
    }

    async fn copy_upload(
        &self,
        key: &MediaKey,
        copy: &str,
        bytes: u64,
    ) -> Result<Option<u64>, MediaStoreError> {
        self.check_available().await?;
        let mut files = self.files.lock();
        let Some(sent) = files.get(&(key.clone(), INCOMING.into())).cloned() else {
            return Ok(None);
        };
        let length = sent.len() as u64;
        if length == bytes {
            files.insert((key.clone(), copy.into()), sent);
        }
        Ok(Some(length))
    }

    async fn read(
        &self,
        key: &MediaKey,
        copy: &str,
        range: Range<u64>,
    ) -> Result<Vec<u8>, MediaStoreError> {
        self.check_available().await?;
        let files = self.files.lock();
        let bytes = files.get(&(key.clone(), copy.into()));
        let bytes = bytes.ok_or_else(|| MediaStoreError::Failed("there is no such copy".into()))?;
        let at = |position: u64| usize::try_from(position).unwrap().min(bytes.len());
        Ok(bytes.get(at(range.start)..at(range.end)).unwrap_or_default().to_vec())
    }

    async fn download_url(
        &self,
        key: &MediaKey,
        copy: &str,
        _content_type: &str,
        _lasting: Duration,
    ) -> Result<String, MediaStoreError> {
        self.check_available().await?;
        Ok(format!("memory:{key}?{copy}"))
    }

    async fn remove_copy(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.check_deletable().await?;
        self.files.lock().remove(&(key.clone(), copy.into()));
        Ok(())
    }

    async fn remove_others(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.check_deletable().await?;
        self.files.lock().retain(|(other, name), _| other != key || name == copy);
        Ok(())
    }

    async fn remove(&self, key: &MediaKey) -> Result<(), MediaStoreError> {
        self.check_deletable().await?;
        self.files.lock().retain(|(other, _), _| other != key);
        Ok(())
    }

    /// This store has no clock: all that was uploaded is old.
    async fn sweep_uploads(&self, _before: Time) -> Result<usize, MediaStoreError> {
        self.check_deletable().await?;
        let mut files = self.files.lock();
        let before = files.len();
        files.retain(|(_, name), _| name != INCOMING);
        Ok(before - files.len())
    }

    async fn probe(&self, _name: &str) -> Result<(), MediaStoreProblem> {
        self.check_deletable().await.map_err(|error| MediaStoreProblem {
            problem: "the files of the town are away".into(),
            detail: error.to_string(),
        })
    }
}

impl Town {
    pub fn media(&self) -> MediaFiles {
        MediaFiles::new(self.context().clone(), self.media_store().clone())
    }

    /// A picture of three by two pixels.
    pub fn picture() -> Vec<u8> {
        // Only the header is read, so nothing follows it.
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0".to_vec();
        bytes.extend([0; 16]);
        bytes
    }

    /// Declares a picture and uploads its bytes, without completing the upload.
    pub async fn send_picture(&self, name: &str) -> MediaKey {
        let picture = Self::picture();
        let bytes = picture.len() as u64;
        let input = NewUpload { content_type: "image/png".into(), bytes, purpose: None };
        let ticket = self.media().create_upload(&self.caller(name), &input, None).await.unwrap();
        self.media_store().put_incoming(&ticket.key, &picture);
        ticket.key
    }

    /// Uploads a picture and completes the upload.
    pub async fn upload(&self, name: &str) -> Media {
        let key = self.send_picture(name).await;
        self.media().complete_upload(&self.caller(name), &key, None).await.unwrap()
    }

    /// Writes a completed upload directly, with any key.
    pub async fn add_upload(&self, name: &str, media: NewMedia) -> NewMedia {
        let upload = Upload {
            user_id: self.id(name),
            key: media.s3_key.clone(),
            content_type: media.content_type.clone(),
            width: media.width,
            height: media.height,
            state: UploadState::Complete,
            purpose: None,
            holder: None,
            created_at: self.now(),
            ..samples::upload()
        };
        self.context().core().table().put(upload.create()).await.unwrap();
        media
    }

    pub fn as_new_media(media: &Media) -> NewMedia {
        NewMedia {
            s3_key: media.s3_key.clone(),
            content_type: media.content_type.clone(),
            width: media.width,
            height: media.height,
        }
    }
}
