//! Arguments and input objects.

use crate::JsonValue;
use crate::error::{FieldError, RequestError};
use crate::leaf::{List, Nullable};

/// A value that can be read where the schema says `S`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from the schema's type `{S}`",
    label = "the schema passes `{S}` here"
)]
pub trait Input<S>: Sized {
    fn read(value: &JsonValue) -> Result<Self, InputError>;

    /// Returns the value of an argument or input field that is not given.
    fn absent() -> Result<Self, InputError> {
        Err(InputError::new("expected a value"))
    }
}

/// A value that does not fit: the place in the input, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The names from the argument to the value, dotted: `input.media.0.width`.
    path: String,
    message: String,
}

impl InputError {
    pub fn new(message: impl Into<String>) -> Self {
        Self { path: String::new(), message: message.into() }
    }

    /// Returns the same error of a value that is inside of `name`.
    #[must_use]
    pub fn inside(mut self, name: &str) -> Self {
        self.path =
            if self.path.is_empty() { name.into() } else { format!("{name}.{}", self.path) };
        self
    }
}

impl From<InputError> for FieldError {
    fn from(InputError { path, message }: InputError) -> Self {
        Self { code: "BAD_REQUEST", message: format!("{path}: {message}") }
    }
}

impl From<InputError> for RequestError {
    fn from(error: InputError) -> Self {
        Self::new(FieldError::from(error).message)
    }
}

/// The arguments of one field, by their place in the schema.
#[derive(Debug)]
pub struct Arguments(pub(crate) Vec<Option<JsonValue>>);

impl Arguments {
    /// Reads the argument `name`, which the schema lists at `index`.
    pub fn read<S, T: Input<S>>(&self, index: usize, name: &str) -> Result<T, InputError> {
        let value = self.0.get(index).and_then(Option::as_ref);
        value.map_or_else(T::absent, T::read).map_err(|error| error.inside(name))
    }
}

impl<S, T: Input<S>> Input<Nullable<S>> for Option<T> {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        if value.is_null() { Ok(None) } else { T::read(value).map(Some) }
    }

    fn absent() -> Result<Self, InputError> {
        Ok(None)
    }
}

/// An argument or input field for which absence differs from null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given<T> {
    Absent,
    Null,
    Value(T),
}

impl<S, T: Input<S>> Input<Nullable<S>> for Given<T> {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        if value.is_null() { Ok(Self::Null) } else { T::read(value).map(Self::Value) }
    }

    fn absent() -> Result<Self, InputError> {
        Ok(Self::Absent)
    }
}

impl<S, T: Input<S>> Input<List<S>> for Vec<T> {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        // A single value counts as a list of one.
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        let values = values.iter().enumerate();
        values
            .map(|(index, value)| T::read(value).map_err(|error| error.inside(&index.to_string())))
            .collect()
    }
}

/// A list that is not given is empty.
impl<S, T: Input<S>> Input<Nullable<List<S>>> for Vec<T> {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        let list = <Option<Self> as Input<Nullable<List<S>>>>::read(value)?;
        Ok(list.unwrap_or_default())
    }

    fn absent() -> Result<Self, InputError> {
        Ok(Self::new())
    }
}
