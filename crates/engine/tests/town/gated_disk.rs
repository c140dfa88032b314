//! A disk that blocks commits of the tree until a test allows them.

use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};

use roundtable_engine::{DirectoryDisk, Disk, DiskFile};

/// A directory of log files that blocks before each commit of the tree.
#[derive(Clone, Debug)]
pub(crate) struct GatedDisk {
    inner: Arc<DirectoryDisk>,
    gate: Arc<(Mutex<Gate>, Condvar)>,
}

#[derive(Debug, Default)]
struct Gate {
    /// Number of commits still allowed.
    passes: usize,
    is_waiting: bool,
}

impl GatedDisk {
    pub(crate) fn new(path: &Path) -> Self {
        let gate = Gate { passes: usize::MAX, is_waiting: false };
        Self {
            inner: Arc::new(DirectoryDisk::open(path).unwrap()),
            gate: Arc::new((Mutex::new(gate), Condvar::new())),
        }
    }

    /// Allows this many more commits.
    pub(crate) fn allow(&self, passes: usize) {
        self.gate.0.lock().unwrap().passes = passes;
        self.gate.1.notify_all();
    }

    /// Waits until a commit is blocked.
    pub(crate) fn wait_for_a_commit(&self) {
        let (gate, changed) = &*self.gate;
        drop(changed.wait_while(gate.lock().unwrap(), |gate| !gate.is_waiting).unwrap());
    }
}

impl Disk for GatedDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.inner.list()
    }

    fn create(&self, name: &str, len: u64) -> io::Result<Arc<dyn DiskFile>> {
        self.inner.create(name, len)
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.inner.open(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)
    }

    fn before_tree_commit(&self) -> io::Result<()> {
        let (gate, changed) = &*self.gate;
        let mut gate = gate.lock().unwrap();
        while gate.passes == 0 {
            gate.is_waiting = true;
            changed.notify_all();
            gate = changed.wait(gate).unwrap();
        }
        gate.is_waiting = false;
        gate.passes -= 1;
        Ok(())
    }
}
