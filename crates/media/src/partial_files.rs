//! Removes partial files that a killed process left in a directory. The store writes to a temporary
//! name first, and neither lists nor deletes such files.

use std::io::{self, ErrorKind};
use std::path::Path;

use object_store::local::LocalFileSystem;
use roundtable_domain::MediaStoreError;
use roundtable_model::MediaKey;

use crate::objects::{copies_path, failed, upload_path};

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
