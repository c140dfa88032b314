//! The files of the log, behind a trait so that tests can fail any step.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

/// Descriptors held back for when the process has no others: one to start a segment, one for its spare.
const RESERVED_MAX: usize = 2;
/// Before the next attempt to open a file, when neither the process nor the reserve has a descriptor.
const DESCRIPTOR_RETRY: Duration = Duration::from_millis(20);
/// `ENFILE` and `EMFILE`, which have the same numbers on all supported systems.
const OUT_OF_DESCRIPTORS: [i32; 2] = [23, 24];

/// A directory of log files.
pub trait Disk: Send + Sync + std::fmt::Debug + 'static {
    fn list(&self) -> io::Result<Vec<String>>;

    /// Creates a file of `len` zeros; it and its name are on stable storage afterwards.
    fn create(&self, name: &str, len: u64) -> io::Result<Arc<dyn DiskFile>>;

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Renames a file; the new name is on stable storage afterwards.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file, on stable storage: of files removed one after the other, no earlier one
    /// reappears after a power loss without the later ones.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Called before each commit of the tree, which does its own I/O, so that tests can inject a failure.
    fn before_tree_commit(&self) -> io::Result<()> {
        Ok(())
    }
}

/// One file of the log.
pub trait DiskFile: Send + Sync + std::fmt::Debug {
    /// Writes all of `bytes` at `offset`.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Reads up to `buffer.len()` bytes at `offset`; fewer only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Puts everything written so far on stable storage.
    fn sync(&self) -> io::Result<()>;

    /// Cuts the file to `len` bytes, on stable storage.
    fn truncate(&self, len: u64) -> io::Result<()>;

    /// Returns the length in bytes.
    fn len(&self) -> io::Result<u64>;

    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// A [`Disk`] on a directory of the file system. When the process or the system has no descriptor left, it
/// waits for one: otherwise a flood of connections could fail the start of a segment, and end all writes.
#[derive(Debug)]
pub struct DirectoryDisk {
    path: PathBuf,
    /// Open, so that syncing its names takes no descriptor.
    directory: File,
    /// Copies of `directory` that are closed when a file needs their descriptors.
    reserve: Mutex<Vec<File>>,
}

impl DirectoryDisk {
    /// Opens `path`, creating it if needed.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        if !path.is_dir() {
            create_private(&path)?;
            sync_parent(&path)?;
        }
        let directory = File::open(&path)?;
        // A killed process may have left names that are not on stable storage yet.
        directory.sync_all()?;
        Ok(Self { path, directory, reserve: Mutex::default() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn sync_names(&self) -> io::Result<()> {
        self.directory.sync_all()
    }

    /// Opens a file, as soon as there is a descriptor for it.
    fn open_file(&self, name: &str, options: &OpenOptions) -> io::Result<File> {
        let path = self.path.join(name);
        let mut waits = false;
        loop {
            match options.open(&path) {
                Err(error) if is_out_of_descriptors(&error) => {
                    // Another thread may take the descriptor that this frees.
                    if self.reserve.lock().pop().is_some() {
                        continue;
                    }
                    if !waits {
                        tracing::warn!(
                            %error,
                            name,
                            "the log waits for a file descriptor; raise the limit on open files"
                        );
                        waits = true;
                    }
                    std::thread::sleep(DESCRIPTOR_RETRY);
                }
                opened => {
                    self.refill_reserve();
                    return opened;
                }
            }
        }
    }

    fn refill_reserve(&self) {
        let mut reserve = self.reserve.lock();
        while reserve.len() < RESERVED_MAX {
            let Ok(copy) = self.directory.try_clone() else { return };
            reserve.push(copy);
        }
    }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|number| OUT_OF_DESCRIPTORS.contains(&number))
}

/// Creates a directory that only its owner can read, because its files hold the data of all users.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Puts the names in a directory on stable storage.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Puts the name of `path` itself on stable storage.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    sync_directory(parent.unwrap_or(Path::new(".")))
}

impl Disk for DirectoryDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name()));
        let names: io::Result<Vec<_>> = names.collect();
        Ok(names?.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    fn create(&self, name: &str, len: u64) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        let file = self.open_file(name, &options)?;
        // Written, not merely reserved: a sync into a hole or an unwritten extent would have to
        // sync metadata each time.
        let zeros = vec![0; 1 << 20];
        let mut at = 0;
        while at < len {
            let chunk = zeros.len().min(usize::try_from(len - at).unwrap_or(usize::MAX));
            file.write_all_at(zeros.get(..chunk).unwrap_or_default(), at)?;
            at += chunk as u64;
            // In chunks, because one large flush would delay the syncs that callers wait for.
            file.sync_data()?;
        }
        file.sync_all()?;
        self.sync_names()?;
        Ok(Arc::new(file))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(self.open_file(name, OpenOptions::new().read(true).write(true))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path.join(from), self.path.join(to))?;
        self.sync_names()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path.join(name))?;
        self.sync_names()
    }
}

impl DiskFile for File {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match FileExt::read_at(self, rest, offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.set_len(len)?;
        self.sync_all()
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}
