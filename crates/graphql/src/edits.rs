//! What an update says about a field: absent keeps it, null clears it.

use async_graphql::MaybeUndefined;
use roundtable_domain::Edit;

use crate::Refused;

/// Of a field that may have no value.
pub(crate) fn edit<T>(given: MaybeUndefined<T>) -> Edit<T> {
    match given {
        MaybeUndefined::Undefined => Edit::Keep,
        MaybeUndefined::Null => Edit::Clear,
        MaybeUndefined::Value(value) => Edit::Set(value),
    }
}

/// Of a field that can be empty: cleared, it is.
pub(crate) fn cleared<T: Default>(given: MaybeUndefined<T>) -> Option<T> {
    match given {
        MaybeUndefined::Undefined => None,
        MaybeUndefined::Null => Some(T::default()),
        MaybeUndefined::Value(value) => Some(value),
    }
}

/// Of a field that always has a value: it cannot be cleared.
pub(crate) fn kept<T>(field: &str, given: MaybeUndefined<T>) -> Result<Option<T>, Refused> {
    match given {
        MaybeUndefined::Undefined => Ok(None),
        MaybeUndefined::Null => Err(Refused::bad(format!("{field}: it cannot be cleared"))),
        MaybeUndefined::Value(value) => Ok(Some(value)),
    }
}
