//! Where each thing is in a store of objects, and what is done with it there, whichever store it is.

use std::ops::Range;
use std::sync::Arc;

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use roundtable_domain::MediaStoreError;
use roundtable_model::MediaKey;

/// What people send is here, until it is removed.
const INCOMING: &str = "incoming";
/// What was taken from there.
const KEPT: &str = "kept";

/// Files in a store of objects.
#[derive(Clone, Debug)]
pub(crate) struct Objects(Arc<dyn ObjectStore>);

impl Objects {
    pub(crate) fn new(store: Arc<dyn ObjectStore>) -> Self {
        Self(store)
    }

    pub(crate) fn store(&self) -> &dyn ObjectStore {
        &*self.0
    }

    /// Copies what has arrived, if it is as long as it should be; answers with its length.
    pub(crate) async fn take(
        &self,
        key: &MediaKey,
        copy: &str,
        bytes: u64,
    ) -> Result<Option<u64>, MediaStoreError> {
        let (sent, kept) = (incoming(key)?, kept(key, copy)?);
        let taken = async {
            let length = self.0.head(&sent).await?.size;
            if length != bytes {
                return Ok(length);
            }
            self.0.copy(&sent, &kept).await?;
            // Something else may have been sent in between: what counts is the copy.
            Ok(self.0.head(&kept).await?.size)
        };
        match taken.await {
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
        let bytes = self.0.get_range(&kept(key, copy)?, range).await.map_err(failed)?;
        Ok(bytes.into())
    }

    pub(crate) async fn discard(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.delete(&kept(key, copy)?).await
    }

    /// Takes everything of a file away, but this copy. What was sent goes first, so that it cannot be
    /// copied again.
    pub(crate) async fn clear(
        &self,
        key: &MediaKey,
        but: Option<&str>,
    ) -> Result<(), MediaStoreError> {
        self.delete(&incoming(key)?).await?;
        let but = but.map(|copy| kept(key, copy)).transpose()?;
        let copies: Vec<_> =
            self.0.list(Some(&copies(key)?)).try_collect().await.map_err(failed)?;
        for copy in copies.iter().filter(|copy| Some(&copy.location) != but.as_ref()) {
            self.delete(&copy.location).await?;
        }
        Ok(())
    }

    async fn delete(&self, at: &Path) -> Result<(), MediaStoreError> {
        match self.0.delete(at).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }
}

/// Where what is sent goes.
pub(crate) fn incoming(key: &MediaKey) -> Result<Path, MediaStoreError> {
    place(&format!("{INCOMING}/{key}"))
}

/// Where the copies of a file are.
pub(crate) fn copies(key: &MediaKey) -> Result<Path, MediaStoreError> {
    place(&format!("{KEPT}/{key}"))
}

/// Where a copy is.
pub(crate) fn kept(key: &MediaKey, copy: &str) -> Result<Path, MediaStoreError> {
    place(&format!("{KEPT}/{key}/{copy}"))
}

/// Keys have no way up in them, and neither has a path that this accepts.
fn place(path: &str) -> Result<Path, MediaStoreError> {
    Path::parse(path).map_err(failed)
}

pub(crate) fn failed(error: impl std::fmt::Display) -> MediaStoreError {
    MediaStoreError(error.to_string())
}
