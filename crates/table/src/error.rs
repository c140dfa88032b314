//! The errors of table operations, distinguished by what the caller can do about them.

use crate::{Item, Limit, NumberError, Path, ValueKind};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a table operation. Nothing was written, except that the outcome is unknown after
/// [`Error::Unavailable`], and after [`Error::WritesStopped`] until the restart.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request itself is invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The condition of a single write did not hold.
    #[error("the condition did not hold")]
    ConditionFailed {
        /// The item as it was, if the write asked for it and it exists.
        item: Option<Box<Item>>,
    },
    /// A transaction was cancelled. There is one reason per write, `None` for those that did not fail.
    #[error("the transaction was cancelled: {}", summary(.reasons))]
    Cancelled { reasons: Vec<Option<CancelReason>> },
    /// The token was used before, with other writes.
    #[error("this transaction token was used within ten minutes with other writes")]
    TokenReused,
    #[error("there is no table {table:?}")]
    TableNotFound { table: String },
    #[error("a table {table:?} exists with another definition")]
    TableExists { table: String },
    /// The stream no longer holds, or never held, the requested position.
    #[error("the stream of {table:?} no longer holds changes after {after}")]
    StreamTrimmed { table: String, after: String },
    /// The backend did not respond, after retries. A write may or may not have happened.
    #[error("the table is unavailable: {detail}")]
    Unavailable { detail: String },
    /// The credentials of this process do not permit the operation. Nothing was written.
    #[error("access to the table {table:?} is denied: {detail}")]
    Denied { table: String, detail: String },
    /// The reads of one request returned more than it may read.
    #[error("the request reads more than {bytes_max} bytes; ask for less at once")]
    ReadBudget { bytes_max: usize },
    /// The reads of all requests under way, or of those of one client, returned more than they may together.
    #[error("too much is being read at the moment, by you or by others; try again in a second")]
    ReadPoolFull,
    /// The store takes no changes for now, because its disk is full or its process has no file descriptors
    /// left. Nothing was written.
    #[error(
        "changes cannot be saved at the moment, and nothing was changed; try again in a minute"
    )]
    WritesPaused {
        /// For operators.
        reason: String,
    },
    /// Writes have stopped until a restart, because durability can no longer be guaranteed.
    #[error("writes have stopped: {reason}; repair the disk if need be, then restart")]
    WritesStopped {
        reason: String,
        /// False if this write was refused before anything of it could reach the disk.
        is_attempted: bool,
    },
    /// Stored bytes do not match their checksum.
    #[error("damaged data in {location}: {detail}")]
    Damaged { location: String, detail: String },
    #[error("{action}: {detail}")]
    Io {
        /// The failed action, with the file.
        action: String,
        detail: String,
    },
    /// The backend's response violates its contract.
    #[error("unexpected response from the backend: {detail}")]
    Unexpected { detail: String },
}

impl Error {
    /// Returns whether the write that failed with this error may have happened.
    pub const fn leaves_outcome_unknown(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::WritesStopped { is_attempted: true, .. })
    }
}

fn summary(reasons: &[Option<CancelReason>]) -> String {
    let named = reasons
        .iter()
        .enumerate()
        .filter_map(|(at, reason)| reason.as_ref().map(|reason| format!("write {at}: {reason}")));
    named.collect::<Vec<_>>().join("; ")
}

/// The reason why one write cancelled its transaction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CancelReason {
    #[error("the condition did not hold")]
    ConditionFailed {
        /// The item as it was, if the write asked for it and it exists.
        item: Option<Box<Item>>,
    },
    /// The write, or the item it would leave, is invalid.
    #[error("{0}")]
    Invalid(Invalid),
    /// Another transaction was writing the item (never happens on the embedded engine).
    #[error("another transaction was writing the item; try again")]
    Conflict,
    /// The backend's throughput limit was reached.
    #[error("throttled; try again later")]
    Throttled,
}

/// The fault of a request. Each variant names the limit or rule, the value, and the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    #[error("too many {limit}: {actual}, at most {max} allowed ({subject})")]
    OverLimit { limit: Limit, actual: usize, max: usize, subject: String },
    #[error("key attribute {attribute:?} is missing ({key})")]
    KeyMissing { attribute: String, key: String },
    #[error("a sort key was given for a table or index without one ({key})")]
    KeyUnexpected { key: String },
    #[error("key attribute {attribute:?} is empty ({key})")]
    KeyEmpty { attribute: String, key: String },
    #[error("key attribute {attribute:?} must be of type {expected}, not {found} ({key})")]
    KeyType { attribute: String, expected: ValueKind, found: ValueKind, key: String },
    #[error("invalid key for index {index:?}: {source}")]
    IndexKey { index: String, source: Box<Invalid> },
    #[error("attribute {attribute:?} is used as a key twice, or with two types")]
    KeyTypeConflict { attribute: String },
    #[error("name {name:?} must be 3 to 255 of A-Z, a-z, 0-9, '_', '-', '.'")]
    Name { name: String },
    #[error("index {index:?} is defined twice")]
    DuplicateIndex { index: String },
    #[error("table {table:?} has no index {index:?}")]
    NoSuchIndex { table: String, index: String },
    #[error("index {index:?} does not support strongly consistent reads")]
    StrongIndexRead { index: String },
    #[error("index {index:?} does not project attribute {attribute:?}")]
    NotProjected { index: String, attribute: String },
    #[error("cannot compare {path} with itself")]
    SameOperand { path: Path },
    #[error("a filter cannot name key attribute {attribute:?}; use the key condition")]
    FilterOnKey { attribute: String },
    #[error("the page starts at a key of another partition, or outside the range ({key})")]
    InvalidStart { key: String },
    #[error("the lower bound {low} lies above the upper bound {high}")]
    EmptyRange { low: String, high: String },
    #[error("begins-with needs a text or binary key, but {attribute:?} is a number")]
    PrefixOfNumber { attribute: String },
    #[error("a limit must be at least 1")]
    ZeroLimit,
    #[error("segment {segment} of {total} does not exist")]
    InvalidSegment { segment: u32, total: u32 },
    #[error("the request names the same item twice ({key})")]
    DuplicateItem { key: String },
    #[error("nothing to do: {what}")]
    EmptyRequest { what: &'static str },
    #[error("an update cannot change key attribute {attribute:?} ({key})")]
    UpdatesKey { attribute: String, key: String },
    #[error("paths {first} and {second} of one update overlap")]
    PathOverlap { first: Path, second: Path },
    #[error("path {path} does not exist in this item ({key})")]
    PathMissing { path: Path, key: String },
    #[error("{action} of {path} needs {expected}, not {found} ({key})")]
    OperandType {
        action: &'static str,
        path: String,
        expected: &'static str,
        found: String,
        key: String,
    },
    #[error("{action} works on top-level attributes only, not on {path}")]
    TopLevelOnly { action: &'static str, path: Path },
    #[error("a set cannot be empty ({attribute:?} of {subject})")]
    EmptySet { attribute: String, subject: String },
    #[error("an attribute name cannot be empty ({subject})")]
    EmptyName { subject: String },
    #[error("{0}")]
    Number(#[from] NumberError),
    #[error("the backend rejected the request: {detail}")]
    Rejected { detail: String },
}
