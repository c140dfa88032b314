//! What an update says about one field: the three things that a client can mean.

use serde::Serialize;

/// What is to become of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Edit<T> {
    /// It stays as it is: the client did not mention it.
    #[default]
    Keep,
    /// It is cleared: the client said null.
    Clear,
    /// It becomes this.
    Set(T),
}

impl<T> Edit<T> {
    /// The field after the edit.
    pub fn over(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Keep => before,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }

    /// The value it sets, if it sets one.
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
