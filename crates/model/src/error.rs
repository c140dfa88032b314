//! What can go wrong between entities and items, each naming entity, key and field.

use roundtable_table::Key;

use crate::Misfit;

/// The result of a model operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be read or written.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The table refused or failed.
    #[error(transparent)]
    Table(#[from] roundtable_table::Error),
    /// An attribute of a stored item is not what its field needs.
    #[error("{entity} at {key}: {field}: {misfit}")]
    BadItem {
        /// The entity the item should be.
        entity: &'static str,
        /// Where it is.
        key: String,
        /// The attribute.
        field: &'static str,
        /// What is wrong with it.
        misfit: Misfit,
    },
    /// A stored item is of another type than its key promises.
    #[error("expected {entity} at {key}, found {found}")]
    OtherType {
        /// The entity it should be.
        entity: &'static str,
        /// Where it is.
        key: String,
        /// What it is.
        found: String,
    },
    /// A cursor that was not made for this question, or not by us.
    #[error("this cursor does not continue `{pattern}`: {reason}")]
    BadCursor {
        /// The question.
        pattern: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A page of a size that is not served.
    #[error("a page of `{pattern}` has 1 to {max} items, not {limit}")]
    BadLimit {
        /// The question.
        pattern: &'static str,
        /// What was asked for.
        limit: usize,
        /// The largest page.
        max: usize,
    },
    /// Days that reach further than one question goes.
    #[error("`{pattern}` walks {max} days at the most")]
    TooManyDays {
        /// The question.
        pattern: &'static str,
        /// The most days.
        max: usize,
    },
    /// A rekey that changes what can never change.
    #[error("{entity} at {key}: `{field}` cannot change")]
    Fixed {
        /// The entity.
        entity: &'static str,
        /// Where it is.
        key: String,
        /// The field.
        field: &'static str,
    },
}

/// What is wrong with one field, before the item it is in is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMisfit {
    /// The attribute.
    pub field: &'static str,
    /// What is wrong with it.
    pub misfit: Misfit,
}

impl FieldMisfit {
    /// The error for an item of `entity` at `key`.
    pub fn of(self, entity: &'static str, key: &Key) -> Error {
        Error::BadItem { entity, key: shown(key), field: self.field, misfit: self.misfit }
    }
}

/// A key as people write it: `USER#ana / PROFILE#ana`.
pub(crate) fn shown(key: &Key) -> String {
    let partition = key.partition.as_text().unwrap_or_default();
    match key.sort.as_ref().and_then(roundtable_table::Scalar::as_text) {
        Some(sort) => format!("{partition} / {sort}"),
        None => partition.to_owned(),
    }
}
