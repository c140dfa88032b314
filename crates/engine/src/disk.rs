//! The files of the log, behind a trait so that tests can fail any step.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

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

    /// Returns the bytes that the process may still write to this disk.
    fn free_bytes(&self) -> io::Result<u64> {
        Ok(u64::MAX)
    }

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

/// Returns whether a failure harms nothing and passes: the disk is full, or the process or the machine has no
/// file descriptors left.
pub(crate) fn is_temporary(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let has_no_descriptors =
        matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE));
    has_no_descriptors || matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// A [`Disk`] on a directory of the file system.
#[derive(Debug)]
pub struct DirectoryDisk {
    path: PathBuf,
    /// Kept open, so that a new name can be synced when there are no file descriptors left.
    names: File,
}

impl DirectoryDisk {
    /// Opens `path`, creating it if needed.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        if !path.is_dir() {
            create_private(&path)?;
            sync_parent(&path)?;
        }
        // A killed process may have left names that are not on stable storage yet.
        let names = File::open(&path)?;
        names.sync_all()?;
        Ok(Self { path, names })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn sync_names(&self) -> io::Result<()> {
        self.names.sync_all()
    }
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
        let path = self.path.join(name);
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
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
        Ok(Arc::new(OpenOptions::new().read(true).write(true).open(self.path.join(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path.join(from), self.path.join(to))?;
        self.sync_names()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path.join(name))?;
        self.sync_names()
    }

    fn free_bytes(&self) -> io::Result<u64> {
        let disk = rustix::fs::fstatvfs(&self.names)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
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
