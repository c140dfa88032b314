//! Removes partial files that a killed process left in a directory. The store writes to a temporary
//! name first, and neither lists nor deletes such files.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use object_store::local::LocalFileSystem;
use roundtable_domain::MediaStoreError;
use roundtable_model::{MediaKey, Time};

use crate::objects::{copies_path, failed, upload_path, uploads_path};

/// Separates a file's name from the suffix of its partial files; never part of a key.
const SUFFIX_MARK: char = '#';

#[derive(Clone, Debug)]
pub(crate) struct PartialFiles(LocalFileSystem);

impl PartialFiles {
    pub(crate) fn new(files: LocalFileSystem) -> Self {
        Self(files)
    }

    /// Removes the partial files of a key that is no longer uploaded or copied.
    pub(crate) async fn clear(&self, key: &MediaKey) -> Result<(), MediaStoreError> {
        let upload = self.0.path_to_filesystem(&upload_path(key)?).map_err(failed)?;
        let copies = self.0.path_to_filesystem(&copies_path(key)?).map_err(failed)?;
        let clear = move || {
            if let (Some(at), Some(name)) = (upload.parent(), upload.file_name()) {
                let name = format!("{}{SUFFIX_MARK}", name.to_string_lossy());
                clear(at, |other| other.starts_with(&name))?;
            }
            clear(&copies, |other| other.contains(SUFFIX_MARK))
        };
        tokio::task::spawn_blocking(clear).await.map_err(failed)?.map_err(failed)
    }

    /// Removes the partial files of all uploads that were last written before a time; returns their
    /// number.
    pub(crate) async fn sweep(&self, before: Time) -> Result<usize, MediaStoreError> {
        let uploads = self.0.path_to_filesystem(&uploads_path()?).map_err(failed)?;
        let before = UNIX_EPOCH + Duration::from_millis(before.ms());
        let swept = tokio::task::spawn_blocking(move || sweep(&uploads, before)).await;
        swept.map_err(failed)?.map_err(failed)
    }
}

/// Removes the partial files of a directory, and of those in it, that were last written before a time;
/// returns their number.
fn sweep(at: &Path, before: SystemTime) -> io::Result<usize> {
    let entries = match std::fs::read_dir(at) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut swept = 0;
    for entry in entries {
        let entry = entry?;
        // A file that is gone by now needs no sweep.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            swept += sweep(&entry.path(), before)?;
        } else if entry.file_name().to_string_lossy().contains(SUFFIX_MARK)
            && metadata.modified()? < before
        {
            match std::fs::remove_file(entry.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => swept += 1,
            }
        }
    }
    Ok(swept)
}

/// Removes matching files, and the directory once it is empty.
fn clear(at: &Path, is_partial: impl Fn(&str) -> bool) -> io::Result<()> {
    let entries = match std::fs::read_dir(at) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if is_partial(&entry.file_name().to_string_lossy()) {
            match std::fs::remove_file(entry.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    // Fails while the directory is not empty, as it should.
    let _ = std::fs::remove_dir(at);
    Ok(())
}
