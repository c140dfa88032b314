//! Values as clients write them: AppSync's scalars, and ids and names that are checked on the way in.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use async_graphql::parser::types::Field;
use async_graphql::registry::Registry;
use async_graphql::{
    ContextSelectionSet, ID, InputType, InputValueError, InputValueResult, OutputType, Positioned,
    Scalar, ScalarType, ServerResult, Value,
};
use roundtable_model::{Date, Day, Email, Misfit, Time};

use crate::Refused;

/// Something that is known by an id: `ID` to clients, the id's own type to us.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id<T>(pub T);

/// A text with a rule: `String` to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text<T>(pub T);

macro_rules! as_text {
    ($name:ident as $plain:ty) => {
        impl<T: FromStr<Err = Misfit> + Display + Send + Sync> InputType for $name<T> {
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

as_text!(Id as ID);
as_text!(Text as String);

macro_rules! scalars {
    ($($(#[$doc:meta])* $rust:ident($inner:ty) = $name:literal, $read:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct $rust(pub $inner);

        #[Scalar(name = $name)]
        impl ScalarType for $rust {
            fn parse(value: Value) -> InputValueResult<Self> {
                let Value::String(text) = &value else {
                    return Err(InputValueError::expected_type(value));
                };
                let read: fn(&str) -> Result<$inner, Misfit> = $read;
                read(text).map(Self).map_err(InputValueError::custom)
            }

            fn to_value(&self) -> Value {
                Value::String(self.0.to_string())
            }
        }
    )*};
}

scalars! {
    /// A moment.
    DateTime(Time) = "AWSDateTime", Time::parse_lenient;
    /// A day of somebody's life.
    CalendarDate(Date) = "AWSDate", str::parse;
    /// An e-mail address.
    EmailAddress(Email) = "AWSEmail", str::parse;
    /// An address of the web.
    Url(String) = "AWSURL", |text| Ok(text.to_owned());
    /// Anything, as a text of JSON.
    Json(serde_json::Value) = "AWSJSON", |text| {
        serde_json::from_str(text).map_err(|error| not_json(&error))
    };
}

/// Where a text is no JSON, in our words: the library's may be others tomorrow.
fn not_json(error: &serde_json::Error) -> Misfit {
    let wrong = if error.is_eof() { "one that breaks off" } else { "something else" };
    let (line, column) = (error.line(), error.column());
    Misfit::new("a text of JSON", format_args!("{wrong} at line {line}, column {column}"))
}

/// Seconds since 1970.
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
    /// As a field of something that may not have happened.
    pub(crate) fn maybe(time: Option<Time>) -> Option<Self> {
        time.map(Self)
    }
}

impl CalendarDate {
    /// The day, as lists by day are asked for.
    pub(crate) fn day(&self) -> Result<Day, Refused> {
        self.0.to_string().parse().map_err(|misfit: Misfit| Refused::bad(misfit.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong is told by its place, and not in the words of who reads it.
    #[test]
    fn what_is_no_json_is_told_where_it_is_wrong() {
        let wrong = |text: &str| {
            let read = <Json as ScalarType>::parse(Value::from(text));
            read.unwrap_err().into_server_error(async_graphql::Pos::default()).message
        };
        let expected = |found: &str| format!("expected a text of JSON, found {found}");
        for (text, found) in [
            ("", "one that breaks off at line 1, column 0"),
            ("{\"a\": [1,", "one that breaks off at line 1, column 9"),
            ("{\n  \"a\": yes }", "something else at line 2, column 8"),
            ("1 2", "something else at line 1, column 3"),
        ] {
            assert!(wrong(text).ends_with(&expected(found)), "{}", wrong(text));
        }
        assert_eq!(
            <Json as ScalarType>::parse(Value::from("[1]")).unwrap().0,
            serde_json::json!([1])
        );
    }
}
