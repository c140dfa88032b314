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

    /// Copies what has arrived; answers with the length of the copy.
    pub(crate) async fn take(
        &self,
        key: &MediaKey,
        copy: &str,
    ) -> Result<Option<u64>, MediaStoreError> {
        let kept = kept(key, copy)?;
        match self.0.copy(&incoming(key)?, &kept).await {
            Ok(()) => Ok(Some(self.0.head(&kept).await.map_err(failed)?.size)),
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

    /// Takes everything of a file away. What was sent goes first, so that it cannot be copied again.
    pub(crate) async fn remove(&self, key: &MediaKey) -> Result<(), MediaStoreError> {
        self.delete(&incoming(key)?).await?;
        let copies = place(&format!("{KEPT}/{key}"))?;
        let copies: Vec<_> = self.0.list(Some(&copies)).try_collect().await.map_err(failed)?;
        for copy in copies {
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
