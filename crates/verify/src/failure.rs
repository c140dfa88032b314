//! Why a store could not be checked at all; what is wrong inside it is a finding, never a failure.

use roundtable_model::table;

/// The result of a check or a repair.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a store could not be checked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A table did not answer.
    #[error(transparent)]
    Table(#[from] table::Error),
    /// The processors could not be brought to the end of the stream.
    #[error("letting the processors finish: {0}")]
    Drain(String),
    /// A part of the check ended early, by a panic or because the runtime is shutting down.
    #[error("a part of the check ended early: {0}")]
    Interrupted(String),
}
