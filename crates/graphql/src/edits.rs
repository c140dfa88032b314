//! Fields of update inputs: an absent field keeps its value, and null clears it.

use async_graphql::MaybeUndefined;
use roundtable_domain::Edit;

use crate::ApiError;

/// Converts a nullable field.
pub(crate) fn edit<T>(input: MaybeUndefined<T>) -> Edit<T> {
    match input {
        MaybeUndefined::Undefined => Edit::Keep,
        MaybeUndefined::Null => Edit::Clear,
        MaybeUndefined::Value(value) => Edit::Set(value),
    }
}

/// Converts a field that null resets to its default.
pub(crate) fn edit_or_default<T: Default>(input: MaybeUndefined<T>) -> Option<T> {
    match input {
        MaybeUndefined::Undefined => None,
        MaybeUndefined::Null => Some(T::default()),
        MaybeUndefined::Value(value) => Some(value),
    }
}

/// Converts a field that rejects null.
pub(crate) fn edit_non_null<T>(
    field: &str,
    input: MaybeUndefined<T>,
) -> Result<Option<T>, ApiError> {
    match input {
        MaybeUndefined::Undefined => Ok(None),
        MaybeUndefined::Null => Err(ApiError::bad_request(format!("{field}: cannot be null"))),
        MaybeUndefined::Value(value) => Ok(Some(value)),
    }
}
