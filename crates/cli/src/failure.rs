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
    /// Copies are files of an embedded store.
    #[error(
        "the configured store is `dynamodb`: its copies are made by point-in-time recovery, or by \
         `roundtable export`; --data names an embedded one"
    )]
    NotEmbedded,
    /// The configuration says something wrong.
    #[error("{0}")]
    Configuration(#[from] roundtable_server::Misconfigured),
    /// What is to be written down cannot be understood.
    #[error(
        "log.level: {level:?} is no level: expected error, warn, info, debug or trace, or those by part \
         of the program, such as \"info,roundtable_server=debug\""
    )]
    LogLevel { level: String },
    /// The server could not be started.
    #[error("{0}")]
    Server(#[from] roundtable_server::StartError),
    /// What services stand on could not be put together.
    #[error("{0}")]
    Ground(#[from] roundtable_model::Error),
    /// The store could not be checked.
    #[error("{0}")]
    Verify(#[from] roundtable_verify::Failure),
    /// A report could not be written as JSON.
    #[error("writing JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The sample town could not be built.
    #[error("building the town: {what}: {why}")]
    Town { what: &'static str, why: String },
    /// It was stopped while the sample town was being built.
    #[error("stopped before the town was finished; nothing of it is left")]
    Stopped,
    /// Somebody lives where the sample town is to be built.
    #[error(
        "{0}: there is a store already; `roundtable serve --data {0}` serves it, and a new town needs a \
         directory that is empty, or that does not exist",
        path.display()
    )]
    Inhabited { path: PathBuf },
    /// What is to be written would be mixed with something else.
    #[error("{}: it is not empty; name a directory that is, or that does not exist", path.display())]
    NotEmpty { path: PathBuf },
    /// What was asked for was refused.
    #[error("{0}")]
    Refused(String),
    /// The server that has the store could not be asked.
    #[error("{0}")]
    Ask(#[from] roundtable_server::AskError),
    /// A data directory could not be copied.
    #[error("{0}")]
    Copy(#[from] roundtable_server::CopyError),
    /// A line of a file could not be read in.
    #[error("{}:{line}: {why}", path.display())]
    Line { path: PathBuf, line: u64, why: String },
    /// A store holds something already.
    #[error("table {table:?} holds something already; --merge reads into it nevertheless")]
    StoreInUse { table: String },
    /// A server did not answer.
    #[error("{server}: {why}")]
    Unreachable { server: String, why: String },
    /// A server does not tell what an answer cost.
    #[error("the server does not tell what it cost: graphql.xray = true in its settings allows it")]
    NoXray,
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
