//! Where an index is, and what it may take.

use std::path::PathBuf;

/// The directory of an index.
#[derive(Clone, Debug)]
pub enum IndexLocation {
    /// A directory of its own.
    Directory(PathBuf),
    /// Memory, for tests.
    Memory,
}

/// The budgets of an index.
#[derive(Clone, Copy, Debug)]
pub struct IndexSettings {
    /// Memory for documents that are not committed yet.
    pub writer_bytes: usize,
    /// The index takes no more documents while its files are larger.
    pub index_bytes_max: u64,
}

impl IndexSettings {
    /// Less does not hold the writer's own structures.
    pub const WRITER_BYTES_MIN: usize = 16 << 20;
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self { writer_bytes: 32 << 20, index_bytes_max: 16 << 30 }
    }
}
