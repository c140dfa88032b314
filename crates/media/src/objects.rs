//! Paths and operations in an object store, the same for directories and buckets.

use std::error::Error as StdError;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use object_store::path::{Error as InvalidPath, Path};
use object_store::{Error, ObjectStore, ObjectStoreExt};
use roundtable_domain::MediaStoreError;
use roundtable_model::{MediaKey, Time};

/// The prefix of uploads, until they are removed.
const UPLOADS: &str = "incoming";
/// The prefix of copies.
const COPIES: &str = "kept";
/// The directory of probes in both; keys of files begin with `u/`.
const PROBES: &str = "probes";
/// Bytes that are read at once for a download.
pub(crate) const CHUNK_BYTES: usize = 16 << 10;

#[derive(Clone, Debug)]
pub(crate) struct MediaObjects(Arc<dyn ObjectStore>);

impl MediaObjects {
    pub(crate) fn new(store: Arc<dyn ObjectStore>) -> Self {
        Self(store)
    }

    pub(crate) fn store(&self) -> &dyn ObjectStore {
        &*self.0
    }

    /// Copies an upload if it has the expected length; returns its length.
    pub(crate) async fn copy_upload(
        &self,
        key: &MediaKey,
        copy: &str,
        bytes: u64,
    ) -> Result<Option<u64>, MediaStoreError> {
        let (upload, copy) = (upload_path(key)?, copy_path(key, copy)?);
        let result = async {
            let length = self.0.head(&upload).await?.size;
            if length != bytes {
                return Ok(length);
            }
            self.0.copy(&upload, &copy).await?;
            // Another upload may have replaced it in between: the copy counts.
            Ok(self.0.head(&copy).await?.size)
        };
        match result.await {
            Ok(length) => Ok(Some(length)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    pub(crate) async fn read(
        &self,
        key: &MediaKey,
        copy: &str,
        range: Range<u64>,
    ) -> Result<Vec<u8>, MediaStoreError> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let bytes = self.0.get_range(&copy_path(key, copy)?, range).await.map_err(failed)?;
        Ok(bytes.into())
    }

    /// Reads an object in chunks. The file of one is open only while it is read: a client that takes nothing
    /// more keeps none.
    pub(crate) fn chunks(
        self,
        at: Path,
        range: Range<u64>,
    ) -> impl Stream<Item = Result<Bytes, MediaStoreError>> + Send {
        let chunks = stream::iter(range.clone().step_by(CHUNK_BYTES));
        chunks.then(move |start| {
            let (store, at) = (Arc::clone(&self.0), at.clone());
            let chunk = start..range.end.min(start.saturating_add(CHUNK_BYTES as u64));
            async move { store.get_range(&at, chunk).await.map_err(failed) }
        })
    }

    pub(crate) async fn remove_copy(
        &self,
        key: &MediaKey,
        copy: &str,
    ) -> Result<(), MediaStoreError> {
        self.delete(&copy_path(key, copy)?).await
    }

    /// Deletes the upload and all copies but one. The upload goes first, so that it cannot be copied
    /// again.
    pub(crate) async fn clear(
        &self,
        key: &MediaKey,
        except: Option<&str>,
    ) -> Result<(), MediaStoreError> {
        self.delete(&upload_path(key)?).await?;
        let except = except.map(|copy| copy_path(key, copy)).transpose()?;
        let copies: Vec<_> =
            self.0.list(Some(&copies_path(key)?)).try_collect().await.map_err(failed)?;
        for copy in copies.iter().filter(|copy| Some(&copy.location) != except.as_ref()) {
            self.delete(&copy.location).await?;
        }
        Ok(())
    }

    /// Deletes the uploads that arrived before a time; returns their number.
    pub(crate) async fn sweep_uploads(&self, before: Time) -> Result<usize, MediaStoreError> {
        let before = i64::try_from(before.ms()).unwrap_or(i64::MAX);
        let mut uploads = self.0.list(Some(&uploads_path()?));
        let mut swept = 0;
        while let Some(upload) = uploads.try_next().await.map_err(failed)? {
            if upload.last_modified.timestamp_millis() < before {
                self.delete(&upload.location).await?;
                swept += 1;
            }
        }
        Ok(swept)
    }

    async fn delete(&self, at: &Path) -> Result<(), MediaStoreError> {
        match self.0.delete(at).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }
}

pub(crate) fn uploads_path() -> Result<Path, MediaStoreError> {
    parse_path(UPLOADS)
}

pub(crate) fn upload_path(key: &MediaKey) -> Result<Path, MediaStoreError> {
    parse_path(&format!("{UPLOADS}/{key}"))
}

pub(crate) fn copies_path(key: &MediaKey) -> Result<Path, MediaStoreError> {
    parse_path(&format!("{COPIES}/{key}"))
}

pub(crate) fn copy_path(key: &MediaKey, copy: &str) -> Result<Path, MediaStoreError> {
    parse_path(&format!("{COPIES}/{key}/{copy}"))
}

/// Probes are among the uploads, where they are swept if a process dies before it deletes them.
pub(crate) fn probe_path(name: &str) -> Result<Path, InvalidPath> {
    Path::parse(format!("{UPLOADS}/{PROBES}/{name}"))
}

pub(crate) fn probe_copy_path(name: &str) -> Result<Path, InvalidPath> {
    Path::parse(format!("{COPIES}/{PROBES}/{name}"))
}

pub(crate) fn probes_path() -> Result<Path, InvalidPath> {
    Path::parse(format!("{UPLOADS}/{PROBES}"))
}

/// Keys contain no `..`, and this accepts no path with one.
fn parse_path(path: &str) -> Result<Path, MediaStoreError> {
    Path::parse(path).map_err(failed)
}

pub(crate) fn failed(error: impl std::fmt::Display) -> MediaStoreError {
    MediaStoreError::Failed(error.to_string())
}

/// Maps the error of a write, which may say that the volume is full.
pub(crate) fn write_failed(error: Error) -> MediaStoreError {
    let is_full = |error: &(dyn StdError + 'static)| {
        error.downcast_ref::<io::Error>().is_some_and(|error| {
            matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
        })
    };
    let mut cause: Option<&(dyn StdError + 'static)> = Some(&error);
    while let Some(error) = cause {
        if is_full(error) {
            return MediaStoreError::Full;
        }
        cause = error.source();
    }
    failed(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot copy data")]
    struct CopyFailure(#[source] io::Error);

    #[test]
    fn a_full_volume_is_told_from_other_failures() {
        let failed = |kind: ErrorKind| {
            let source = Box::new(CopyFailure(io::Error::from(kind)));
            write_failed(Error::Generic { store: "LocalFileSystem", source })
        };
        for full in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded] {
            assert!(matches!(failed(full), MediaStoreError::Full), "{full}");
        }
        let denied = failed(ErrorKind::PermissionDenied);
        assert!(matches!(denied, MediaStoreError::Failed(_)), "{denied}");
    }
}
