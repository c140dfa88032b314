//! A media store without files: administrative commands concern the tables alone.

use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::{
    DeclaredFile, MediaStore, MediaStoreError, MediaStoreProblem, SignedUpload,
};
use roundtable_model::{MediaKey, Time};

#[derive(Debug)]
pub(super) struct DisabledMediaStore;

fn refused<T>() -> Result<T, MediaStoreError> {
    let problem = "media files are not available to administrative commands";
    Err(MediaStoreError::Failed(problem.into()))
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

    async fn sweep_uploads(&self, _: Time) -> Result<usize, MediaStoreError> {
        refused()
    }

    async fn probe(&self, _: &str) -> Result<(), MediaStoreProblem> {
        Ok(())
    }
}
