//! A media store without files: administrative commands concern the tables alone.

use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::{DeclaredFile, MediaStore, MediaStoreError, SignedUpload};
use roundtable_model::MediaKey;

#[derive(Debug)]
pub(super) struct DisabledMediaStore;

fn refused<T>() -> Result<T, MediaStoreError> {
    Err(MediaStoreError(String::from("media files are not available to administrative commands")))
}

#[async_trait]
impl MediaStore for DisabledMediaStore {
    async fn upload_url(
        &self,
        _: &MediaKey,
        _: DeclaredFile<'_>,
        _: Duration,
    ) -> Result<SignedUpload, MediaStoreError> {
        refused()
    }

    async fn copy_upload(
        &self,
        _: &MediaKey,
        _: &str,
        _: u64,
    ) -> Result<Option<u64>, MediaStoreError> {
        refused()
    }

    async fn read(&self, _: &MediaKey, _: &str, _: Range<u64>) -> Result<Vec<u8>, MediaStoreError> {
        refused()
    }

    async fn download_url(
        &self,
        _: &MediaKey,
        _: &str,
        _: &str,
        _: Duration,
    ) -> Result<String, MediaStoreError> {
        refused()
    }

    async fn remove_copy(&self, _: &MediaKey, _: &str) -> Result<(), MediaStoreError> {
        refused()
    }

    async fn remove_others(&self, _: &MediaKey, _: &str) -> Result<(), MediaStoreError> {
        refused()
    }

    async fn remove(&self, _: &MediaKey) -> Result<(), MediaStoreError> {
        refused()
    }
}
