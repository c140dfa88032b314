//! What a process that died in the middle of a file leaves in a directory. The store writes to a name of
//! its own before a file gets its name, and lists and deletes no such file.

use std::io::{self, ErrorKind};
use std::path::Path;

use object_store::local::LocalFileSystem;
use roundtable_domain::MediaStoreError;
use roundtable_model::MediaKey;

use crate::objects::{copies, failed, incoming};

/// What stands between the name of a file and what tells its unfinished ones apart; in no key.
const MARK: char = '#';

/// The unfinished files of a directory.
#[derive(Clone, Debug)]
pub(crate) struct Leftovers(LocalFileSystem);

impl Leftovers {
    pub(crate) fn of(files: LocalFileSystem) -> Self {
        Self(files)
    }

    /// Takes away whatever of a file never got its name: nobody sends or copies it any more.
    pub(crate) async fn clear(&self, key: &MediaKey) -> Result<(), MediaStoreError> {
        let sent = self.0.path_to_filesystem(&incoming(key)?).map_err(failed)?;
        let copies = self.0.path_to_filesystem(&copies(key)?).map_err(failed)?;
        let clear = move || {
            if let (Some(at), Some(name)) = (sent.parent(), sent.file_name()) {
                let name = format!("{}{MARK}", name.to_string_lossy());
                clear(at, |other| other.starts_with(&name))?;
            }
            clear(&copies, |other| other.contains(MARK))
        };
        tokio::task::spawn_blocking(clear).await.map_err(failed)?.map_err(failed)
    }
}

/// Takes the files of a directory away that are called so, and the directory with the last one.
fn clear(at: &Path, is_left: impl Fn(&str) -> bool) -> io::Result<()> {
    let entries = match std::fs::read_dir(at) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if is_left(&entry.file_name().to_string_lossy()) {
            match std::fs::remove_file(entry.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    // Refused while there is anything in it, which is as it should be.
    let _ = std::fs::remove_dir(at);
    Ok(())
}
