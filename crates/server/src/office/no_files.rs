//! A store of files that has none: orders are about what is in the tables.

use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::{Declared, MediaStore, MediaStoreError, SignedUpload};
use roundtable_model::MediaKey;

/// Refuses everything.
#[derive(Debug)]
pub(super) struct NoFiles;

fn refused<T>() -> Result<T, MediaStoreError> {
    Err(MediaStoreError(String::from("files are not reached from the command line")))
}

#[async_trait]
impl MediaStore for NoFiles {
    async fn upload_url(
        &self,
        _: &MediaKey,
        _: Declared<'_>,
        _: Duration,
    ) -> Result<SignedUpload, MediaStoreError> {
        refused()
    }

    async fn take(&self, _: &MediaKey, _: &str, _: u64) -> Result<Option<u64>, MediaStoreError> {
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

    async fn discard(&self, _: &MediaKey, _: &str) -> Result<(), MediaStoreError> {
        refused()
    }

    async fn tidy(&self, _: &MediaKey, _: &str) -> Result<(), MediaStoreError> {
        refused()
    }

    async fn remove(&self, _: &MediaKey) -> Result<(), MediaStoreError> {
        refused()
    }
}
