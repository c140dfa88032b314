//! Fields of update inputs: an absent field keeps its value, and null clears it.

use roundtable_domain::Edit;
use roundtable_execution::Given;
use roundtable_interface::ApiError;

/// Converts a nullable field.
pub(crate) fn edit<T>(input: Given<T>) -> Edit<T> {
    match input {
        Given::Absent => Edit::Keep,
        Given::Null => Edit::Clear,
        Given::Value(value) => Edit::Set(value),
    }
}

/// Converts a field that null resets to its default.
pub(crate) fn edit_or_default<T: Default>(input: Given<T>) -> Option<T> {
    match input {
        Given::Absent => None,
        Given::Null => Some(T::default()),
        Given::Value(value) => Some(value),
    }
}

/// Converts a field that rejects null.
pub(crate) fn edit_non_null<T>(field: &str, input: Given<T>) -> Result<Option<T>, ApiError> {
    match input {
        Given::Absent => Ok(None),
        Given::Null => Err(ApiError::bad_request(format!("{field}: cannot be null"))),
        Given::Value(value) => Ok(Some(value)),
    }
}
