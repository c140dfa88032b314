//! Backup and restore of a data directory: the store, the secret that seals its keys, and the media
//! files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use roundtable_domain::MediaSettings;
use roundtable_engine::{Engine, Restore, RestoreError};
use roundtable_model::Time;

use crate::store::SECRET_FILE;
use crate::wiring::MEDIA_DIRECTORY;

/// The reason that a data directory could not be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error(transparent)]
    Store(#[from] roundtable_table::Error),
    #[error(
        "cannot restore to that point: the backup and the archive cover {from} to {to}, both included; use \
         another backup, or leave out --at for everything that they hold"
    )]
    NotCovered {
        /// The first time that can be restored.
        from: String,
        /// The last one.
        to: String,
    },
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
}

/// Copies all acknowledged writes while the store is in use; returns the last sequence in the copy,
/// which can be opened as it is. The files are those in the directory `media`. Blocks.
pub fn backup(engine: &Engine, data: &Path, media: &Path, into: &Path) -> Result<u64, CopyError> {
    let sequence = engine.backup(into)?;
    // After the store: every file that it names exists, unless it was deleted since.
    remove_on_failure(into, copy_beside(data, media, into)).map(|()| sequence)
}

/// Makes a data directory from a backup; returns the last sequence in it. Blocks.
pub fn restore(plan: &Restore) -> Result<u64, CopyError> {
    let sequence = roundtable_engine::restore(plan).map_err(|error| match error {
        RestoreError::Store(error) => CopyError::Store(error),
        RestoreError::NotCovered { from_ms, to_ms } => {
            let show = |ms: Option<u64>| {
                ms.map_or_else(
                    || String::from("an unknown time"),
                    |ms| Time::from_ms(ms).to_string(),
                )
            };
            CopyError::NotCovered { from: show(from_ms), to: show(to_ms) }
        }
    })?;
    remove_on_failure(&plan.into, copy_secret_and_media(&plan.backup, &plan.into))
        .map(|()| sequence)
}

/// Copies the secret and the media files that lie beside the store. Existing files are kept. Blocks.
pub fn copy_secret_and_media(from: &Path, into: &Path) -> Result<(), CopyError> {
    copy_beside(from, &from.join(MEDIA_DIRECTORY), into)
}

/// Returns the directory of an installation's files.
pub fn media_directory(data: &Path, settings: &MediaSettings) -> PathBuf {
    settings.directory.clone().unwrap_or_else(|| data.join(MEDIA_DIRECTORY))
}

fn copy_beside(data: &Path, media: &Path, into: &Path) -> Result<(), CopyError> {
    copy(&data.join(SECRET_FILE), &into.join(SECRET_FILE))?;
    copy(media, &into.join(MEDIA_DIRECTORY))?;
    // Without this, a crash may lose the new directory entries.
    sync(into).map_err(|error| CopyError::File { path: into.to_owned(), error })
}

fn sync(directory: &Path) -> io::Result<()> {
    fs::File::open(directory)?.sync_all()
}

/// Removes an incomplete copy.
fn remove_on_failure(into: &Path, copied: Result<(), CopyError>) -> Result<(), CopyError> {
    if copied.is_err() {
        let _ = fs::remove_dir_all(into);
    }
    copied
}

/// Copies a file or a directory recursively; a missing source is not an error.
fn copy(from: &Path, to: &Path) -> Result<(), CopyError> {
    let failed = |error| CopyError::File { path: from.to_owned(), error };
    let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let kind = match fs::symlink_metadata(from) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if is_missing(&error) => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    if kind.is_dir() {
        fs::create_dir_all(to).map_err(failed)?;
        for entry in fs::read_dir(from).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            copy(&from.join(&name), &to.join(&name))?;
        }
        return sync(to).map_err(failed);
    }
    if !kind.is_file() || to.exists() {
        return Ok(());
    }
    // Keeps the permissions: the secret stays private.
    match fs::copy(from, to).and_then(|_| fs::File::open(to)?.sync_all()) {
        Err(error) if is_missing(&error) => Ok(()),
        copied => copied.map_err(failed),
    }
}
