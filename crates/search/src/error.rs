//! The reasons that an index cannot be used or kept current. Each ends with an index that is opened again or
//! rebuilt.

use roundtable_model::table;

#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("search index: {0}")]
    Index(#[from] tantivy::TantivyError),
    #[error("search index: {0}")]
    Files(#[from] std::io::Error),
    #[error("reading the table for the search index: {0}")]
    Table(#[from] table::Error),
    /// The stream does not reach back to the position of the index.
    #[error("the stream no longer has the changes since the last commit of the search index")]
    Trimmed,
    #[error("the search index is damaged: {0}")]
    Damaged(String),
    #[error("too many changes while the search index was being built")]
    Overtaken,
    #[error("a task of the search index ended: {0}")]
    Interrupted(#[from] tokio::task::JoinError),
}
