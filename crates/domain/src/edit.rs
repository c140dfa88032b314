//! An edit of one optional field, as clients express it: omitted, null, or a value.

use serde::Serialize;

/// An edit of one field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Edit<T> {
    /// The client omitted the field.
    #[default]
    Keep,
    /// The client sent null.
    Clear,
    Set(T),
}

impl<T> Edit<T> {
    /// Applies the edit to the current value.
    pub fn over(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Keep => before,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }

    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep | Self::Clear => None,
        }
    }
}

impl<T> From<T> for Edit<T> {
    fn from(value: T) -> Self {
        Self::Set(value)
    }
}
