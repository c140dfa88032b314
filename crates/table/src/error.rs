//! What can go wrong with a table, told apart by what the caller can do about it.

use crate::{Item, Kind, Limit, NumberError, Path};

/// The result of a table operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed. Nothing was written, except that the outcome is unknown after
/// [`Error::Unavailable`], and after [`Error::WritesStopped`] until the restart.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request itself is wrong.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The condition of a single write did not hold.
    #[error("the condition did not hold")]
    ConditionFailed {
        /// The item as it was, if the write asked for it and it exists.
        item: Option<Box<Item>>,
    },
    /// A transaction was cancelled; one entry per write, `None` for those without fault.
    #[error("the transaction was cancelled: {}", summary(.reasons))]
    Cancelled {
        /// Why, write by write.
        reasons: Vec<Option<CancelReason>>,
    },
    /// The token was used before, with other writes.
    #[error("this transaction token was used within ten minutes with other writes")]
    TokenReused,
    /// No such table.
    #[error("there is no table {table:?}")]
    TableMissing {
        /// Its name.
        table: String,
    },
    /// A table of this name exists, with another definition.
    #[error("a table {table:?} exists with another definition")]
    TableExists {
        /// Its name.
        table: String,
    },
    /// The stream no longer holds (or never held) what was asked for.
    #[error("the stream of {table:?} no longer holds changes after {after}")]
    StreamTrimmed {
        /// The table.
        table: String,
        /// The sequence asked for.
        after: String,
    },
    /// The backend did not answer, after retries. A write may or may not have happened.
    #[error("the table is unavailable: {detail}")]
    Unavailable {
        /// What was seen.
        detail: String,
    },
    /// Writes have stopped until a restart, because durability can no longer be promised.
    #[error("writes have stopped: {reason}; free space or repair the disk, then restart")]
    WritesStopped {
        /// What happened to the disk.
        reason: String,
    },
    /// Stored bytes do not match their checksum.
    #[error("damaged data in {place}: {detail}")]
    Damaged {
        /// Where.
        place: String,
        /// What was found.
        detail: String,
    },
    /// The operating system refused something.
    #[error("{action}: {detail}")]
    Io {
        /// What was being done, with the file.
        action: String,
        /// The system's words.
        detail: String,
    },
    /// The backend answered something its contract does not allow.
    #[error("unexpected answer from the backend: {detail}")]
    Unexpected {
        /// The answer.
        detail: String,
    },
}

fn summary(reasons: &[Option<CancelReason>]) -> String {
    let named = reasons
        .iter()
        .enumerate()
        .filter_map(|(at, reason)| reason.as_ref().map(|reason| format!("write {at}: {reason}")));
    named.collect::<Vec<_>>().join("; ")
}

/// Why one write cancelled its transaction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CancelReason {
    /// Its condition did not hold.
    #[error("the condition did not hold")]
    ConditionFailed {
        /// The item as it was, if the write asked for it and it exists.
        item: Option<Box<Item>>,
    },
    /// It would leave an item that may not be.
    #[error("{0}")]
    Invalid(Invalid),
    /// Another transaction was under way on the item (never on the embedded engine).
    #[error("another transaction was under way on the item")]
    Conflict,
    /// The backend's limit of throughput was reached.
    #[error("throttled")]
    Throttled,
}

/// What is wrong with a request. Each names the limit or rule, the value, and the key.
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
    KeyType { attribute: String, expected: Kind, found: Kind, key: String },
    #[error("invalid key for index {index:?}: {source}")]
    IndexKey { index: String, source: Box<Invalid> },
    #[error("attribute {attribute:?} is used as a key twice, or with two types")]
    KeyKindClash { attribute: String },
    #[error("name {name:?} must be 3 to 255 of A-Z, a-z, 0-9, '_', '-', '.'")]
    Name { name: String },
    #[error("index {index:?} is defined twice")]
    IndexTwice { index: String },
    #[error("table {table:?} has no index {index:?}")]
    NoSuchIndex { table: String, index: String },
    #[error("index {index:?} cannot be read strongly")]
    StrongIndexRead { index: String },
    #[error("index {index:?} does not carry attribute {attribute:?}")]
    NotProjected { index: String, attribute: String },
    #[error("a comparison of {path} with itself")]
    SameOperand { path: Path },
    #[error("a filter cannot name key attribute {attribute:?}; use the key condition")]
    FilterOnKey { attribute: String },
    #[error("the page starts at a key of another partition, or outside the range ({key})")]
    BadStart { key: String },
    #[error("the lower bound {low} lies above the upper bound {high}")]
    EmptyRange { low: String, high: String },
    #[error("begins-with needs a text or binary key, and {attribute:?} is a number")]
    PrefixOfNumber { attribute: String },
    #[error("a limit must be at least 1")]
    ZeroLimit,
    #[error("segment {segment} of {total} does not exist")]
    BadSegment { segment: u32, total: u32 },
    #[error("the same item twice in one request ({key})")]
    SameItemTwice { key: String },
    #[error("nothing to do: {what}")]
    Nothing { what: &'static str },
    #[error("an update cannot change key attribute {attribute:?} ({key})")]
    UpdatesKey { attribute: String, key: String },
    #[error("paths {first} and {second} of one update overlap")]
    PathOverlap { first: Path, second: Path },
    #[error("path {path} does not lead to a place in this item ({key})")]
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
    #[error("the backend refused the request: {detail}")]
    Refused { detail: String },
}
