//! Errors of commands, in words for the user who typed them.

use std::io;
use std::path::{Path, PathBuf};

use roundtable_planning::capacity::CapacityError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("{0}")]
    Usage(clap::Error),
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("{source_name}: {error}")]
    Capacity { source_name: String, error: Box<CapacityError> },
    #[error("cannot start: {0}")]
    Start(io::Error),
    #[error("{0}")]
    Store(#[from] roundtable_table::Error),
    #[error("{}: there is no such directory; check --data, or create a store with `roundtable serve`", path.display())]
    NoStore { path: PathBuf },
    #[error("{}: there is no such backup{advice}", path.display())]
    NoBackup { path: PathBuf, advice: &'static str },
    #[error("{}: there is no export in it: {missing} is missing{advice}", path.display())]
    NoExport { path: PathBuf, missing: String, advice: &'static str },
    #[error(
        "the configured store is `dynamodb`: back it up with point-in-time recovery, or with \
         `roundtable export`; --data selects an embedded store"
    )]
    NotEmbedded,
    #[error("{0}")]
    Configuration(#[from] roundtable_server::ConfigurationError),
    #[error(
        "log.level: {level:?} is not a level: expected error, warn, info, debug or trace, or levels by \
         module, such as \"info,roundtable_server=debug\""
    )]
    LogLevel { level: String },
    #[error("{0}")]
    Server(#[from] roundtable_server::StartError),
    #[error("{0}")]
    Model(#[from] roundtable_model::Error),
    #[error("{0}")]
    Verify(#[from] roundtable_verify::VerifyError),
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("building the town: {what}: {reason}")]
    Town { what: &'static str, reason: String },
    #[error("interrupted before the town was finished; its files were removed")]
    Interrupted,
    #[error(
        "{0}: there is already a store; serve it with `roundtable serve --data {0}`, or name a directory \
         that is empty or missing",
        path.display()
    )]
    StoreExists { path: PathBuf },
    #[error("{}: the directory is not empty; name one that is empty or missing", path.display())]
    NotEmpty { path: PathBuf },
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    AdminSocket(#[from] roundtable_server::AdminSocketError),
    #[error("{0}")]
    Copy(#[from] roundtable_server::CopyError),
    #[error("{}:{line}: {reason}", path.display())]
    Line { path: PathBuf, line: u64, reason: String },
    #[error("table {table:?} is not empty; use an empty store, or --merge to import into this one")]
    StoreInUse { table: String },
    #[error("{server}: {reason}")]
    Unreachable { server: String, reason: String },
    #[error("the server does not report costs: set graphql.xray = true in its settings")]
    NoXray,
    #[error(
        "table {table:?} exists, but differs from the schema: {differences}; it was left unchanged"
    )]
    TableMismatch { table: String, differences: String },
}

impl CommandError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::File { path: path.to_owned(), error }
    }
}
