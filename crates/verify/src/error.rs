//! Errors of a check that could not run; anything wrong inside the store is a finding instead.

use roundtable_model::table;

pub type Result<T, E = VerifyError> = std::result::Result<T, E>;

/// An error that kept a store from being checked.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error(transparent)]
    Table(#[from] table::Error),
    #[error("the processors could not read the stream to its end: {0}")]
    Drain(String),
    #[error("the search index could not be compared: {0}")]
    Index(String),
    /// A task of the check panicked, or the runtime is shutting down.
    #[error("a task of the check ended early: {0}")]
    Interrupted(String),
}
