//! The scalars of the cases, and the context that the macros expect.

use roundtable_execution::{Context, Input, InputError, JsonValue, Leaf, Writer};

use crate::schema_types as gql;

pub struct RequestContext;

impl Context for RequestContext {}

impl Leaf<gql::Int> for u32 {
    fn write(&self, out: &mut Writer) {
        out.value(self);
    }
}

impl Leaf<gql::String> for str {
    fn write(&self, out: &mut Writer) {
        out.text(self);
    }
}

impl Leaf<gql::String> for String {
    fn write(&self, out: &mut Writer) {
        out.text(self);
    }
}

impl Input<gql::Int> for u32 {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        let number = value.as_u64().and_then(|number| Self::try_from(number).ok());
        number.ok_or_else(|| InputError::new("expected a number"))
    }
}

impl Input<gql::String> for String {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        value.as_str().map(Into::into).ok_or_else(|| InputError::new("expected a text"))
    }
}
