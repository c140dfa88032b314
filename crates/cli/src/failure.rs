//! Why a command could not be carried out, in words for whoever typed it.

use std::io;
use std::path::{Path, PathBuf};

use roundtable_model::capacity::CapacityError;

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Flags that do not go together.
    #[error("{0}")]
    Usage(clap::Error),
    /// What was to be said could not be.
    #[error("writing the output: {0}")]
    Output(#[from] io::Error),
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    /// A file of rates or prices says something wrong.
    #[error("{source_name}: {error}")]
    Capacity { source_name: String, error: Box<CapacityError> },
    /// The system gave no threads or timers.
    #[error("starting: {0}")]
    Start(io::Error),
    /// The store refused.
    #[error("{0}")]
    Store(#[from] roundtable_table::Error),
    /// There is no store to look at.
    #[error("{}: there is no such directory, and so no store in it", path.display())]
    NoStore { path: PathBuf },
    /// A file of settings says something wrong.
    #[error("{}: {error}", path.display())]
    Settings { path: PathBuf, error: Box<toml::de::Error> },
    /// What services stand on could not be put together.
    #[error("{0}")]
    Ground(#[from] roundtable_model::Error),
    /// The store could not be checked.
    #[error("{0}")]
    Verify(#[from] roundtable_verify::Failure),
    /// A report could not be written as JSON.
    #[error("writing JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A table is there, and is another one.
    #[error("table {table:?} exists, and is not this one: {differences}; it was left as it is")]
    OtherTable { table: String, differences: String },
}

impl Failure {
    /// What went wrong with the file at `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::File { path: path.to_owned(), error }
    }
}
