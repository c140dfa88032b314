//! Transfers under way to a directory: one for each file, and together within the space of the volume.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use roundtable_domain::MediaStoreError;
use roundtable_model::MediaKey;

use crate::directory::UploadError;
use crate::objects::failed;

/// The free space of a volume.
pub trait VolumeSpace: fmt::Debug + Send + Sync + 'static {
    /// Returns the bytes that this user may still write. Blocks.
    fn free_bytes(&self) -> io::Result<u64>;
}

/// The volume that a path is on.
#[derive(Debug)]
pub(crate) struct Volume(pub(crate) PathBuf);

impl VolumeSpace for Volume {
    fn free_bytes(&self) -> io::Result<u64> {
        let stats = rustix::fs::statvfs(&self.0)?;
        Ok(stats.f_bavail.saturating_mul(stats.f_frsize))
    }
}

/// Admits transfers.
#[derive(Clone, Debug)]
pub(crate) struct Transfers {
    space: Arc<dyn VolumeSpace>,
    /// Bytes that stay free on the volume.
    free_bytes_min: u64,
    /// The bytes that each transfer still has to write.
    remaining: Arc<Mutex<HashMap<MediaKey, u64>>>,
}

/// A transfer under way, until this is dropped.
#[derive(Debug)]
pub(crate) struct TransferGuard {
    key: MediaKey,
    remaining: Arc<Mutex<HashMap<MediaKey, u64>>>,
}

impl Transfers {
    pub(crate) fn new(space: Arc<dyn VolumeSpace>, free_bytes_min: u64) -> Self {
        Self { space, free_bytes_min, remaining: Arc::default() }
    }

    /// Starts a transfer, unless one of the same file is under way or there is no space for it.
    pub(crate) async fn start(
        &self,
        key: &MediaKey,
        bytes: u64,
    ) -> Result<TransferGuard, UploadError> {
        let free = self.free_bytes().await?;
        let mut remaining = self.remaining.lock();
        let needed = self.needed(&remaining, bytes);
        match remaining.entry(key.clone()) {
            Entry::Occupied(_) => Err(UploadError::InProgress),
            Entry::Vacant(_) if free < needed => Err(MediaStoreError::Full.into()),
            Entry::Vacant(entry) => {
                entry.insert(bytes);
                Ok(TransferGuard { key: key.clone(), remaining: Arc::clone(&self.remaining) })
            }
        }
    }

    /// Fails if there is no space for a file of this length beside those under way.
    pub(crate) async fn check_space(&self, bytes: u64) -> Result<(), MediaStoreError> {
        let free = self.free_bytes().await?;
        if free < self.needed(&self.remaining.lock(), bytes) {
            return Err(MediaStoreError::Full);
        }
        Ok(())
    }

    pub(crate) async fn free_bytes(&self) -> Result<u64, MediaStoreError> {
        let space = Arc::clone(&self.space);
        let free = tokio::task::spawn_blocking(move || space.free_bytes()).await;
        free.map_err(failed)?.map_err(failed)
    }

    pub(crate) fn count(&self) -> usize {
        self.remaining.lock().len()
    }

    fn needed(&self, remaining: &HashMap<MediaKey, u64>, bytes: u64) -> u64 {
        let promised = remaining.values().fold(bytes, |sum, bytes| sum.saturating_add(*bytes));
        self.free_bytes_min.saturating_add(promised)
    }
}

impl TransferGuard {
    /// Notes that bytes were written: the volume counts them from now on.
    pub(crate) fn wrote(&self, bytes: u64) {
        if let Some(remaining) = self.remaining.lock().get_mut(&self.key) {
            *remaining = remaining.saturating_sub(bytes);
        }
    }
}

impl Drop for TransferGuard {
    fn drop(&mut self) {
        self.remaining.lock().remove(&self.key);
    }
}
