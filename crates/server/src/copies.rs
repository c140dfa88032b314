//! Copies of a data directory, and back: the store, the secret that its keys are sealed with, and the
//! files that people sent.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use roundtable_engine::{Engine, Restore};

use crate::store::SECRET;
use crate::wiring::MEDIA;

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] roundtable_table::Error),
    /// A file could not be copied.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

/// Writes a copy of everything acknowledged so far, while writes go on; gives the last sequence in it.
/// It can be opened as it is. Blocks.
pub fn backup(engine: &Engine, data: &Path, into: &Path) -> Result<u64, CopyError> {
    let sequence = engine.backup(into)?;
    // After the store: whatever it names is there, unless it was taken away since.
    whole(into, copy_beside(data, into)).map(|()| sequence)
}

/// Makes a data directory out of a copy; gives the last sequence in it. Blocks.
pub fn restore(plan: &Restore) -> Result<u64, CopyError> {
    let sequence = roundtable_engine::restore(plan)?;
    whole(&plan.into, copy_beside(&plan.backup, &plan.into)).map(|()| sequence)
}

/// Copies what is beside the store of a data directory: its secret, and the files that people sent. What
/// is there already stays. Blocks.
pub fn copy_beside(from: &Path, into: &Path) -> Result<(), CopyError> {
    [SECRET, MEDIA].iter().try_for_each(|name| copy(&from.join(name), &into.join(name)))?;
    // Without this, a crash may forget that they are there.
    sync(into).map_err(|error| CopyError::File { path: into.to_owned(), error })
}

fn sync(directory: &Path) -> io::Result<()> {
    fs::File::open(directory)?.sync_all()
}

/// Of a failure nothing is left behind.
fn whole(into: &Path, copied: Result<(), CopyError>) -> Result<(), CopyError> {
    if copied.is_err() {
        let _ = fs::remove_dir_all(into);
    }
    copied
}

/// Copies a file, or a directory with all that is in it; what is not there is no fault.
fn copy(from: &Path, to: &Path) -> Result<(), CopyError> {
    let failed = |error| CopyError::File { path: from.to_owned(), error };
    let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let kind = match fs::symlink_metadata(from) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if gone(&error) => return Ok(()),
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
    // With its rights: a secret stays one.
    match fs::copy(from, to).and_then(|_| fs::File::open(to)?.sync_all()) {
        Err(error) if gone(&error) => Ok(()),
        copied => copied.map_err(failed),
    }
}
