//! AppSync's scalars, and ids and texts that are validated as they are parsed.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use async_graphql::parser::types::Field;
use async_graphql::registry::Registry;
use async_graphql::{
    ContextSelectionSet, ID, InputType, InputValueError, InputValueResult, OutputType, Positioned,
    Scalar, ScalarType, ServerResult, Value,
};
use roundtable_model::{Date, Day, Email, InvalidValue, Time};

use crate::ApiError;

/// An id of type `T`, which clients see as `ID`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ApiId<T>(pub T);

/// A validated text, which clients see as `String`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiText<T>(pub T);

macro_rules! as_text {
    ($name:ident as $plain:ty) => {
        impl<T: FromStr<Err = InvalidValue> + Display + Send + Sync> InputType for $name<T> {
            type RawValueType = Self;

            fn type_name() -> Cow<'static, str> {
                <$plain as InputType>::type_name()
            }

            fn create_type_info(registry: &mut Registry) -> String {
                <$plain as InputType>::create_type_info(registry)
            }

            fn parse(value: Option<Value>) -> InputValueResult<Self> {
                let text: String = match value.unwrap_or_default() {
                    Value::String(text) => text,
                    Value::Number(number) if <Self as InputType>::type_name() == "ID" => {
                        number.to_string()
                    }
                    other => return Err(InputValueError::expected_type(other)),
                };
                text.parse().map(Self).map_err(InputValueError::custom)
            }

            fn to_value(&self) -> Value {
                Value::String(self.0.to_string())
            }

            fn as_raw_value(&self) -> Option<&Self> {
                Some(self)
            }
        }

        impl<T: Display + Send + Sync> OutputType for $name<T> {
            fn type_name() -> Cow<'static, str> {
                <$plain as OutputType>::type_name()
            }

            fn create_type_info(registry: &mut Registry) -> String {
                <$plain as OutputType>::create_type_info(registry)
            }

            async fn resolve(
                &self,
                _: &ContextSelectionSet<'_>,
                _: &Positioned<Field>,
            ) -> ServerResult<Value> {
                Ok(Value::String(self.0.to_string()))
            }
        }
    };
}

as_text!(ApiId as ID);
as_text!(ApiText as String);

macro_rules! scalars {
    ($($(#[$doc:meta])* $rust:ident($inner:ty) = $name:literal, $parse:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct $rust(pub $inner);

        #[Scalar(name = $name)]
        impl ScalarType for $rust {
            fn parse(value: Value) -> InputValueResult<Self> {
                let Value::String(text) = &value else {
                    return Err(InputValueError::expected_type(value));
                };
                let parse: fn(&str) -> Result<$inner, InvalidValue> = $parse;
                parse(text).map(Self).map_err(InputValueError::custom)
            }

            fn to_value(&self) -> Value {
                Value::String(self.0.to_string())
            }
        }
    )*};
}

scalars! {
    DateTime(Time) = "AWSDateTime", Time::parse_lenient;
    /// A calendar date without a time.
    CalendarDate(Date) = "AWSDate", str::parse;
    EmailAddress(Email) = "AWSEmail", str::parse;
    Url(String) = "AWSURL", |text| Ok(text.to_owned());
    /// Any value, as a JSON text.
    Json(serde_json::Value) = "AWSJSON", |text| {
        serde_json::from_str(text).map_err(|error| invalid_json(&error))
    };
}

/// Describes invalid JSON by its position. serde_json's own message is not stable enough for clients.
fn invalid_json(error: &serde_json::Error) -> InvalidValue {
    let problem = if error.is_eof() { "an unexpected end" } else { "a syntax error" };
    let (line, column) = (error.line(), error.column());
    InvalidValue::new("a JSON text", format_args!("{problem} at line {line}, column {column}"))
}

/// Seconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timestamp(pub u64);

#[Scalar(name = "AWSTimestamp")]
impl ScalarType for Timestamp {
    fn parse(value: Value) -> InputValueResult<Self> {
        match &value {
            Value::Number(number) if number.as_u64().is_some() => {
                Ok(Self(number.as_u64().unwrap_or_default()))
            }
            _ => Err(InputValueError::expected_type(value)),
        }
    }

    fn to_value(&self) -> Value {
        Value::from(self.0)
    }
}

impl DateTime {
    pub(crate) fn optional(time: Option<Time>) -> Option<Self> {
        time.map(Self)
    }
}

impl CalendarDate {
    pub(crate) fn day(&self) -> Result<Day, ApiError> {
        self.0
            .to_string()
            .parse()
            .map_err(|error: InvalidValue| ApiError::bad_request(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_json_is_reported_with_its_position() {
        let message = |text: &str| {
            let read = <Json as ScalarType>::parse(Value::from(text));
            read.unwrap_err().into_server_error(async_graphql::Pos::default()).message
        };
        let expected = |found: &str| format!("expected a JSON text, found {found}");
        for (text, found) in [
            ("", "an unexpected end at line 1, column 0"),
            ("{\"a\": [1,", "an unexpected end at line 1, column 9"),
            ("{\n  \"a\": yes }", "a syntax error at line 2, column 8"),
            ("1 2", "a syntax error at line 1, column 3"),
        ] {
            assert!(message(text).ends_with(&expected(found)), "{}", message(text));
        }
        assert_eq!(
            <Json as ScalarType>::parse(Value::from("[1]")).unwrap().0,
            serde_json::json!([1])
        );
    }
}
