//! Errors of reading and writing entities, each with the entity, key and field.

use roundtable_table::Key;

use crate::InvalidValue;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of reading or writing an entity.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Table(#[from] roundtable_table::Error),
    /// An attribute of a stored item does not fit its field.
    #[error("{entity} at {key}: {field}: {reason}")]
    InvalidItem { entity: &'static str, key: String, field: &'static str, reason: InvalidValue },
    /// A stored item has another type than its key implies.
    #[error("expected {entity} at {key}, found {found}")]
    UnexpectedType { entity: &'static str, key: String, found: String },
    /// An item that a newer version of this program has written.
    #[error(
        "{entity} at {key} has shape {shape}, and this version knows shapes up to {known}: a newer version \
         has written it; use that version"
    )]
    NewerShape { entity: &'static str, key: String, shape: u64, known: u64 },
    /// A cursor of another query, or one that this crate did not issue.
    #[error("this cursor does not continue `{pattern}`: {reason}")]
    InvalidCursor { pattern: &'static str, reason: &'static str },
    /// A page size outside the limits.
    #[error("a page of `{pattern}` has 1 to {max} items, not {limit}")]
    InvalidLimit { pattern: &'static str, limit: usize, max: usize },
    /// More days than one query reads.
    #[error("`{pattern}` reads {max} days at most: choose a shorter period")]
    TooManyDays { pattern: &'static str, max: usize },
    /// A rekey of a field that cannot change.
    #[error("{entity} at {key}: `{field}` cannot change")]
    ImmutableField { entity: &'static str, key: String, field: &'static str },
}

/// An invalid field, before its item is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidField {
    pub field: &'static str,
    pub reason: InvalidValue,
}

impl InvalidField {
    /// Returns the error for an item of `entity` at `key`.
    pub fn of(self, entity: &'static str, key: &Key) -> Error {
        Error::InvalidItem { entity, key: display_key(key), field: self.field, reason: self.reason }
    }
}

/// Formats a key: `USER#ana / PROFILE#ana`.
pub(crate) fn display_key(key: &Key) -> String {
    let partition = key.partition.as_text().unwrap_or_default();
    match key.sort.as_ref().and_then(roundtable_table::Scalar::as_text) {
        Some(sort) => format!("{partition} / {sort}"),
        None => partition.to_owned(),
    }
}
