//! The files of a town: a shelf in memory, which fails when it is told to, and what people send.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_domain::{
    Declared, MediaFiles, MediaStore, MediaStoreError, NewMedia, NewUpload, SignedUpload,
};
use roundtable_model::entities::{Media, Upload};
use roundtable_model::{Entity, MediaKey, UploadState, samples};
use tokio::task::yield_now;

use crate::Town;

/// Where the copy of what has arrived is that nobody has taken yet.
const INCOMING: &str = "";

/// A store of files in memory.
#[derive(Debug, Default)]
pub struct Shelf {
    files: Mutex<BTreeMap<(MediaKey, String), Vec<u8>>>,
    is_away: AtomicBool,
    is_keeping: AtomicBool,
}

impl Shelf {
    /// Somebody sends a file, whatever was said about it.
    pub fn arrive(&self, key: &MediaKey, bytes: &[u8]) {
        self.files.lock().insert((key.clone(), INCOMING.into()), bytes.to_vec());
    }

    /// From now on, or no longer, it does nothing but fail.
    pub fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    /// From now on, or no longer, it fails to take anything away.
    pub fn set_keeping(&self, is_keeping: bool) {
        self.is_keeping.store(is_keeping, Ordering::SeqCst);
    }

    /// How many things lie there, of all files.
    pub fn count(&self) -> usize {
        self.files.lock().len()
    }

    /// The bytes behind an address it gave out.
    pub fn fetch(&self, url: &str) -> Option<Vec<u8>> {
        let (key, copy) = url.strip_prefix("shelf:")?.split_once('?')?;
        self.files.lock().get(&(key.parse().ok()?, copy.to_owned())).cloned()
    }

    /// Waits, as anything far away does, and then perhaps fails.
    async fn reached(&self) -> Result<(), MediaStoreError> {
        yield_now().await;
        if self.is_away.load(Ordering::SeqCst) {
            return Err(MediaStoreError("it is away".into()));
        }
        Ok(())
    }

    /// The same, when something is to be taken away.
    async fn lets_go(&self) -> Result<(), MediaStoreError> {
        self.reached().await?;
        if self.is_keeping.load(Ordering::SeqCst) {
            return Err(MediaStoreError("it takes nothing away".into()));
        }
        Ok(())
    }
}

#[async_trait]
impl MediaStore for Shelf {
    async fn upload_url(
        &self,
        key: &MediaKey,
        declared: Declared<'_>,
        _lasting: Duration,
    ) -> Result<SignedUpload, MediaStoreError> {
        self.reached().await?;
        let headers = BTreeMap::from([("content-type".into(), declared.content_type.into())]);
        Ok(SignedUpload { url: format!("shelf:{key}"), method: "PUT", headers })
    }

    async fn take(
        &self,
        key: &MediaKey,
        copy: &str,
        bytes: u64,
    ) -> Result<Option<u64>, MediaStoreError> {
        self.reached().await?;
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
        self.reached().await?;
        let files = self.files.lock();
        let bytes = files.get(&(key.clone(), copy.into()));
        let bytes = bytes.ok_or_else(|| MediaStoreError("there is no such copy".into()))?;
        let at = |place: u64| usize::try_from(place).unwrap().min(bytes.len());
        Ok(bytes.get(at(range.start)..at(range.end)).unwrap_or_default().to_vec())
    }

    async fn download_url(
        &self,
        key: &MediaKey,
        copy: &str,
        _content_type: &str,
        _lasting: Duration,
    ) -> Result<String, MediaStoreError> {
        self.reached().await?;
        Ok(format!("shelf:{key}?{copy}"))
    }

    async fn discard(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.lets_go().await?;
        self.files.lock().remove(&(key.clone(), copy.into()));
        Ok(())
    }

    async fn tidy(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.lets_go().await?;
        self.files.lock().retain(|(other, name), _| other != key || name == copy);
        Ok(())
    }

    async fn remove(&self, key: &MediaKey) -> Result<(), MediaStoreError> {
        self.lets_go().await?;
        self.files.lock().retain(|(other, _), _| other != key);
        Ok(())
    }
}

impl Town {
    /// The files of this town.
    pub fn media(&self) -> MediaFiles {
        MediaFiles::new(self.ground().clone(), self.shelf().clone())
    }

    /// A picture of three by two pixels.
    pub fn picture() -> Vec<u8> {
        // A header, and nothing behind it: nobody looks further.
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0".to_vec();
        bytes.extend([0; 16]);
        bytes
    }

    /// Somebody announces a picture, and sends it.
    pub async fn send_picture(&self, name: &str) -> MediaKey {
        let picture = Self::picture();
        let bytes = picture.len() as u64;
        let input = NewUpload { content_type: "image/png".into(), bytes, purpose: None };
        let ticket = self.media().create_upload(&self.caller(name), &input, None).await.unwrap();
        self.shelf().arrive(&ticket.key, &picture);
        ticket.key
    }

    /// Somebody sends a picture, and it is taken.
    pub async fn upload(&self, name: &str) -> Media {
        let key = self.send_picture(name).await;
        self.media().complete_upload(&self.caller(name), &key, None).await.unwrap()
    }

    /// A file that has arrived and waits, as a post can name it, whatever it is called.
    pub async fn arrived(&self, name: &str, media: NewMedia) -> NewMedia {
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
        self.ground().core().table().put(upload.create()).await.unwrap();
        media
    }

    /// A file that was taken, as a post names it.
    pub fn named(media: &Media) -> NewMedia {
        NewMedia {
            s3_key: media.s3_key.clone(),
            content_type: media.content_type.clone(),
            width: media.width,
            height: media.height,
        }
    }
}
